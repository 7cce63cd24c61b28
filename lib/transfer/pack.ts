import { createTarPacker } from "modern-tar";
import { message, UserError } from "../system/errors.ts";
import type { PushEntry } from "./selection.ts";

/** A project on its way: the tar, and the name of its last member, which proves on the server that all of it came. */
export interface PushArchive {
  readonly stream: ReadableStream<Uint8Array>;
  readonly seal: string;
  /** Bytes of file contents. */
  readonly bytes: number;
}

/**
 * Packs the entries as a tar stream, read file by file while it is sent. Modes are 0755 or 0644, owners are left to
 * the server, and nothing else of this machine travels.
 *
 * The stream fails with a `UserError` when a file cannot be read or changes its size on the way.
 *
 * @param token unguessable, for the name of the seal
 */
export function packProject(entries: readonly PushEntry[], token: string, now: Date): PushArchive {
  const seal = `.tias-remote-seal-${token}`;
  const { readable, controller } = createTarPacker();
  const fill = async () => {
    for (const entry of entries) {
      try {
        await packEntry(controller, entry);
      } catch (cause) {
        throw cause instanceof UserError ? cause : changed(entry, cause);
      }
    }
    await controller.add({ name: seal, size: 0, type: "file", mode: 0o600, mtime: now }).close();
    controller.finalize();
  };
  fill().catch((fault) => controller.error(fault));
  return { stream: readable, seal, bytes: entries.reduce((sum, { size }) => sum + size, 0) };
}

async function packEntry(
  controller: ReturnType<typeof createTarPacker>["controller"],
  entry: PushEntry,
): Promise<void> {
  if (entry.kind === "link") {
    await controller.add({
      name: entry.path,
      type: "symlink",
      linkname: entry.target ?? "",
      size: 0,
      mode: 0o777,
    })
      .close();
    return;
  }
  if (entry.kind === "directory") {
    await controller.add({ name: `${entry.path}/`, type: "directory", size: 0, mode: 0o755 }).close();
    return;
  }
  const file = await Deno.open(entry.source);
  const { mtime, size } = await file.stat();
  if (size !== entry.size) {
    file.close();
    throw changed(entry);
  }
  const body = controller.add({
    name: entry.path,
    type: "file",
    size: entry.size,
    mode: entry.executable ? 0o755 : 0o644,
    ...(mtime === null ? {} : { mtime }),
  });
  await file.readable.pipeThrough(unchanged(entry)).pipeTo(body);
}

/** Passes a file's bytes on. The tar writer would notice another size as well, but its words are no sentence for a user. */
function unchanged(entry: PushEntry): TransformStream<Uint8Array, Uint8Array> {
  let seen = 0;
  return new TransformStream({
    transform(chunk, controller) {
      seen += chunk.length;
      if (seen > entry.size) throw changed(entry);
      controller.enqueue(chunk);
    },
    flush() {
      if (seen < entry.size) throw changed(entry);
    },
  });
}

function changed({ path }: PushEntry, cause?: unknown): UserError {
  return new UserError(message("push.changed", { path }), { hint: message("push.changed.hint"), cause });
}
