import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { parseTranscript, sectionOf } from "../ssh/framing.ts";
import { type SendProblem, sendProblems } from "./send_script.ts";

/** Reading what `send_script.ts` prints: text, an archive of unknown length, text. */

/** What the server is going to send. */
export interface SendPlan {
  readonly files: number;
  /** Bytes of the files together. */
  readonly bytes: number;
  /** Number of entries that stay behind: everything under the run that is no directory and is not sent. */
  readonly left: number;
  /** How many of those are on the whitelist and have names that not every system can hold. */
  readonly unportable: number;
  /** Whether the whole run could be looked through. */
  readonly whole: boolean;
}

/** What the server says of the archive that it has sent. */
export interface SendTrailer {
  readonly members: number;
  /** Bytes of the archive. */
  readonly length: number;
  /** In hexadecimal. */
  readonly sha256: string;
  /** Exit status of `tar`. */
  readonly tar: number;
}

/** Everything that came. What is missing never came, or was not understood. */
export interface Sent {
  readonly problem: SendProblem | undefined;
  readonly plan: SendPlan | undefined;
  readonly trailer: SendTrailer | undefined;
  /** Whether the script came to its end. */
  readonly complete: boolean;
  /** SHA-256 of the archive as it arrived, in hexadecimal. */
  readonly sha256: string;
}

export interface SentHandlers {
  plan(plan: SendPlan): void;
  /** The next bytes of the archive. */
  archive(bytes: Uint8Array): void;
}

/** Bytes of text in front of the archive that are looked through. */
const maxHeadBytes = 64 * 1024;
/** Bytes that the text behind the archive may have. So many are always held back, as it may be among them. */
const tailBytes = 4096;

/**
 * Takes the stream behind the `begin` mark apart. The archive's end is not looked for inside it, where anything may
 * stand, but from the end of the stream, where the trailer is.
 */
export async function readSent(
  body: AsyncIterable<Uint8Array>,
  nonce: string,
  handlers: SentHandlers,
): Promise<Sent> {
  const archiveMark = Buffer.from(`\n@@${nonce} archive\n`);
  const doneMark = Buffer.from(`\n@@${nonce} done\n`);
  const trailerMark = Buffer.from(`\n@@${nonce} section trailer\n`);
  const hash = createHash("sha256");
  const accept = (bytes: Uint8Array) => {
    hash.update(bytes);
    handlers.archive(bytes);
  };
  let head = Buffer.alloc(0);
  let inArchive = false;
  const held = new HeldChunks(tailBytes, accept);

  for await (const chunk of body) {
    let rest: Uint8Array = chunk;
    if (!inArchive) {
      head = Buffer.concat([head, chunk]);
      const mark = head.indexOf(archiveMark);
      if (mark === -1) {
        if (head.includes(doneMark) || head.length > maxHeadBytes) break;
        continue;
      }
      rest = head.subarray(mark + archiveMark.length);
      head = head.subarray(0, mark);
      inArchive = true;
      const plan = readPlan(head.toString(), nonce);
      if (plan !== undefined) handlers.plan(plan);
    }
    held.push(rest);
    // Windows' ssh may never end by itself.
    if (held.last(2 * doneMark.length).includes(doneMark)) break;
  }

  const tail = held.rest();
  const trailerAt = tail.lastIndexOf(trailerMark);
  const end = trailerAt === -1 ? tail.length : trailerAt;
  if (end > 0) accept(tail.subarray(0, end));
  const last = inArchive ? tail.subarray(end).toString() : head.toString();
  return {
    problem: readProblem(head.toString(), nonce),
    plan: readPlan(head.toString(), nonce),
    trailer: readTrailer(last, nonce),
    complete: parseTranscript(last, nonce).complete,
    sha256: hash.digest("hex"),
  };
}

/** Passes chunks on, whole and uncopied, when at least so many bytes have come after them. */
class HeldChunks {
  readonly #least: number;
  readonly #pass: (chunk: Uint8Array) => void;
  readonly #chunks: Uint8Array[] = [];
  #length = 0;

  constructor(least: number, pass: (chunk: Uint8Array) => void) {
    this.#least = least;
    this.#pass = pass;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length === 0) return;
    this.#chunks.push(chunk);
    this.#length += chunk.length;
    for (let [first] = this.#chunks; first !== undefined; [first] = this.#chunks) {
      if (this.#length - first.length < this.#least) return;
      this.#chunks.shift();
      this.#length -= first.length;
      this.#pass(first);
    }
  }

  /** The last bytes so far, `count` of them where there are so many. */
  last(count: number): Buffer {
    const parts: Uint8Array[] = [];
    let missing = count;
    for (let index = this.#chunks.length - 1; index >= 0 && missing > 0; index--) {
      const part = this.#chunks[index]?.subarray(-missing) ?? new Uint8Array();
      parts.unshift(part);
      missing -= part.length;
    }
    return Buffer.concat(parts);
  }

  /** Everything that has not been passed on. */
  rest(): Buffer {
    return Buffer.concat(this.#chunks);
  }
}

function readPlan(text: string, nonce: string): SendPlan | undefined {
  const values = readValues(text, nonce, "plan");
  const files = wholeNumber(values.get("files"));
  const left = wholeNumber(values.get("left"));
  if (files === undefined || left === undefined) return undefined;
  return {
    files,
    left,
    bytes: wholeNumber(values.get("bytes")) ?? 0,
    unportable: wholeNumber(values.get("unportable")) ?? 0,
    whole: values.get("unread") === "0",
  };
}

function readTrailer(text: string, nonce: string): SendTrailer | undefined {
  const values = readValues(text, nonce, "trailer");
  const members = wholeNumber(values.get("members"));
  const length = wholeNumber(values.get("length"));
  const tar = wholeNumber(values.get("tar"));
  // `sha256sum` puts a dash behind it, `openssl dgst -r` a star and `stdin`.
  const sha256 = /^([0-9a-f]{64})\b/.exec(values.get("sha256") ?? "")?.[1];
  if (members === undefined || length === undefined || tar === undefined || sha256 === undefined) {
    return undefined;
  }
  return { members, length, tar, sha256 };
}

function readProblem(text: string, nonce: string): SendProblem | undefined {
  const said = sectionOf(parseTranscript(text, nonce), "problem")?.text.trim();
  return sendProblems.find((problem) => problem === said);
}

/** The lines `NAME VALUE` of a section that ended well. */
function readValues(text: string, nonce: string, name: string): Map<string, string> {
  const section = sectionOf(parseTranscript(text, nonce), name);
  if (section?.status !== 0) return new Map();
  const lines = section.text.split("\n").map((line) => /^(\w+)\s+(.*)$/.exec(line));
  return new Map(lines.flatMap((line) => line?.[1] === undefined ? [] : [[line[1], line[2] ?? ""]]));
}

function wholeNumber(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,15}$/.test(text.trim()) ? Number(text) : undefined;
}
