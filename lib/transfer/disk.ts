/**
 * The part of a file system that a pull touches, as a value, so that a full disk, a planted link and a file system
 * that ignores case can be played in a test. All of it is synchronous: placing is one step that nothing else of this
 * program, Ctrl-C included, can come between.
 */
export interface Disk {
  /** What is at `path` itself: a link is a link, wherever it leads. A Windows junction counts as a link. */
  kind(path: string): "file" | "directory" | "link" | "other" | undefined;
  /** Names in a directory. */
  list(path: string): string[];
  /** @throws {Deno.errors.AlreadyExists} also for a link that leads nowhere */
  makeDirectory(path: string, mode: number): void;
  /** A new file for writing. @throws {Deno.errors.AlreadyExists} whatever is there */
  create(path: string, mode: number): DiskFile;
  /** An existing file, only to lock it. */
  open(path: string): DiskFile;
  setMode(path: string, mode: number): void;
  /** Puts a file in place of another, in one step. A link at `to` is replaced, not followed. */
  rename(from: string, to: string): void;
  /** Removes a file or an empty directory. */
  remove(path: string): void;
  removeTree(path: string): void;
}

export interface DiskFile {
  /** Writes all of `bytes`. */
  write(bytes: Uint8Array): void;
  /** Permission bits as the umask left them, or `null` on Windows. */
  mode(): number | null;
  /** Waits for the one lock of this file, which ends with the process however that ends. */
  lock(): Promise<void>;
  /** The same for a file that nobody else can know yet. */
  lockNew(): void;
  close(): void;
}

export const realDisk: Disk = {
  kind(path) {
    try {
      const info = Deno.lstatSync(path);
      return info.isSymlink ? "link" : info.isFile ? "file" : info.isDirectory ? "directory" : "other";
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      throw error;
    }
  },
  list: (path) => Array.from(Deno.readDirSync(path), ({ name }) => name),
  makeDirectory: (path, mode) => Deno.mkdirSync(path, { mode }),
  create: (path, mode) => new RealFile(Deno.openSync(path, { write: true, createNew: true, mode })),
  open: (path) => new RealFile(Deno.openSync(path, { read: true, write: true })),
  setMode(path, mode) {
    if (Deno.build.os !== "windows") Deno.chmodSync(path, mode);
  },
  rename: (from, to) => Deno.renameSync(from, to),
  remove: (path) => Deno.removeSync(path),
  removeTree: (path) => Deno.removeSync(path, { recursive: true }),
};

class RealFile implements DiskFile {
  readonly #file: Deno.FsFile;

  constructor(file: Deno.FsFile) {
    this.#file = file;
  }

  write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length;) at += this.#file.writeSync(bytes.subarray(at));
  }

  mode(): number | null {
    return this.#file.statSync().mode;
  }

  lock(): Promise<void> {
    return this.#file.lock(true);
  }

  lockNew(): void {
    this.#file.lockSync(true);
  }

  close(): void {
    this.#file.close();
  }
}
