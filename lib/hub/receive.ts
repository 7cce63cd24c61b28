import { createHash } from "node:crypto";
import { join } from "node:path";
import type { Clock } from "../system/context.ts";
import { compareFiles, type Differences, isSame } from "./compare.ts";
import type { CheckpointDisk } from "./disk.ts";
import type { CheckpointFile } from "./types.ts";

/** Opens a file of a checkpoint from a byte on. The Hub is one source; the Pod itself, over ssh, is another. */
export type FileSource = (file: CheckpointFile, offset: number, signal: AbortSignal) => Promise<
  /** `offset` is where the body really begins: 0 when the source cannot begin in the middle. */
  | { readonly kind: "stream"; readonly offset: number; readonly body: ReadableStream<Uint8Array> }
  | { readonly kind: "other_content" }
  | { readonly kind: "fault"; readonly detail: string }
>;

export interface ReceiveWorld {
  readonly clock: Clock;
  readonly disk: CheckpointDisk;
  readonly signal: AbortSignal;
  /** Bytes that are here, and in all. */
  readonly onProgress?: (done: number, total: number) => void;
}

export interface ReceivePlan {
  readonly files: readonly CheckpointFile[];
  /** An existing folder; everything happens inside it. */
  readonly localDir: string;
  /** Name of the finished folder inside it: the step. */
  readonly name: string;
  /** Name of the folder where it grows: `.incoming_…`; the same name goes on where an earlier try ended. */
  readonly incoming: string;
}

export type ReceiveOutcome =
  /** The checkpoint stands in `folder`, verified: placed now, or found there and only compared. */
  | { readonly kind: "placed" | "already_there"; readonly folder: string }
  /** A folder of that name was there and differs; it was not touched. The verified checkpoint stands in `folder`. */
  | { readonly kind: "beside"; readonly folder: string; readonly differences: Differences }
  | {
    readonly kind: "failed";
    readonly why: ReceiveFault;
    /** The file or folder that it is about. */
    readonly path: string;
    readonly detail: string;
  };

export type ReceiveFault =
  /** The local folder is not there (a disk that is not plugged in?) or is no folder. */
  | "no_folder"
  /** The source gave nothing more, again and again. What has come stays for the next try. */
  | "unreachable"
  /** The source has another content under that name. */
  | "other_content"
  /** Twice the content that came had another hash. */
  | "corrupt"
  /** Writing or reading here failed: no room, no right. */
  | "disk"
  /** Something lies in the incoming folder that is not of the checkpoint. */
  | "unexpected"
  | "interrupted";

/** Tries in a row without a new byte before a file is given up. */
const maxBarrenTries = 8;
/** Seconds without a byte after which a body counts as dead. */
const stallSeconds = 90;

class Fault extends Error {
  constructor(readonly why: ReceiveFault, readonly path: string, readonly detail = "") {
    super(why);
  }
}

/**
 * Brings a checkpoint home. It grows in a folder of its own, is verified there from disk by names, sizes and SHA-256,
 * and appears under its name by one rename. What stood under that name before is compared and never touched.
 */
export async function receiveCheckpoint(
  world: ReceiveWorld,
  source: FileSource,
  plan: ReceivePlan,
): Promise<ReceiveOutcome> {
  const final = join(plan.localDir, plan.name);
  const incoming = join(plan.localDir, plan.incoming);
  try {
    if (await world.disk.kind(plan.localDir) !== "directory") throw new Fault("no_folder", plan.localDir);
    const occupied = await world.disk.kind(final) === undefined
      ? null
      : await compareFolder(world, plan.files, final);
    if (occupied !== null && isSame(occupied)) return { kind: "already_there", folder: final };
    await receiveInto(world, source, plan, incoming);
    if (occupied !== null) return { kind: "beside", folder: incoming, differences: occupied };
    if (await world.disk.kind(final) !== undefined) {
      // It came while we were busy.
      const differences = await compareFolder(world, plan.files, final);
      return isSame(differences)
        ? { kind: "already_there", folder: final }
        : { kind: "beside", folder: incoming, differences };
    }
    await world.disk.rename(incoming, final);
    return { kind: "placed", folder: final };
  } catch (error) {
    if (error instanceof Fault) {
      return { kind: "failed", why: error.why, path: error.path, detail: error.detail };
    }
    if (world.signal.aborted) return { kind: "failed", why: "interrupted", path: incoming, detail: "" };
    return {
      kind: "failed",
      why: "disk",
      path: incoming,
      detail: error instanceof Error ? error.message : String(error),
    };
  }
}

/** How a folder on this machine differs from the checkpoint; every file is read. */
export async function compareFolder(
  { disk, signal }: Pick<ReceiveWorld, "disk" | "signal">,
  files: readonly CheckpointFile[],
  folder: string,
): Promise<Differences> {
  if (await disk.kind(folder) !== "directory") {
    return { missing: files.map(({ path }) => path).sort(), extra: ["."], different: [] };
  }
  const there = [];
  const sizes = new Map(files.map(({ path, size }) => [path, size]));
  for (const { path, size } of await walkOwn(disk, folder)) {
    // A file of another size differs without being read.
    const sha256 = sizes.get(path) === size ? await hashOf(disk, join(folder, path), signal) : "";
    there.push({ path, sha256 });
  }
  return compareFiles(files, there, (file, { sha256 }) => file.sha256 === sha256);
}

