/** A file system in memory that can fail at any moment, and may ignore case. */

import type { Disk, DiskFile } from "../../lib/transfer/disk.ts";
import { foldName } from "../../lib/transfer/member_name.ts";

type Node =
  | { kind: "file"; name: string; bytes: Uint8Array[]; mode: number }
  | { kind: "directory"; name: string }
  | { kind: "link"; name: string; target: string };

export type Operation = Exclude<keyof Disk, "kind" | "list" | "open"> | "write";

export interface MemoryDiskOptions {
  readonly ignoreCase?: boolean;
  /** Bytes of all files together; beyond them writing fails as on a full disk. */
  readonly capacity?: number;
  /** Called before each changing operation; may throw, and may change the disk meanwhile. */
  readonly before?: (operation: Operation, path: string, disk: MemoryDisk) => void;
}

/** The system's error for a full disk, as Deno throws it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: no member's name may be taken from /runs/r/Yamada.png`), { code });
}

/** Paths begin with `/`. A path through a link leads nowhere in particular: it is an error to write there. */
export class MemoryDisk implements Disk {
  readonly #nodes = new Map<string, Node>();
  readonly #options: MemoryDiskOptions;

  constructor(options: MemoryDiskOptions = {}) {
    this.#options = options;
  }

  /** Puts something there without asking; parents are made. */
  plant(path: string, what: { file: string; mode?: number } | { link: string } | "directory"): void {
    const parent = parentOf(path);
    if (parent !== "" && this.kind(parent) === undefined) this.plant(parent, "directory");
    const name = nameOf(path);
    if (what === "directory") this.#nodes.set(this.#key(path), { kind: "directory", name });
    else if ("link" in what) this.#nodes.set(this.#key(path), { kind: "link", name, target: what.link });
    else {
      const bytes = [new TextEncoder().encode(what.file)];
      this.#nodes.set(this.#key(path), { kind: "file", name, bytes, mode: what.mode ?? 0o644 });
    }
  }

  /** Everything there is: path → content, `->` with a link's target, or `/` for a directory. */
  tree(): Record<string, string> {
    return Object.fromEntries(
      Array.from(this.#nodes.keys()).sort().map((key) => {
        const node = this.#at(key);
        const shown = node.kind === "file"
          ? new TextDecoder("latin1").decode(joined(node.bytes))
          : node.kind === "link"
          ? `-> ${node.target}`
          : "/";
        return [this.#spelled(key), shown];
      }),
    );
  }

  content(path: string): Uint8Array {
    const node = this.#at(this.#key(path));
    if (node.kind !== "file") throw new Error(`Cannot read ${path}: it is a ${node.kind}`);
    return joined(node.bytes);
  }

  mode(path: string): number {
    const node = this.#at(this.#key(path));
    return node.kind === "file" ? node.mode : 0;
  }

  kind(path: string): "file" | "directory" | "link" | undefined {
    return this.#nodes.get(this.#key(path))?.kind;
  }

  list(path: string): string[] {
    return this.#below(path).filter((key) => parentOf(key) === this.#key(path)).map((key) =>
      this.#at(key).name
    );
  }

  makeDirectory(path: string, _mode: number): void {
    this.#begin("makeDirectory", path);
    this.#mustBeFree(path);
    this.plant(path, "directory");
  }

  create(path: string, mode: number): DiskFile {
    this.#begin("create", path);
    this.#mustBeFree(path);
    // The umask is 022.
    this.plant(path, { file: "", mode: mode & ~0o022 });
    const node = this.#at(this.#key(path));
    return {
      write: (bytes) => {
        this.#begin("write", path);
        if (node.kind !== "file") throw new Error("a file became something else");
        const used = Array.from(
          this.#nodes.values(),
          (each) => each.kind === "file" ? joined(each.bytes).length : 0,
        );
        const total = used.reduce((sum, length) => sum + length, bytes.length);
        if (total > (this.#options.capacity ?? Infinity)) throw systemError("ENOSPC");
        node.bytes.push(bytes.slice());
      },
      mode: () => node.kind === "file" ? node.mode : null,
      lock: () => Promise.resolve(),
      lockNew() {},
      close() {},
    };
  }

  open(path: string): DiskFile {
    const never = () => {
      throw new Error("nothing is written to a file that was opened");
    };
    this.#at(this.#key(path));
    return { write: never, mode: () => null, lock: () => Promise.resolve(), lockNew: never, close() {} };
  }

  setMode(path: string, mode: number): void {
    this.#begin("setMode", path);
    const node = this.#at(this.#key(path));
    if (node.kind === "file") node.mode = mode;
  }

  rename(from: string, to: string): void {
    this.#begin("rename", to);
    const source = this.#at(this.#key(from));
    const there = this.kind(to);
    this.#mustHaveParent(to);
    if (source.kind === "directory") {
      if (there !== undefined && (there !== "directory" || this.list(to).length > 0)) {
        throw systemError("ENOTDIR");
      }
    } else if (there === "directory") {
      throw systemError("EISDIR");
    }
    const moved = [this.#key(from), ...this.#below(from)];
    for (const key of moved) {
      const node = this.#at(key);
      this.#nodes.delete(key);
      const target = this.#key(to) + key.slice(this.#key(from).length);
      this.#nodes.set(target, { ...node, name: key === this.#key(from) ? nameOf(to) : node.name });
    }
  }

  remove(path: string): void {
    this.#begin("remove", path);
    if (this.list(path).length > 0) throw systemError("ENOTEMPTY");
    this.#at(this.#key(path));
    this.#nodes.delete(this.#key(path));
  }

  removeTree(path: string): void {
    this.#begin("removeTree", path);
    for (const key of [this.#key(path), ...this.#below(path)]) this.#nodes.delete(key);
  }

  #begin(operation: Operation, path: string): void {
    this.#options.before?.(operation, slashed(path), this);
  }

  #key(path: string): string {
    const plain = slashed(path);
    return this.#options.ignoreCase ? foldName(plain) : plain;
  }

  #at(key: string): Node {
    const node = this.#nodes.get(key);
    if (node === undefined) throw new Deno.errors.NotFound();
    return node;
  }

  #below(path: string): string[] {
    return Array.from(this.#nodes.keys()).filter((key) => key.startsWith(`${this.#key(path)}/`));
  }

  #mustBeFree(path: string): void {
    if (this.kind(path) !== undefined) throw new Deno.errors.AlreadyExists();
    this.#mustHaveParent(path);
  }

  /** Whatever the code under test checked: on this disk nothing is ever written through a link. */
  #mustHaveParent(path: string): void {
    for (let parent = parentOf(path); parent !== ""; parent = parentOf(parent)) {
      if (this.kind(parent) !== "directory") {
        throw new Error(`written through a ${this.kind(parent)} at ${parent}`);
      }
    }
  }

  #spelled(key: string): string {
    const parent = parentOf(key);
    return `${parent === "" ? "" : this.#spelled(parent)}/${this.#at(key).name}`;
  }
}

/** The code under test joins paths as its system does. */
function slashed(path: string): string {
  return path.replaceAll("\\", "/");
}

function parentOf(path: string): string {
  return slashed(path).slice(0, slashed(path).lastIndexOf("/"));
}

function nameOf(path: string): string {
  return slashed(path).slice(slashed(path).lastIndexOf("/") + 1);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
