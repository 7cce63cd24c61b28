import { dirname, join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";
import { Staging } from "./staging.ts";
import type { Member, MemberSink } from "./tar_reader.ts";

/** Bytes of bodies that are held in memory before they go to files. */
export const memoryBytes = 64 * 1024 * 1024;

export interface SpoolDeps {
  readonly disk: Disk;
  /** The project's `runs` folder. */
  readonly runs: string;
  random(length: number): Uint8Array;
}

/** Where a member's body is while the archive is being judged. */
type Held =
  | { readonly member: Member; readonly parts: Uint8Array[] }
  | { readonly member: Member; readonly path: string };

/**
 * Keeps the bodies of an archive that is still being judged: in memory, and beyond {@linkcode memoryBytes} each in a
 * file of its own, with mode 0600 and a number for a name. Kept as separate files rather than as one, a checkpoint of
 * many gigabytes is written once and its space is needed once; placing it is a rename.
 */
export class Spool implements MemberSink {
  readonly #deps: SpoolDeps;
  readonly #memoryBytes: number;
  readonly #held: Held[] = [];
  #bytesInMemory = 0;
  #spilled = false;
  #staging: Staging | undefined;
  #open: DiskFile | undefined;

  constructor(deps: SpoolDeps, limit = memoryBytes) {
    this.#deps = deps;
    this.#memoryBytes = limit;
  }

  /** Says how many bytes will come: what does not fit into memory need not be held there first. */
  expect(bytes: number): void {
    this.#spilled ||= bytes > this.#memoryBytes;
  }

  member(member: Member): void {
    if (this.#spilled) this.#startFile(member);
    else this.#held.push({ member, parts: [] });
  }

  body(bytes: Uint8Array): void {
    if (this.#open !== undefined) return this.#open.write(bytes);
    const last = this.#held.at(-1);
    if (last === undefined || !("parts" in last)) throw new Error("a body came before its member");
    // A small part would keep the whole chunk in memory; a large one is not worth a copy.
    const isMost = bytes.length * 2 > bytes.buffer.byteLength;
    last.parts.push(isMost ? bytes : bytes.slice());
    this.#bytesInMemory += bytes.length;
    if (this.#bytesInMemory > this.#memoryBytes) this.#spill();
  }

  /**
   * Makes the tree of the accepted archive inside the staging folder, where nobody else can come: every file whole,
   * under its own name, with its final mode. Only for an archive that was accepted.
   *
   * @returns the folder that is to become the run's
   */
  stage(): string {
    this.#closeFile();
    const { disk } = this.#deps;
    const staging = this.#openStaging();
    const made = new Set<string>();
    const makeDirectory = (path: string) => {
      if (made.has(path)) return;
      if (path !== staging.tree) makeDirectory(dirname(path));
      disk.makeDirectory(path, 0o777);
      made.add(path);
    };
    makeDirectory(staging.tree);
    for (const held of this.#held.splice(0)) {
      const mode = held.member.executable ? 0o755 : 0o644;
      const target = join(staging.tree, held.member.path);
      makeDirectory(dirname(target));
      if ("path" in held) {
        disk.setMode(held.path, mode & ~staging.umask);
        disk.rename(held.path, target);
      } else {
        writeFile(disk.create(target, mode), held.parts);
      }
    }
    return staging.tree;
  }

  /** Removes everything that was not placed. */
  remove(): void {
    this.#closeFile();
    this.#staging?.remove();
    this.#staging = undefined;
    this.#held.length = 0;
  }

  #spill(): void {
    this.#spilled = true;
    for (const held of this.#held.splice(0)) {
      this.#startFile(held.member);
      if ("parts" in held) { for (const part of held.parts) this.#open?.write(part); }
    }
  }

  #startFile(member: Member): void {
    this.#closeFile();
    const path = this.#openStaging().numbered(this.#held.length);
    this.#held.push({ member, path });
    this.#open = this.#deps.disk.create(path, 0o600);
  }

  #openStaging(): Staging {
    return this.#staging ??= new Staging(this.#deps.disk, this.#deps.runs, this.#deps.random);
  }

  #closeFile(): void {
    this.#open?.close();
    this.#open = undefined;
  }
}

function writeFile(file: DiskFile, parts: readonly Uint8Array[]): void {
  try {
    for (const part of parts) file.write(part);
  } finally {
    file.close();
  }
}
