import type { SshDestination, SshSettings } from "./arguments.ts";
import { proxyCommand, sshArguments, sshProgram } from "./arguments.ts";
import type { Context, RunningProcess } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { randomToken } from "../system/token.ts";
import { classifyFailure, type ConnectionFailure } from "./failure.ts";
import { findBegin, framingScript, parseTranscript, type Transcript } from "./framing.ts";
import { shellAssignments } from "./quote.ts";

/** What a connection needs of the world; the whole of it will do. */
export type SshDeps = Pick<Context, "clock" | "env" | "interrupted" | "os" | "random" | "start">;

/** What is to be run on a server. */
export interface RemoteScript {
  /** Constant POSIX shell text. */
  readonly text: string;
  /** Its parameters, assigned above it as quoted words. */
  readonly values: Readonly<Record<string, string | number>>;
  /** Sent on standard input behind the script, as a tar is; the script then reads it from its standard input. */
  readonly payload?: ReadableStream<Uint8Array>;
  /** Seconds that the script itself may take after it has begun; `null` for one that runs as long as a job does. */
  readonly seconds: number | null;
}

export type CallResult<T> =
  | {
    readonly ok: true;
    readonly value: T;
    /** Bytes that the login printed before the script began. */
    readonly noise: number;
  }
  | { readonly ok: false; readonly failure: ConnectionFailure; readonly partial?: T };

/** Largest answer taken into memory, in bytes. */
const maxAnswer = 64 * 1024 * 1024;
/** Bytes that are read at once: what a pipe holds. */
const readBytes = 64 * 1024;
/** Seconds beyond the limits of ssh's own `ConnectTimeout` before we end it ourselves. */
const graceSeconds = 5;

/** One connection to a server, which runs one script. */
export class Connection {
  #process: RunningProcess;
  readonly #nonce: string;
  readonly #text: Uint8Array;
  readonly #settings: SshSettings;
  readonly #deps: SshDeps;
  readonly #script: RemoteScript;
  readonly #over = new AbortController();
  #stderr: Words;
  readonly #payload: ReadableStreamDefaultReader<Uint8Array> | undefined;
  #sent: Promise<void> = Promise.resolve();
  #payloadFault: unknown;
  #reader: ReadableStreamBYOBReader;
  /** How ssh is started again if it cannot start itself for the jump host; one try. */
  #instead: (() => RunningProcess) | undefined;
  /** Whether the payload is for the ssh that runs, or to be kept for another. */
  #mayPayload = Promise.withResolvers<boolean>();
  #ended: "deadline" | "interrupted" | undefined;
  #begun = false;
  #noise = "";
  #noiseBytes = 0;

