import { judgeName, maskName } from "./member_name.ts";
import { MemberNames } from "./member_names.ts";
import { parsePax, type PaxRecords } from "./pax.ts";
import { Refusal, type RefusalRule } from "./refusal.ts";
import { blockBytes, isZero, parseHeader, type TarHeader, untilNul } from "./tar_header.ts";
import { leadsToWhitelisted, matchesWhitelist, type Pattern } from "./whitelist.ts";

/** A regular file of the archive that broke no rule by itself. */
export interface Member {
  /** Relative to the run, `/` between segments; safe on every system. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly executable: boolean;
}

/** Where accepted members go. They are kept apart until the whole archive has been judged. */
export interface MemberSink {
  member(member: Member): void;
  /** The next bytes of the last member, as they were pushed. */
  body(bytes: Uint8Array): void;
}

export interface TarLimits {
  readonly maxMembers: number;
  /** Bytes of all bodies together. */
  readonly maxBytes: number;
}

export interface TarSummary {
  readonly files: number;
  /** Bytes of all bodies together. */
  readonly bytes: number;
}

/** Bytes of one extended header; a name of the longest kind needs four thousand. */
const maxExtensionBytes = 1024 * 1024;
/** Zero bytes that may follow the end: writers fill up a record, of 10 KiB commonly. */
const maxFillBytes = 1024 * 1024;

type State =
  | { readonly at: "header" }
  | { readonly at: "body"; left: number; readonly fill: number }
  | { readonly at: "fill"; left: number }
  | {
    readonly at: "extension";
    readonly header: TarHeader;
    readonly bytes: Uint8Array;
    filled: number;
    fill: number;
  }
  | { readonly at: "end"; left: number };

/**
 * The one reader of a pulled archive: it judges and, through its sink, extracts, so that there is no second reader
 * who could understand the same bytes differently. It takes the archive in pieces of any length and holds one block
 * and one extended header at most. Its caller places nothing before {@linkcode finish} has returned.
 */
export class TarReader {
  readonly #patterns: readonly Pattern[];
  readonly #limits: TarLimits;
  readonly #sink: MemberSink;
  readonly #names = new MemberNames();
  readonly #block = new Uint8Array(blockBytes);
  #blockFilled = 0;
  #state: State = { at: "header" };
  #zeroBlocks = 0;
  /** An extended header that waits for its member. */
  #extension: (PaxRecords & { readonly type: string }) | undefined;
  /** Whether the last entry was a global header: Python's reader fails where no member follows one. */
  #globalWaits = false;
  #length = 0;
  #entries = 0;
  #files = 0;
  #bytes = 0;

  constructor(patterns: readonly Pattern[], limits: TarLimits, sink: MemberSink) {
    this.#patterns = patterns;
    this.#limits = limits;
    this.#sink = sink;
  }

  /** Bytes taken so far. */
  get length(): number {
    return this.#length;
  }

  /**
   * Takes the next bytes of the archive.
   *
   * @throws {Refusal} at the first broken rule; the reader is of no use then
   */
  push(chunk: Uint8Array): void {
    this.#length += chunk.length;
    for (let at = 0; at < chunk.length;) at += this.#take(chunk.subarray(at));
  }

