import type { FileSource } from "../hub/receive.ts";
import { type JobEvent, JobStream } from "../job/stream.ts";
import { sendFileScript } from "./checkpoint_script.ts";
import type { PodConnection } from "./pod_connection.ts";
import type { PodAddress } from "./perform.ts";

/** A file of the Pod on its way here. */
interface IncomingFile {
  readonly size: number;
  readonly body: AsyncGenerator<Uint8Array, void, void>;
  close(): Promise<void>;
}

/** Opens a file on the Pod from a byte on; `undefined` when there is none, an error text when nobody answered. */
async function openFile(
  connection: PodConnection,
  pod: PodAddress,
  file: string,
  offset: number,
  signal: AbortSignal,
): Promise<IncomingFile | undefined | string> {
  const { deps, settings, destination } = await connection.prepare(pod, signal);
  const stream = new JobStream(deps, settings, destination, sendFileScript(file, offset));
  const events = stream.events();
  const first = await events.next();
  if (first.done || first.value.kind !== "section") {
    const { kind, detail } = await stream.failure();
    return `${kind} ${detail}`.trim();
  }
  const { found, size } = first.value.fields;
  if (found !== "1" || !/^\d{1,15}$/.test(size ?? "")) {
    await stream.close();
    return undefined;
  }
  return {
    size: Number(size),
    close: () => stream.close(),
    body: bytesOf(events),
  };
}

async function* bytesOf(events: AsyncGenerator<JobEvent>): AsyncGenerator<Uint8Array, void, void> {
  for await (const event of events) {
    if (event.kind === "data") yield event.bytes;
    if (event.kind === "done") return;
  }
  throw new Error("the connection broke");
}

/** The files of a checkpoint's folder on the Pod, over ssh. */
export function podSource(connection: PodConnection, pod: PodAddress, folder: string): FileSource {
  return async (file, offset, signal) => {
    const opened = await openFile(connection, pod, `${folder}/${file.path}`, offset, signal);
    if (typeof opened === "string") return { kind: "fault", detail: opened };
    if (opened === undefined) return { kind: "other_content" };
    if (opened.size !== file.size) {
      await opened.close();
      return { kind: "other_content" };
    }
    return { kind: "stream", offset, body: toStream(opened) };
  };
}

function toStream({ body, close }: IncomingFile): ReadableStream<Uint8Array> {
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await body.next();
        if (!done) return controller.enqueue(value);
        await close();
        controller.close();
      } catch (fault) {
        await close();
        throw fault;
      }
    },
    async cancel() {
      await close();
    },
  });
}

/**
 * Copies a file of the Pod to this machine, whole or not at all; a file that is not there is no failure.
 *
 * @returns why it could not be had, or `undefined`
 */
export async function fetchFile(
  connection: PodConnection,
  pod: PodAddress,
  from: string,
  to: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const opened = await openFile(connection, pod, from, 0, signal);
  if (typeof opened === "string") return opened;
  if (opened === undefined) return undefined;
  const part = `${to}.part`;
  try {
    const file = await Deno.open(part, { write: true, create: true, truncate: true, mode: 0o600 });
    await toStream(opened).pipeTo(file.writable, { signal });
    await Deno.rename(part, to);
    return undefined;
  } catch (fault) {
    await opened.close();
    await Deno.remove(part).catch(() => {});
    return fault instanceof Error ? fault.message : String(fault);
  }
}
