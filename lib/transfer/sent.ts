import { Buffer } from "node:buffer";
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
  /** Something has come, whatever it is. */
  heard?(): void;
  plan(plan: SendPlan): void;
  /** The next bytes of the archive; they are good for the length of this call. */
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
  // It takes a while to load, and ssh is logging in just now.
  const { createHash } = await import("node:crypto");
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
  let tail = Buffer.alloc(0);

  for await (const chunk of body) {
    handlers.heard?.();
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
    tail = holdBack(tail, rest, accept);
    // Windows' ssh may never end by itself.
    if (tail.subarray(-2 * doneMark.length).includes(doneMark)) break;
  }

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

/** Passes on all but the last {@linkcode tailBytes} of what was held back and what has come; returns the rest. */
function holdBack(
  held: Buffer<ArrayBuffer>,
  bytes: Uint8Array,
  pass: (bytes: Uint8Array) => void,
): Buffer<ArrayBuffer> {
  if (bytes.length < tailBytes) {
    const all = Buffer.concat([held, bytes]);
    const end = Math.max(0, all.length - tailBytes);
    if (end > 0) pass(all.subarray(0, end));
    return all.subarray(end);
  }
  if (held.length > 0) pass(held);
  if (bytes.length > tailBytes) pass(bytes.subarray(0, -tailBytes));
  return Buffer.from(bytes.subarray(-tailBytes));
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
