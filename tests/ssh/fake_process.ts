import type { ProcessSpec, ProcessStatus, RunningProcess } from "../../lib/system/context.ts";
import { byteStream } from "../system/byte_stream.ts";

/** A program that a test plays: it prints and ends when the test says so. */
export class FakeProcess implements RunningProcess {
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  readonly status: Promise<ProcessStatus>;
  /** What it was given so far, and whether no more will come. */
  received = "";
  inputEnd: "open" | "closed" | "aborted" = "open";
  kills = 0;
  readonly #out: ReadableStreamDefaultController<Uint8Array>;
  readonly #err: ReadableStreamDefaultController<Uint8Array>;
  readonly #end: (status: ProcessStatus) => void;
  readonly spec: ProcessSpec;

  constructor(spec: ProcessSpec = { program: "ssh", args: [] }) {
    this.spec = spec;
    const decoder = new TextDecoder();
    this.stdin = new WritableStream({
      write: (chunk) => void (this.received += decoder.decode(chunk, { stream: true })),
      close: () => void (this.inputEnd = "closed"),
      abort: () => void (this.inputEnd = "aborted"),
    });
    const out = controlled();
    const err = controlled();
    this.#out = out.controller;
    this.#err = err.controller;
    this.stdout = byteStream(out.stream);
    this.stderr = err.stream;
    const { promise, resolve } = Promise.withResolvers<ProcessStatus>();
    this.status = promise;
    this.#end = resolve;
  }

  /** The nonce that its script begins with. */
  get nonce(): string {
    return /^nonce=([0-9a-f]{32})$/m.exec(this.received)?.[1] ?? "";
  }

  print(text: string | Uint8Array): void {
    this.#out.enqueue(typeof text === "string" ? new TextEncoder().encode(text) : text);
  }

  complain(text: string): void {
    this.#err.enqueue(new TextEncoder().encode(text));
  }

  /** Ends it; `keepsOpen` names what something that it started holds open. */
  exit(code: number, { signal = null, keepsOpen = "" }: { signal?: string | null; keepsOpen?: Held } = {}) {
    const ended = [...(keepsOpen === "both" ? [] : [this.#out]), ...(keepsOpen === "" ? [this.#err] : [])];
    for (const controller of ended) {
      try {
        controller.close();
      } catch {
        // Nobody reads any more.
      }
    }
    this.#end({ code, signal });
  }

  /** What stays open when it is killed. */
  keepsOpen: Held = "";

  kill(): void {
    this.kills += 1;
    this.exit(143, { signal: "SIGTERM", keepsOpen: this.keepsOpen });
  }
}

type Held = "" | "stderr" | "both";

function controlled() {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const stream = new ReadableStream<Uint8Array>({ start: (given) => void (controller = given) });
  if (controller === undefined) throw new Error("a stream starts at once");
  return { stream, controller };
}
