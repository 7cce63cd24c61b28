import { join } from "node:path";
import * as z from "zod";
import type { PullRequest } from "../transfer/pull.ts";
import type { SendPlan } from "../transfer/sent.ts";

const count = z.int().nonnegative();

/** What `pull --json` prints. There are numbers of members in it, never names. */
export const pullShape = z.strictObject({
  run_id: z.string(),
  server: z.string(),
  /** True when nothing was brought, because `--dry-run` asked for that. */
  dry_run: z.boolean(),
  /** Files that came, or that would come. */
  files: count,
  /** Bytes of those files together. */
  bytes: count,
  /** Entries under the run that are no directory and stayed on the server. */
  left_behind: count,
  /** How many of those are on the whitelist, with names that not every system can hold. */
  unportable: count,
  /** False when parts of the run could not be looked through on the server. */
  whole_run_seen: z.boolean(),
  /** Where the files are on this machine, or would be. */
  folder: z.string(),
});

export type PullJson = z.infer<typeof pullShape>;

/** A pull for programs; the same in both languages. */
export function pullJson(
  request: Pick<PullRequest, "runId" | "server" | "runs" | "onlyPlan">,
  plan: SendPlan,
): PullJson {
  return {
    run_id: request.runId,
    server: request.server.name,
    dry_run: request.onlyPlan,
    files: plan.files,
    bytes: plan.bytes,
    left_behind: plan.left,
    unportable: plan.unportable,
    whole_run_seen: plan.whole,
    folder: join(request.runs, request.runId),
  };
}
