/** What the fake Hub holds, and how git would name it. */

import { createHash } from "node:crypto";

export interface StoredFile {
  readonly bytes: Uint8Array;
  readonly lfs: boolean;
}

export type Files = ReadonlyMap<string, StoredFile>;

export interface Commit {
  readonly oid: string;
  readonly files: Files;
}

export class FakeRepo {
  private: boolean;
  readonly commits: Commit[] = [];

  constructor(isPrivate: boolean) {
    this.private = isPrivate;
    this.commit(
      new Map([[".gitattributes", { bytes: new TextEncoder().encode("*.bin filter=lfs\n"), lfs: false }]]),
    );
  }

  get head(): Commit {
    return this.commits.at(-1) as Commit;
  }

  at(revision: string): Commit | undefined {
    return revision === "main" || revision === "HEAD"
      ? this.head
      : this.commits.find(({ oid }) => oid === revision);
  }

  commit(files: Files): Commit {
    const oid = createHash("sha1").update(`commit ${this.commits.length} ${crypto.randomUUID()}`).digest(
      "hex",
    );
    this.commits.push({ oid, files });
    return this.head;
  }

  /** Adds or replaces a file at the head, as somebody else's commit would. */
  put(path: string, content: string | Uint8Array, lfs = false): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    this.commit(new Map([...this.head.files, [path, { bytes, lfs }]]));
  }

  /** Bytes of all large files. */
  get storage(): number {
    return this.commits.flatMap(({ files }) => [...files.values()]).reduce(
      (sum, { bytes, lfs }) => sum + (lfs ? bytes.length : 0),
      0,
    );
  }
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

export function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** The pointer that git has in the place of a large file. */
export function pointer({ bytes }: StoredFile): Uint8Array {
  return new TextEncoder().encode(
    `version https://git-lfs.github.com/spec/v1\noid sha256:${sha256(bytes)}\nsize ${bytes.length}\n`,
  );
}

/** Entries of a tree, directories among them, as `GET …/tree/…?recursive=true` lists them. */
export function treeEntries(files: Files, folder: string): Record<string, unknown>[] {
  const prefix = folder === "" ? "" : `${folder}/`;
  const inside = [...files].filter(([path]) => path.startsWith(prefix));
  const folders = new Set<string>();
  for (const [path] of inside) {
    const parts = path.split("/").slice(0, -1);
    parts.forEach((_, depth) => folders.add(parts.slice(0, depth + 1).join("/")));
  }
  return [
    ...[...folders].filter((path) => path.startsWith(prefix)).map((path) => ({
      type: "directory",
      oid: blobId(new TextEncoder().encode(path)),
      size: 0,
      path,
    })),
    ...inside.map(([path, file]) => ({
      type: "file",
      path,
      size: file.bytes.length,
      oid: blobId(file.lfs ? pointer(file) : file.bytes),
      ...(file.lfs
        ? { lfs: { oid: sha256(file.bytes), size: file.bytes.length, pointerSize: pointer(file).length } }
        : {}),
    })),
  ];
}
