import type { RemoteScript, SshDeps } from "../ssh/connection.ts";
import { Connection } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import type { SshDestination, SshSettings } from "../ssh/arguments.ts";
import { readFields } from "./list.ts";

/** What a script about one job says while it runs. */
export type JobEvent =
  /** `key=value` lines of a section. */
  | { readonly kind: "section"; readonly name: string; readonly fields: Readonly<Record<string, string>> }
  /** Bytes of the log that stand at `offset` in it. */
  | { readonly kind: "data"; readonly offset: number; readonly bytes: Uint8Array }
  /** The log became shorter: it was replaced, and reading starts at its head. */
  | { readonly kind: "truncated" }
  | { readonly kind: "done" };

/**
 * The events of one connection. `mark data OFFSET LENGTH` announces exactly `LENGTH` raw bytes; everything else is
 * lines. A connection that breaks in the middle of announced bytes has still delivered what came before.
 */
export class JobStream {
  readonly #connection: Connection;
  readonly #chunks: AsyncGenerator<Uint8Array>;
  #buffer: Uint8Array = new Uint8Array();

  constructor(deps: SshDeps, settings: SshSettings, destination: SshDestination, script: RemoteScript) {
    this.#connection = new Connection(deps, settings, destination, script);
    this.#chunks = this.#connection.body();
  }

  /** Events until `done`, or until the connection ends, which `failure` then explains. */
  async *events(): AsyncGenerator<JobEvent> {
    const marker = `@@${this.#connection.nonce} `;
    let section: { name: string; lines: string[] } | undefined;
    for (let line = await this.#line(); line !== undefined; line = await this.#line()) {
      if (!line.startsWith(marker)) {
        section?.lines.push(line);
        continue;
      }
      const [word, ...rest] = line.slice(marker.length).split(" ");
      if (word === "section") section = { name: rest[0] ?? "", lines: [] };
      else if (word === "end" && section !== undefined) {
        yield { kind: "section", name: section.name, fields: readFields(section.lines.join("\n")) };
        section = undefined;
      } else if (word === "data") {
        yield* this.#data(Number(rest[0]), Number(rest[1]));
      } else if (word === "truncated") yield { kind: "truncated" };
      else if (word === "done") {
        yield { kind: "done" };
        return;
      }
    }
  }

  failure(): Promise<ConnectionFailure> {
    return this.#connection.failure();
  }

  async close(): Promise<void> {
    await this.#connection.close();
  }

  async *#data(offset: number, length: number): AsyncGenerator<JobEvent> {
    if (!Number.isSafeInteger(offset) || !Number.isSafeInteger(length)) return;
    for (let left = length; left > 0;) {
      if (this.#buffer.length === 0 && !await this.#more()) return;
      const bytes = this.#buffer.subarray(0, left);
      this.#buffer = this.#buffer.subarray(bytes.length);
      yield { kind: "data", offset: offset + length - left, bytes };
      left -= bytes.length;
    }
  }

  /** The next whole line without its end; a line of ours is short, so a longer one is cut off as noise. */
  async #line(): Promise<string | undefined> {
    for (let searched = 0;;) {
      const at = this.#buffer.indexOf(10, searched);
      if (at !== -1) {
        const line = new TextDecoder().decode(this.#buffer.subarray(0, at)).replace(/\r$/, "");
        this.#buffer = this.#buffer.subarray(at + 1);
        return line;
      }
      searched = this.#buffer.length;
      if (searched > 1024 * 1024) return undefined;
      if (!await this.#more()) return undefined;
    }
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#chunks.next();
    if (done) return false;
    const joined = new Uint8Array(this.#buffer.length + value.length);
    joined.set(this.#buffer);
    joined.set(value, this.#buffer.length);
    this.#buffer = joined;
    return true;
  }
}