  /**
   * The archive has ended.
   *
   * @throws {Refusal} when it should not have, here
   */
  finish(): TarSummary {
    if (this.#length === 0) throw new Refusal("empty");
    if (this.#length % blockBytes !== 0) throw new Refusal("truncated");
    if (this.#state.at === "header") throw new Refusal("end_missing");
    if (this.#state.at !== "end") throw new Refusal("truncated");
    return { files: this.#files, bytes: this.#bytes };
  }

  /** Takes some of `bytes`, at least one, and returns how many. */
  #take(bytes: Uint8Array): number {
    const state = this.#state;
    switch (state.at) {
      case "header":
        return this.#takeBlock(bytes);
      case "body": {
        const part = bytes.subarray(0, state.left);
        this.#sink.body(part);
        state.left -= part.length;
        if (state.left === 0) this.#skipFill(state.fill);
        return part.length;
      }
      case "extension": {
        const part = bytes.subarray(0, state.bytes.length - state.filled);
        state.bytes.set(part, state.filled);
        state.filled += part.length;
        if (state.filled === state.bytes.length) {
          this.#readExtension(state.header, state.bytes);
          this.#skipFill(state.fill);
        }
        return part.length;
      }
      case "fill":
        return this.#takeZeros(bytes, state, "padding");
      case "end":
        return this.#takeZeros(bytes, state, "trailing_data");
    }
  }

  #takeZeros(bytes: Uint8Array, state: { at: "fill" | "end"; left: number }, rule: RefusalRule): number {
    const part = bytes.subarray(0, state.left);
    if (part.length === 0 || !isZero(part)) throw new Refusal(rule);
    state.left -= part.length;
    if (state.left === 0 && state.at === "fill") this.#state = { at: "header" };
    return part.length;
  }

  #skipFill(length: number): void {
    this.#state = length === 0 ? { at: "header" } : { at: "fill", left: length };
  }

  #takeBlock(bytes: Uint8Array): number {
    const part = bytes.subarray(0, blockBytes - this.#blockFilled);
    this.#block.set(part, this.#blockFilled);
    this.#blockFilled += part.length;
    if (this.#blockFilled === blockBytes) {
      this.#blockFilled = 0;
      if (isZero(this.#block)) this.#readZeroBlock();
      else this.#readHeader();
    }
    return part.length;
  }

  #readZeroBlock(): void {
    if (this.#extension !== undefined || this.#globalWaits) throw new Refusal("extension_without_member");
    this.#zeroBlocks++;
    if (this.#zeroBlocks === 2) this.#state = { at: "end", left: maxFillBytes };
  }

  #readHeader(): void {
    if (this.#zeroBlocks > 0) throw new Refusal("end_missing");
    const header = parseHeader(this.#block);
    switch (header.type) {
      case "0":
      case "\0":
        return this.#readMember(header);
      case "5":
        return this.#readDirectory(header, this.#nameOf(header).path);
      case "x":
      case "g":
      case "L":
        return this.#expectExtension(header);
      case "1":
        throw new Refusal("hard_link");
      // GNU's `K` is the long target of a link.
      case "2":
      case "K":
        throw new Refusal("symbolic_link");
      case "3":
      case "4":
        throw new Refusal("device");
      case "6":
        throw new Refusal("fifo");
      case "S":
        throw new Refusal("sparse");
      default:
        throw new Refusal("unknown_type");
    }
  }

  #readMember(header: TarHeader): void {
    const { path, isDirectoryName } = this.#nameOf(header);
    if (isDirectoryName) {
      // The seventh edition had no type for directories, only this slash.
      if (header.type === "\0" && path !== "") return this.#readDirectory(header, path);
      throw new Refusal("directory", maskName(path));
    }
    if (!matchesWhitelist(this.#patterns, path)) throw new Refusal("not_whitelisted", maskName(path));
    this.#countEntry();
    const rule = this.#names.addFile(path);
    if (rule !== undefined) throw new Refusal(rule, maskName(path));
    // As a BigInt, so that no size is rounded before it is judged.
    if (BigInt(this.#bytes) + header.size > BigInt(this.#limits.maxBytes)) throw new Refusal("too_large");
    const size = Number(header.size);
    this.#files++;
    this.#bytes += size;
    this.#sink.member({ path, size, executable: header.executable });
    if (size > 0) this.#state = { at: "body", left: size, fill: fillOf(size) };
  }

  /** The run itself (`./`) and the parents of files that could come are tolerated; nothing is made of them. */
  #readDirectory(header: TarHeader, path: string): void {
    if (header.size !== 0n) throw new Refusal("size_without_body", maskName(path));
    if (path !== "" && !leadsToWhitelisted(this.#patterns, path)) {
      throw new Refusal("directory", maskName(path));
    }
    this.#countEntry();
    const rule = path === "" ? undefined : this.#names.addDirectory(path);
    if (rule !== undefined) throw new Refusal(rule, maskName(path));
  }

  /** The member's name with its extended header, if one came, taken into account and used up. */
  #nameOf(header: TarHeader): { readonly path: string; readonly isDirectoryName: boolean } {
    const extension = this.#extension;
    this.#extension = undefined;
    this.#globalWaits = false;
    // Readers that know the keyword would find another length than readers that do not.
    if (extension?.size !== undefined && extension.size !== header.size) throw new Refusal("ambiguous_size");
    const judged = judgeName(extension?.path ?? header.name);
    if ("fault" in judged) throw new Refusal(judged.fault, maskName(judged.text));
    return judged;
  }

  #expectExtension(header: TarHeader): void {
    if (this.#extension !== undefined) {
      throw new Refusal(this.#extension.type === header.type ? "extension_repeated" : "extension_order");
    }
    if (header.type === "g") this.#countEntry();
    if (header.size > BigInt(maxExtensionBytes)) throw new Refusal("extension_too_large");
    const size = Number(header.size);
    if (size === 0) return this.#readExtension(header, new Uint8Array());
    this.#state = { at: "extension", header, bytes: new Uint8Array(size), filled: 0, fill: fillOf(size) };
  }

  #readExtension(header: TarHeader, bytes: Uint8Array): void {
    if (header.type === "g") {
      parsePax(bytes, true);
      this.#globalWaits = true;
    } else if (header.type === "x") {
      this.#extension = { type: "x", ...parsePax(bytes, false) };
    } else {
      const path = untilNul(bytes, 0, bytes.length);
      if (path.length === 0) throw new Refusal("empty_name");
      this.#extension = { type: "L", path };
    }
  }

  #countEntry(): void {
    if (++this.#entries > this.#limits.maxMembers) throw new Refusal("too_many_members");
  }
}

/** Bytes from the end of a body of `size` bytes to the next block. */
function fillOf(size: number): number {
  return (blockBytes - size % blockBytes) % blockBytes;
}
