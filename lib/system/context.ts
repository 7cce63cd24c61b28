/** The world as a value: everything a command may touch is one of these members, so that tests can replace it. */

/** A sink of bytes or text, such as standard output. `isTerminal` decides colour, progress and sanitising. */
export interface Output {
  readonly isTerminal: boolean;
  /** Width in columns of the terminal; 80 where there is none. */
  readonly columns: number;
  /** Whether its reader has left (`| head`): work that only goes there may end. */
  readonly isClosed?: boolean;
  /**
   * Writes all of `data`. A closed pipe makes it a no-op for the rest of the program.
   *
   * @throws {UserError} when standard output cannot take it: a full disk
   */
  write(data: string | Uint8Array): Promise<void>;
}

/** What a person types. */
export interface Input {
  readonly isTerminal: boolean;
  /** The next line without its end; `undefined` at the end of input, or when `signal` aborts before it is there. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
}

/** Time. `sleep` takes milliseconds and ends early, without an error, when `signal` aborts. */
export interface Clock {
  now(): Date;
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** How a program is to be started: never through a shell. */
export interface ProcessSpec {
  readonly program: string;
  readonly args: readonly string[];
  /** Added to the inherited environment. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface ProcessStatus {
  readonly code: number;
  readonly signal: string | null;
}

/** A running program. Standard input is always a pipe, because ssh on Windows hangs on a null device. */
export interface RunningProcess {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly status: Promise<ProcessStatus>;
  /** Ends the program and the programs it started (ssh starts a second ssh for a jump host). */
  kill(): void;
}

/** The environment variables that the program reads; nothing else is asked for. */
export type EnvironmentName =
  | "TIAS_REMOTE_JUMP"
  | "TIAS_REMOTE_SSH"
  | "TIAS_REMOTE_ALLOW_SELF"
  | "TIAS_REMOTE_LANG"
  | "RUNPOD_API_KEY"
  | "RUNPOD_API_KEY_FILE"
  | "HF_TOKEN"
  | "HF_TOKEN_PATH"
  | "HF_ENDPOINT"
  /** For a path that begins with `~/`. */
  | "HOME"
  | "USERPROFILE";

export interface Context {
  readonly out: Output;
  readonly err: Output;
  readonly input: Input;
  readonly clock: Clock;
  /** The operating system of this machine, as `Deno.build.os` spells it. */
  readonly os: string;
  /** `undefined` when unset or not permitted. */
  env(name: EnvironmentName): string | undefined;
  cwd(): string;
  hostname(): string;
  /** `length` random bytes, from a cryptographic source. */
  random(length: number): Uint8Array;
  /** @throws {Deno.errors.NotFound} when there is no such program. */
  start(spec: ProcessSpec): RunningProcess;
  /** Speaks HTTP; only to the hosts that the sandbox allows. */
  readonly fetch: typeof fetch;
  /** Aborts on Ctrl-C, SIGTERM and SIGHUP. */
  readonly interrupted: AbortSignal;
  /**
   * Calls `listener` at each Ctrl-C, SIGTERM or SIGHUP from now on, none of which then ends the program. The result
   * gives that up again.
   */
  onSignal(listener: () => void): () => void;
}