// macOS leaves `._name` beside files on a disk that cannot hold its attributes (exFAT), and `.DS_Store` in folders that
// were looked at. Neither is of a checkpoint.
async function walkOwn(disk: CheckpointDisk, folder: string): Promise<{ path: string; size: number }[]> {
  return (await disk.walk(folder)).filter(({ path }) => !/(^|\/)(\._[^/]*|\.DS_Store)$/.test(path));
}

async function receiveInto(
  world: ReceiveWorld,
  source: FileSource,
  { files }: ReceivePlan,
  incoming: string,
): Promise<void> {
  const { disk } = world;
  if (await disk.kind(incoming) === undefined) await disk.makeDirectory(incoming);
  if (await disk.kind(incoming) !== "directory") throw new Fault("unexpected", incoming);
  const total = files.reduce((sum, { size }) => sum + size, 0);
  let before = 0;
  for (const file of files) {
    const progress = (done: number) => world.onProgress?.(before + done, total);
    await receiveFile(world, source, file, incoming, progress);
    before += file.size;
  }
  const there = await walkOwn(disk, incoming);
  const wanted = new Map(files.map(({ path, size }) => [path, size]));
  for (const { path, size } of there) {
    if (wanted.get(path) !== size) throw new Fault("unexpected", join(incoming, path));
  }
  if (there.length !== files.length) throw new Fault("unexpected", incoming);
}

async function receiveFile(
  world: ReceiveWorld,
  source: FileSource,
  file: CheckpointFile,
  incoming: string,
  progress: (done: number) => void,
): Promise<void> {
  const { disk, signal } = world;
  const path = join(incoming, file.path);
  await disk.makeParents(incoming, file.path);
  for (let verifications = 0; verifications < 2; verifications++) {
    await fillFile(world, source, file, path, progress);
    if (await hashOf(disk, path, signal) === file.sha256) return;
    await disk.removeFile(path);
  }
  throw new Fault("corrupt", file.path);
}

async function fillFile(
  world: ReceiveWorld,
  source: FileSource,
  file: CheckpointFile,
  path: string,
  progress: (done: number) => void,
): Promise<void> {
  let have = await world.disk.size(path);
  if (have === null || have > file.size) {
    await world.disk.truncate(path, 0);
    have = 0;
  }
  let detail = "";
  for (let barren = 0; have < file.size; barren++) {
    if (barren > 0) await world.clock.sleep(1000 * Math.min(60, 2 ** (barren - 1)), world.signal);
    world.signal.throwIfAborted();
    if (barren === maxBarrenTries) throw new Fault("unreachable", file.path, detail);
    const opened = await source(file, have, world.signal);
    world.signal.throwIfAborted();
    if (opened.kind === "other_content") throw new Fault("other_content", file.path);
    if (opened.kind === "fault") {
      detail = opened.detail;
      continue;
    }
    if (opened.offset !== have && opened.offset !== 0) {
      await opened.body.cancel().catch(() => {});
      detail = `offset ${opened.offset}`;
      continue;
    }
    const reached = await append(world, opened.body, path, opened.offset, file.size, progress);
    if (reached > have) barren = -1;
    have = Math.min(reached, file.size);
  }
}

/** Writes a body behind `offset`, and returns how long the file is then. A body that breaks leaves what came before. */
async function append(
  world: ReceiveWorld,
  body: ReadableStream<Uint8Array>,
  path: string,
  offset: number,
  size: number,
  progress: (done: number) => void,
): Promise<number> {
  const reader = body.getReader();
  const file = await world.disk.openAt(path, offset);
  const over = new AbortController();
  let at = offset;
  const watch = cancelWhenStalled(world, reader, over.signal, () => at);
  try {
    while (at < size) {
      const { value } = await reader.read().catch(() => ({ value: undefined }));
      if (value === undefined) break;
      // More than announced is for the hash to judge, not for the disk.
      const wanted = value.subarray(0, size - at);
      await file.write(wanted);
      at += wanted.length;
      progress(at);
    }
    await file.sync();
    return at;
  } finally {
    over.abort();
    await watch;
    await reader.cancel().catch(() => {});
    file.close();
  }
}

/** Cancelling ends the pending read as if the body had ended. */
async function cancelWhenStalled(
  { clock, signal }: ReceiveWorld,
  reader: ReadableStreamDefaultReader<Uint8Array>,
  over: AbortSignal,
  reached: () => number,
): Promise<void> {
  const either = AbortSignal.any([over, signal]);
  while (!over.aborted) {
    const before = reached();
    await clock.sleep(stallSeconds * 1000, either);
    if (over.aborted) return;
    if (signal.aborted || reached() === before) return void await reader.cancel().catch(() => {});
  }
}

async function hashOf(disk: CheckpointDisk, path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of disk.read(path)) {
    signal.throwIfAborted();
    hash.update(chunk);
  }
  return hash.digest("hex");
}
