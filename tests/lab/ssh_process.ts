/** The parent's end of `ssh_server.ts`. */

import { join } from "node:path";
import type { Order, ProcessSpec, Reply } from "./spec.ts";

/** A running process of ssh servers. */
export class SshProcess implements AsyncDisposable {
  readonly #child: Deno.ChildProcess;
  readonly #orders: WritableStreamDefaultWriter<Uint8Array>;
  readonly #replies: AsyncIterator<Reply>;
  #last: Promise<unknown> = Promise.resolve();

  private constructor(child: Deno.ChildProcess) {
    this.#child = child;
    this.#orders = child.stdin.getWriter();
    this.#replies = replies(child.stdout);
  }

  /** Starts the servers of `spec`, whose file is written to `specFile`; resolves to their ports, by name. */
  static async start(
    spec: ProcessSpec,
    specFile: string,
  ): Promise<[SshProcess, ReadonlyMap<string, number>]> {
    await Deno.writeTextFile(specFile, JSON.stringify(spec));
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", "-A", join(import.meta.dirname ?? ".", "ssh_server.ts"), specFile],
      stdin: "piped",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    const process = new SshProcess(child);
    const ports = new Map<string, number>();
    for (const _ of spec.servers) {
      const { server, port } = await process.#reply();
      ports.set(server, port);
    }
    return [process, ports];
  }

  /** Resolves when the order is done. */
  order(order: Order): Promise<void> {
    // One after the other, since the replies carry no number.
    const done = this.#last.then(async () => {
      await this.#orders.write(new TextEncoder().encode(`${JSON.stringify(order)}\n`));
      await this.#reply();
    });
    this.#last = done.catch(() => {});
    return done;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // The end of its stdin ends it.
    await this.#orders.close().catch(() => {});
    await this.#child.status;
    await this.#replies.return?.();
  }

  async #reply(): Promise<Reply> {
    const { value, done } = await this.#replies.next();
    if (done) throw new Error("Cannot go on: the process of the ssh servers has ended");
    return value;
  }
}

async function* replies(stdout: ReadableStream<Uint8Array>): AsyncGenerator<Reply> {
  let rest = "";
  for await (
    const text of stdout.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
  ) {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) yield JSON.parse(line);
  }
}
