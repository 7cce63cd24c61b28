/** The world as a value: everything a command may touch is one of these members, so that tests can replace it. */

/** A sink of bytes or text, such as standard output. `isTerminal` decides colour, progress and sanitising. */
export interface Output {
  /** False for a pipe or a file. */
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
  /** False for a pipe or a file: nobody is there to be asked. */
  readonly isTerminal: boolean;
  /** The next line without its end; `undefined` at the end of input, or when `signal` aborts before it is there. */
  readLine(signal: AbortSignal): Promise<string | undefined>;
}

/** Time. `sleep` takes milliseconds and ends early, without an error, when `signal` aborts. */
export interface Clock {
  /** This machine's wall clock, which may be stepped. */
  now(): Date;
  /** Never rejects. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** How a program is to be started: never through a shell. */
export interface ProcessSpec {
  /** A path, or a name to be found in `PATH`. */
  readonly program: string;
  /** Without the program itself; each arrives as one word. */
  readonly args: readonly string[];
  /** Added to the inherited environment. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a program ended. */
export interface ProcessStatus {
  /** 128 + n when signal n ended it. */
  readonly code: number;
  /** Such as `SIGTERM`; null when it ended by itself. */
  readonly signal: string | null;
}

/** A running program. Standard input is always a pipe, because ssh on Windows hangs on a null device. */
export interface RunningProcess {
  /** To be closed by whoever starts the program. */
  readonly stdin: WritableStream<Uint8Array>;
  /** A stream of bytes, to be read or cancelled by whoever starts the program. */
  readonly stdout: ReadableStream<Uint8Array>;
  /** To be read or cancelled by whoever starts the program. */
  readonly stderr: ReadableStream<Uint8Array>;
  /** Settles when the program has ended, whether its output has been read or not. */
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

/** All that a command may touch, apart from files. */
export interface Context {
  /** Standard output: data only. */
  readonly out: Output;
  /** Standard error: everything that is not data. */
  readonly err: Output;
  /** Standard input. */
  readonly input: Input;
  /** All waiting goes by it, so that a test need not wait. */
  readonly clock: Clock;
  /** The operating system of this machine, as `Deno.build.os` spells it. */
  readonly os: string;
  /** `undefined` when unset or not permitted. */
  env(name: EnvironmentName): string | undefined;
  /** Absolute. */
  cwd(): string;
  /** As this machine calls itself, with a domain or without one. */
  hostname(): string;
  /** `length` random bytes, from a cryptographic source. */
  random(length: number): Uint8Array;
  /**
   * Starts a program and does not wait for it.
   *
   * @throws {Deno.errors.NotFound} when there is no such program
   * @throws {Deno.errors.NotCapable} when the sandbox does not allow it
   */
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