  /**
   * Starts ssh; nothing is awaited.
   *
   * @throws {UserError} when there is no ssh program, or the sandbox does not allow it
   */
  constructor(deps: SshDeps, settings: SshSettings, destination: SshDestination, script: RemoteScript) {
    this.#deps = deps;
    this.#settings = settings;
    this.#script = script;
    this.#nonce = randomToken(deps);
    const text = new TextEncoder().encode(
      shellAssignments({ nonce: this.#nonce, ...script.values }) + framingScript + script.text,
    );
    // Constant words without a user's text: the same to bash, zsh, fish and csh as login shells. With a payload the
    // script's own bytes are counted off one by one, because a shell or `head` may read ahead into the payload.
    const command = script.payload === undefined
      ? `exec sh -c 'eval "$(cat)"'`
      : `exec sh -c 'eval "$(dd bs=1 count=${text.length} 2>/dev/null)"'`;
    this.#text = text;
    this.#payload = script.payload?.getReader();
    const proxy = deps.os === "windows"
      ? proxyCommand(settings, sshProgram(deps.env("TIAS_REMOTE_SSH"), deps.os))
      : undefined;
    if (proxy !== undefined) {
      const args = sshArguments(settings, destination, command, deps.os, { proxyCommand: proxy });
      this.#instead = () => startSsh(deps, args);
    }
    this.#process = startSsh(deps, sshArguments(settings, destination, command, deps.os));
    this.#reader = this.#process.stdout.getReader({ mode: "byob" });
    this.#stderr = new Words(this.#process.stderr);
    this.#send();
    // With `-J` the hop has no time limit of its own, so the whole way is limited here.
    this.#limit(
      settings.connect_timeout_sec * (settings.jump_host === null ? 1 : 2) + graceSeconds,
      () => !this.#begun,
    );
    deps.interrupted.addEventListener("abort", this.#interrupt, { once: true });
    if (deps.interrupted.aborted) this.#interrupt();
  }

  get nonce(): string {
    return this.#nonce;
  }

  /** Bytes that came before the `begin` marker, once it has come: no program of ours printed them. */
  get noiseBytes(): number {
    return this.#noiseBytes;
  }

  /**
   * Bytes that follow the `begin` marker, as they come. Ends at the end of the connection, whatever its reason.
   *
   * Each piece is good until the next is asked for. They come into one buffer, because gigabytes through ever new
   * memory take half as long again as through memory that the processor has at hand.
   */
  async *body(): AsyncGenerator<Uint8Array> {
    let buffer = new ArrayBuffer(readBytes);
    let head = new Uint8Array();
    for (;;) {
      const room = new Uint8Array(buffer);
      const { done, value }: ReadableStreamReadResult<typeof room> = await this.#reader.read(room);
      buffer = value?.buffer ?? new ArrayBuffer(readBytes);
      if (done && await this.#startInstead()) continue;
      if (done) return;
      if (this.#begun) {
        yield value;
        continue;
      }
      const bytes = concatenate([head, value]);
      const start = findBegin(latin1(bytes), this.#nonce);
      if (start === -1) {
        this.#noise = latin1(bytes.subarray(-4096));
        if (bytes.length > maxAnswer) return;
        head = bytes;
        continue;
      }
      this.#begun = true;
      this.#mayPayload.resolve(true);
      // The marker's line is "@@", the nonce, " begin" and its end, behind a line feed of its own.
      this.#noiseBytes = Math.max(0, latin1(bytes).indexOf(`@@${this.#nonce} begin`) - 1);
      if (this.#script.seconds !== null) this.#limit(this.#script.seconds + graceSeconds, () => true);
      if (start < bytes.length) yield bytes.subarray(start);
    }
  }

  /**
   * Ends ssh if it still runs, and tells why the connection gave no whole answer.
   *
   * @throws whatever the payload failed with, when the reason lies there
   */
  async failure(): Promise<ConnectionFailure> {
    const { code } = await this.close();
    return classifyFailure({
      code,
      stderr: this.#stderr.text,
      noise: this.#noise,
      begun: this.#begun,
      ended: this.#ended,
    });
  }

  /** Ends ssh after two seconds of grace (Windows' ssh may stay when its work is done) and frees everything. */
  async close(): Promise<{ code: number | null }> {
    this.#deps.interrupted.removeEventListener("abort", this.#interrupt);
    this.#over.abort();
    this.#mayPayload.resolve(true);
    // A payload that still waits for something to send has nobody left to send it to; this closes standard input.
    await this.#payload?.cancel().catch(() => {});
    const patience = new AbortController();
    const status = this.#process.status;
    this.#deps.clock.sleep(2000, patience.signal).then(() => patience.signal.aborted || this.#process.kill());
    await this.#reader.cancel().catch(() => {});
    const { code, signal } = await status;
    patience.abort();
    await this.#stderr.finish(this.#deps.clock);
    await this.#sent;
    if (this.#payloadFault !== undefined) throw this.#payloadFault;
    return { code: signal === null ? code : null };
  }

  /** Sends the script, and the payload behind it when it cannot be needed a second time. */
  #send(): void {
    if (this.#instead === undefined) this.#mayPayload.resolve(true);
    const { promise } = this.#mayPayload;
    this.#sent = sendInput(this.#process.stdin, this.#text, this.#payload, promise).catch((fault) => {
      // What was to be sent could not be read here. The server must not take the beginning for the whole.
      this.#payloadFault = fault;
      this.#process.kill();
    });
  }

  /** Whether ssh, which has ended, was started again by another way through the jump host. */
  async #startInstead(): Promise<boolean> {
    const start = this.#instead;
    if (start === undefined || this.#begun || this.#ended !== undefined) return false;
    const { code } = await this.#process.status;
    await this.#stderr.finish(this.#deps.clock);
    const { kind } = classifyFailure({ code, stderr: this.#stderr.text, noise: this.#noise, begun: false });
    if (kind !== "proxy_jump_broken" || this.#over.signal.aborted || this.#ended !== undefined) return false;
    this.#instead = undefined;
    this.#mayPayload.resolve(false);
    await this.#sent;
    this.#mayPayload = Promise.withResolvers();
    this.#process = start();
    this.#reader = this.#process.stdout.getReader({ mode: "byob" });
    this.#stderr = new Words(this.#process.stderr);
    this.#send();
    return true;
  }

  readonly #interrupt = () => this.#end("interrupted");

  #end(reason: "deadline" | "interrupted"): void {
    this.#ended ??= reason;
    this.#process.kill();
    // Something that ssh started may hold the output open for as long as it likes.
    this.#process.status.then(() => this.#deps.clock.sleep(500, this.#over.signal))
      .then(() => this.#reader.cancel()).catch(() => {});
  }

  #limit(seconds: number, stillMatters: () => boolean): void {
    this.#deps.clock.sleep(seconds * 1000, this.#over.signal).then(() => {
      if (!this.#over.signal.aborted && stillMatters()) this.#end("deadline");
    });
  }
}

/** Runs a script on a server and returns its sections. The whole call is one ssh connection. */
export async function runScript(
  deps: SshDeps,
  settings: SshSettings,
  destination: SshDestination,
  script: RemoteScript,
): Promise<CallResult<Transcript>> {
  const connection = new Connection(deps, settings, destination, script);
  const chunks: Uint8Array[] = [];
  let size = 0;
  let tail = "";
  const last = new RegExp(`@@${connection.nonce} done\\r?\\n`);
  for await (const chunk of connection.body()) {
    chunks.push(chunk.slice());
    size += chunk.length;
    tail = (tail + latin1(chunk)).slice(-128);
    // Windows' ssh may never end by itself; the last marker is the end of the answer.
    if (last.test(tail) || size > maxAnswer) break;
  }
  const transcript = parseTranscript(new TextDecoder().decode(concatenate(chunks)), connection.nonce);
  if (!transcript.complete) return { ok: false, failure: await connection.failure(), partial: transcript };
  await connection.close();
  return { ok: true, value: transcript, noise: connection.noiseBytes };
}

/**
 * Starts this machine's ssh.
 *
 * @throws {UserError} when there is no ssh program, or the sandbox does not allow it
 */
export function startSsh(deps: Pick<SshDeps, "env" | "os" | "start">, args: string[]): RunningProcess {
  const program = sshProgram(deps.env("TIAS_REMOTE_SSH"), deps.os);
  try {
    // Neither ssh nor the second ssh that `-J` starts may ask a person for anything.
    return deps.start({ program, args, env: { SSH_ASKPASS_REQUIRE: "never" } });
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound) {
      throw new UserError(message("ssh.missing", { program }), { hint: message("ssh.missing.hint"), cause });
    }
    if (cause instanceof Deno.errors.NotCapable || cause instanceof Deno.errors.PermissionDenied) {
      throw new UserError(message("ssh.not_permitted", { program }), {
        exit: ExitCode.Usage,
        hint: message("ssh.not_permitted.hint"),
        cause,
      });
    }
    throw cause;
  }
}

/**
 * Sends script and payload, then closes. A server that stops listening is no error here: the answer tells.
 *
 * @throws whatever reading the payload throws
 */
async function sendInput(
  stdin: WritableStream<Uint8Array>,
  script: Uint8Array,
  payload: ReadableStreamDefaultReader<Uint8Array> | undefined,
  mayPayload: Promise<boolean>,
): Promise<void> {
  const writer = stdin.getWriter();
  const send = (chunk: Uint8Array) => writer.write(chunk).then(() => true, () => false);
  try {
    let listening = await send(script);
    if (payload !== undefined && !await mayPayload) return await writer.abort().catch(() => {});
    while (payload !== undefined && listening) {
      const { done, value } = await payload.read();
      if (done) break;
      listening = await send(value);
    }
    if (!listening) await payload?.cancel();
    await writer.close().catch(() => {});
  } catch (fault) {
    await writer.abort(fault).catch(() => {});
    throw fault;
  }
}

/** The last of what ssh says. */
class Words {
  text = "";
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #spoken: Promise<void>;

  constructor(stream: ReadableStream<Uint8Array>) {
    this.#reader = stream.getReader();
    this.#spoken = this.#listen();
  }

  /**
   * Waits for the end of what an ssh that has ended still had to say. The second ssh that `-J` starts may live on,
   * blocked in a connection of its own, with standard error in its hands: it is not waited for.
   */
  async finish(clock: Context["clock"]): Promise<void> {
    const patience = new AbortController();
    await Promise.race([this.#spoken, clock.sleep(500, patience.signal)]);
    patience.abort();
    await this.#reader.cancel().catch(() => {});
    await this.#spoken;
  }

  async #listen(): Promise<void> {
    const decoder = new TextDecoder();
    for (;;) {
      const { done, value } = await this.#reader.read();
      this.text = (this.text + decoder.decode(value, { stream: !done })).slice(-65_536);
      if (done) return;
    }
  }
}

function concatenate(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(chunks.reduce((total, { length }) => total + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

// One byte, one character, so that offsets in the text are offsets in the bytes.
function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
