import { realCheckpointDisk } from "../hub/disk.ts";
import { receiveMessage } from "../hub/messages.ts";
import { type FileSource, receiveCheckpoint } from "../hub/receive.ts";
import type { Context } from "../system/context.ts";
import { message } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import type { Done } from "./event.ts";
import type { PodFile } from "./types.ts";

/** Receives a checkpoint from wherever it is, compares it with the Pod's list, and places it. */
export async function bringHome(
  deps: Pick<Context, "clock">,
  texts: Texts,
  source: FileSource,
  plan: {
    readonly localDir: string;
    readonly step: number;
    readonly files: readonly PodFile[];
    /** The Pod's full name: what an earlier try of this run has left is gone on with. */
    readonly by: string;
  },
  signal: AbortSignal,
): Promise<Done<{ folder: string }>> {
  const name = String(plan.step);
  if (plan.files.length === 0) {
    return { ok: false, detail: texts.sentence(message("rent.no_list")), retry: false };
  }
  const outcome = await receiveCheckpoint({ clock: deps.clock, disk: realCheckpointDisk, signal }, source, {
    files: plan.files,
    localDir: plan.localDir,
    name,
    incoming: `.incoming_${name}_${plan.by}`,
  });
  if (outcome.kind !== "failed") return { ok: true, value: { folder: outcome.folder } };
  const detail = texts.sentence(receiveMessage(outcome, name).text);
  return { ok: false, detail, retry: outcome.why === "unreachable" || outcome.why === "disk" };
}
