import { join, sep } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { Staging } from "./staging.ts";
import type { Member, MemberSink } from "./tar_reader.ts";

/** Bytes of bodies that are held in memory. More go to files as they come. */
export const memoryBytes = 64 * 1024 * 1024;
/** Bytes of one write. Whole blocks, in their places in the file, are what a file system takes in fastest. */
const blockBytes = 64 * 1024;

export interface SpoolDeps {
  readonly disk: Disk;
  /** The project's `runs` folder. */
  readonly runs: string;
  random(length: number): Uint8Array;
}

/**
 * Keeps the members of an archive that is still being judged: in memory, and beyond {@linkcode memoryBytes} in the
 * staging folder, where nobody else can come, with mode 0600 until all of it is accepted. Each is a file of its own
 * there, so that a checkpoint of many gigabytes is written once and its space is needed once; placing is a rename.
 */
export class Spool implements MemberSink {
  readonly #deps: SpoolDeps;
  readonly #memoryBytes: number;
  /** Members in memory, and their bodies one behind the other. */
  #held: Member[] = [];
  #bodies = new Bytes();
  #toFiles = false;
  #staging: Staging | undefined;
  /** Those that were made, by their path in the archive. */
  readonly #directories = new Map<string, string>();
  readonly #files: { readonly path: string; readonly mode: number }[] = [];
  #open: DiskFile | undefined;
  /** What the open file is still to be given, up to `#filled`. */
  readonly #block = new Uint8Array(blockBytes);
  #filled = 0;

  constructor(deps: SpoolDeps, limit = memoryBytes) {
    this.#deps = deps;
    this.#memoryBytes = limit;
  }

  /** Says how many bytes will come: what does not fit into memory need not be held there first. */
  expect(bytes: number): void {
    this.#toFiles ||= bytes > this.#memoryBytes;
  }

  member(member: Member): void {
    if (this.#toFiles) this.#startFile(member, 0o600);
    else this.#held.push(member);
  }

  body(bytes: Uint8Array): void {
    if (this.#toFiles) return this.#write(bytes);
    this.#bodies.add(bytes);
    if (this.#bodies.length <= this.#memoryBytes) return;
    this.#toFiles = true;
    this.#fileHeld(() => 0o600);
  }

  /**
   * Completes the tree of the accepted archive in the staging folder: every file whole, under its own name, with its
   * final mode. Only for an archive that was accepted.
   *
   * @returns the folder that is to become the run's
   */
  stage(): string {
    this.#completeFile();
    const { tree, umask } = this.#openStaging();
    for (const { path, mode } of this.#files) this.#deps.disk.setMode(path, mode & ~umask);
    this.#fileHeld(finalMode);
    this.#completeFile();
    this.#makeDirectory("");
    return tree;
  }

  /** Removes everything that was not placed. */
  remove(): void {
    this.#open?.close();
    this.#open = undefined;
    this.#staging?.remove();
    this.#staging = undefined;
    this.#held = [];
  }

  /** Moves what is in memory into files; the last one stays open. */
  #fileHeld(mode: (member: Member) => number): void {
    let at = 0;
    for (const member of this.#held) {
      this.#startFile(member, mode(member));
      const end = Math.min(at + member.size, this.#bodies.length);
      for (const bytes of this.#bodies.between(at, end)) this.#open?.write(bytes);
      at = end;
    }
    this.#held = [];
    this.#bodies = new Bytes();
  }

  #startFile(member: Member, mode: number): void {
    this.#completeFile();
    const name = member.path.lastIndexOf("/") + 1;
    const path = this.#makeDirectory(member.path.slice(0, name)) + sep + member.path.slice(name);
    this.#open = this.#deps.disk.create(path, mode);
    this.#files.push({ path, mode: finalMode(member) });
  }

  /** @param path in the archive, with a slash behind it; empty for the tree itself */
  #makeDirectory(path: string): string {
    const made = this.#directories.get(path);
    if (made !== undefined) return made;
    if (path !== "") this.#makeDirectory(path.slice(0, path.lastIndexOf("/", path.length - 2) + 1));
    const directory = join(this.#openStaging().tree, path.slice(0, -1));
    this.#deps.disk.makeDirectory(directory, 0o777);
    this.#directories.set(path, directory);
    return directory;
  }

  #openStaging(): Staging {
    return this.#staging ??= new Staging(this.#deps.disk, this.#deps.runs, this.#deps.random);
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + blockBytes - this.#filled);
      this.#block.set(part, this.#filled);
      this.#filled += part.length;
      at += part.length;
      if (this.#filled === blockBytes) this.#flush();
    }
  }

  #flush(): void {
    if (this.#filled > 0) this.#open?.write(this.#block.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #completeFile(): void {
    this.#flush();
    this.#open?.close();
    this.#open = undefined;
  }
}

function finalMode(member: Member): number {
  return member.executable ? 0o755 : 0o644;
}

/** Bytes that were added, kept in blocks: thousands of small bodies would else be as many allocations. */
class Bytes {
  readonly #blocks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) {
      const filled = this.#length % blockBytes;
      if (filled === 0) this.#blocks.push(new Uint8Array(blockBytes));
      const part = bytes.subarray(at, at + blockBytes - filled);
      this.#blocks.at(-1)?.set(part, filled);
      this.#length += part.length;
      at += part.length;
    }
  }

  /** The bytes from one place up to another, in pieces. */
  *between(start: number, end: number): Generator<Uint8Array> {
    for (let at = start; at < end;) {
      const from = at % blockBytes;
      const piece = this.#blocks[Math.floor(at / blockBytes)]?.subarray(from, from + end - at);
      if (piece === undefined) throw new RangeError("there are not so many bytes");
      yield piece;
      at += piece.length;
    }
  }
}
