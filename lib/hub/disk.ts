import { join } from "node:path";

/** The part of a file system that a checkpoint needs, as a value, so that a full or lying disk can be played. */
export interface CheckpointDisk {
  /** What is at `path` itself: a link is "other". */
  kind(path: string): Promise<"file" | "directory" | "other" | undefined>;
  /** Everything below a folder that is no folder itself; `path` relative to it, with `/`. */
  walk(folder: string): Promise<{ readonly path: string; readonly size: number }[]>;
  makeDirectory(path: string): Promise<void>;
  /** The folders between `root` and the file `path` inside it. @throws when a link or a file is in the way */
  makeParents(root: string, path: string): Promise<void>;
  /** Length of a file, `null` when there is none. @throws when it is something else */
  size(path: string): Promise<number | null>;
  /** Makes the file or shortens it. */
  truncate(path: string, size: number): Promise<void>;
  openAt(path: string, offset: number): Promise<CheckpointDiskFile>;
  read(path: string): AsyncIterable<Uint8Array>;
  removeFile(path: string): Promise<void>;
  rename(from: string, to: string): Promise<void>;
}

export interface CheckpointDiskFile {
  write(bytes: Uint8Array): Promise<void>;
  /** Returns once the bytes are on the device. */
  sync(): Promise<void>;
  close(): void;
}

export const realCheckpointDisk: CheckpointDisk = {
  async kind(path) {
    try {
      const info = await Deno.lstat(path);
      return info.isFile ? "file" : info.isDirectory ? "directory" : "other";
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  },
  async walk(folder) {
    const found: { path: string; size: number }[] = [];
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = join(folder, name);
      if (isDirectory) {
        for (const inner of await this.walk(path)) found.push({ ...inner, path: `${name}/${inner.path}` });
      } else {
        const { isFile, size } = await Deno.lstat(path);
        // A link has no content of its own.
        found.push({ path: name, size: isFile ? size : -1 });
      }
    }
    return found;
  },
  makeDirectory: (path) => Deno.mkdir(path),
  async makeParents(root, path) {
    let at = root;
    for (const name of path.split("/").slice(0, -1)) {
      at = join(at, name);
      const kind = await this.kind(at);
      if (kind === undefined) await Deno.mkdir(at);
      else if (kind !== "directory") {
        throw new Deno.errors.NotADirectory(`Cannot make a folder: '${at}' is in the way`);
      }
    }
  },
  async size(path) {
    const kind = await this.kind(path);
    if (kind === undefined) return null;
    if (kind !== "file") throw new Deno.errors.AlreadyExists(`Cannot write a file: '${path}' is in the way`);
    return (await Deno.lstat(path)).size;
  },
  async truncate(path, size) {
    const file = await Deno.open(path, { write: true, create: true });
    try {
      await file.truncate(size);
    } finally {
      file.close();
    }
  },
  async openAt(path, offset) {
    const file = await Deno.open(path, { write: true, create: true });
    await file.truncate(offset);
    await file.seek(offset, Deno.SeekMode.Start);
    return {
      async write(bytes) {
        for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
      },
      sync: () => file.sync(),
      close: () => file.close(),
    };
  },
  async *read(path) {
    const file = await Deno.open(path, { read: true });
    yield* file.readable;
  },
  removeFile: (path) => Deno.remove(path),
  rename: (from, to) => Deno.rename(from, to),
};
