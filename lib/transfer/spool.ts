import { join, sep } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { Staging } from "./staging.ts";
import type { Member, MemberSink } from "./tar_reader.ts";

/** Bytes of one write. Whole blocks, in their places in the file, are what a file system takes in fastest. */
const blockBytes = 64 * 1024;

export interface SpoolDeps {
  readonly disk: Disk;
  /** The project's `runs` folder. */
  readonly runs: string;
  random(length: number): Uint8Array;
}

/**
 * Keeps the members of an archive that is still being judged: in memory where they may stay there, else in the staging
 * folder, where nobody else can come, with mode 0600 until all of it is accepted. Each is a file of its own there, so
 * that a checkpoint of many gigabytes is written once and its space is needed once; placing it is a rename.
 */
export class Spool implements MemberSink {
  readonly #deps: SpoolDeps;
  #held: { readonly member: Member; readonly parts: Uint8Array[] }[] = [];
  #toFiles = false;
  #staging: Staging | undefined;
  /** Directories that were made, by their path in the archive. */
  readonly #directories = new Map<string, string>();
  /** Files that get their final mode when the archive is accepted. */
  readonly #filed: { readonly path: string; readonly mode: number }[] = [];
  #open: DiskFile | undefined;
  /** What the open file is still to be given, up to `#filled`. */
  readonly #block = new Uint8Array(blockBytes);
  #filled = 0;

  constructor(deps: SpoolDeps) {
    this.#deps = deps;
  }

  /** The bodies to come do not stay as they are, and are too much for the memory: they go to files at once. */
  useFiles(): void {
    this.#toFiles = true;
  }

  member(member: Member): void {
    if (!this.#toFiles) this.#held.push({ member, parts: [] });
    else this.#filed.push({ path: this.#startFile(member, 0o600), mode: finalMode(member) });
  }

  body(bytes: Uint8Array): void {
    if (this.#toFiles) return this.#write(bytes);
    const last = this.#held.at(-1);
    if (last === undefined) throw new Error("a body came before its member");
    last.parts.push(bytes);
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
    for (const { path, mode } of this.#filed) this.#deps.disk.setMode(path, mode & ~umask);
    for (const { member, parts } of this.#held.splice(0)) {
      this.#startFile(member, finalMode(member));
      for (const part of parts) this.#open?.write(part);
    }
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

  /** @returns where it is */
  #startFile(member: Member, mode: number): string {
    this.#completeFile();
    const name = member.path.lastIndexOf("/") + 1;
    const path = this.#makeDirectory(member.path.slice(0, name)) + sep + member.path.slice(name);
    this.#open = this.#deps.disk.create(path, mode);
    return path;
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
    if (this.#open === undefined) throw new Error("a body came before its member");
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
