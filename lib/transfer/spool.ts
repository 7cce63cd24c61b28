import type { Disk, DiskFile } from "./disk.ts";
import { Staging } from "./staging.ts";
import type { Member, MemberSink } from "./tar_reader.ts";

/** Bytes of bodies that are held in memory before they go to files. */
export const memoryBytes = 64 * 1024 * 1024;

/** A file that is complete, under a number in the staging folder. */
export interface StagedFile {
  readonly member: Member;
  readonly path: string;
  /** Whether it still has the mode of an unjudged file, 0600. */
  readonly isPrivate: boolean;
}

export interface SpoolDeps {
  readonly disk: Disk;
  /** The project's `runs` folder. */
  readonly runs: string;
  random(length: number): Uint8Array;
}

/**
 * Keeps the bodies of an archive that is still being judged: in memory, and beyond {@linkcode memoryBytes} each in a
 * file of its own, with mode 0600 and a number for a name. Kept as separate files rather than as one, a checkpoint of
 * many gigabytes is written once and its space is needed once; placing it is a rename.
 */
export class Spool implements MemberSink {
  readonly #deps: SpoolDeps;
  readonly #memoryBytes: number;
  readonly #inMemory: { readonly member: Member; readonly parts: Uint8Array[] }[] = [];
  readonly #staged: StagedFile[] = [];
  #held = 0;
  #staging: Staging | undefined;
  #open: DiskFile | undefined;

  constructor(deps: SpoolDeps, limit = memoryBytes) {
    this.#deps = deps;
    this.#memoryBytes = limit;
  }

  member(member: Member): void {
    if (this.#staging === undefined) {
      this.#inMemory.push({ member, parts: [] });
    } else {
      this.#closeFile();
      this.#open = this.#create(this.#staging, member, 0o600);
    }
  }

  body(bytes: Uint8Array): void {
    if (this.#open !== undefined) return this.#open.write(bytes);
    // A copy, because the rest of a chunk would stay in memory with a part of it.
    this.#inMemory.at(-1)?.parts.push(bytes.slice());
    this.#held += bytes.length;
    if (this.#held > this.#memoryBytes) this.#spill();
  }

  /** Writes what is still in memory. Only for an archive that was accepted. */
  stage(): { readonly files: readonly StagedFile[]; readonly umask: number } {
    const staging = this.#staging ??= this.#openStaging();
    for (const { member, parts } of this.#inMemory.splice(0)) {
      const file = this.#create(staging, member, member.executable ? 0o755 : 0o644);
      try {
        for (const part of parts) file.write(part);
      } finally {
        file.close();
      }
    }
    this.#closeFile();
    return { files: this.#staged, umask: staging.umask };
  }

  /** Removes every file that was not placed. */
  remove(): void {
    this.#closeFile();
    this.#staging?.remove();
    this.#staging = undefined;
    this.#inMemory.length = 0;
  }

  #spill(): void {
    const staging = this.#staging = this.#openStaging();
    for (const { member, parts } of this.#inMemory.splice(0)) {
      this.#closeFile();
      this.#open = this.#create(staging, member, 0o600);
      for (const part of parts) this.#open.write(part);
    }
  }

  #openStaging(): Staging {
    return new Staging(this.#deps.disk, this.#deps.runs, this.#deps.random);
  }

  #create(staging: Staging, member: Member, mode: number): DiskFile {
    const { path, file } = staging.create(mode);
    this.#staged.push({ member, path, isPrivate: mode === 0o600 });
    return file;
  }

  #closeFile(): void {
    this.#open?.close();
    this.#open = undefined;
  }
}
