import type { Texts } from "../text/texts.ts";
import { costOf } from "./cost.ts";
import { readGpuCsv } from "./gpu_csv.ts";
import type { Ledger, Receipt } from "./ledger.ts";
import { outcomeMessage } from "./outcome_message.ts";
import { type ProgressStyle, readSteps } from "./progress.ts";
import type { RunReport } from "./run_report.ts";

/** What beside its ledger tells of a run. */
export interface RunTraces {
  /** The recipe's Hub repository and the folder in it, such as `owner/name (1499)`. */
  readonly hubPlace: string;
  /** The training's log and the GPUs' record as they came home; empty when they did not. */
  readonly trainLog: string;
  readonly gpuCsv: string;
  readonly style: ProgressStyle;
  readonly now: Date;
  readonly timeZone: string;
}

/** A run's story from its ledger. Pure. */
export function reportOf(texts: Texts, ledger: Ledger, traces: RunTraces): RunReport {
  const { outcome, pod, timeline } = ledger;
  const ended = dateOf(timeline.findLast(({ phase }) => phase === "done")?.at) ?? traces.now;
  return {
    log: ledger.log,
    outcome: { good: outcome?.kind === "trained", text: texts.sentence(outcomeMessage(outcome)) },
    pod: podText(ledger),
    began: dateOf(ledger.begunAt) ?? traces.now,
    ended,
    timeZone: traces.timeZone,
    cost: costOfRun(ledger, Math.floor(ended.getTime() / 1000)),
    steps: timeline.filter(({ phase }) => phase !== "done").map(({ phase, at }) => ({
      label: texts.say(`report.phase.${phase}`),
      at: new Date(at * 1000),
    })),
    checkpoint: {
      hub: ledger.commit === null ? null : `${traces.hubPlace} @ ${ledger.commit.slice(0, 12)}`,
      local: ledger.home,
    },
    receipt: receiptOf(ledger, pod !== null),
    notes: ledger.trouble === null ? [] : [ledger.trouble],
    loss: readSteps(traces.trainLog, traces.style).flatMap(({ step, loss }) =>
      loss === null ? [] : [{ step, loss }]
    ),
    gpu: readGpuCsv(traces.gpuCsv),
  };
}

function podText({ name, pod, receipts }: Ledger): string | null {
  if (pod !== null) return `${name} (${pod.id}, ${pod.gpu})`;
  const last = receipts.at(-1);
  return last === undefined ? null : `${name} (${last.podId})`;
}

/** Every Pod of the run, each until it was deleted or, when it is still there, until `now`. */
function costOfRun({ pod, receipts }: Ledger, now: number): RunReport["cost"] {
  const spans = receipts.map(({ hourlyUsd, rentedAt, deletedAt }) => ({
    hourlyUsd,
    seconds: deletedAt - rentedAt,
  }));
  const deleted = receipts.some(({ podId }) => podId === pod?.id);
  if (pod !== null && !deleted) spans.push({ hourlyUsd: pod.hourlyUsd, seconds: now - pod.rentedAt });
  if (spans.length === 0) return { usd: 0, hourlyUsd: 0 };
  let usd = 0;
  for (const { hourlyUsd, seconds } of spans) {
    if (hourlyUsd === null) return null;
    usd += costOf(hourlyUsd, Math.max(0, seconds));
  }
  return { usd, hourlyUsd: spans.at(-1)?.hourlyUsd ?? 0 };
}

function receiptOf(
  { outcome, unproved, receipts, pod, deadline }: Ledger,
  hasPod: boolean,
): RunReport["receipt"] {
  const last = receipts.at(-1);
  const isDeleted = last !== undefined && (pod === null || last.podId === pod.id);
  if (unproved) return { kind: "unproved" };
  if (isDeleted) return { kind: "proved", at: new Date(last.secondReadAt * 1000), checks: checksOf(last) };
  if (outcome?.kind === "unsaved" && hasPod) return { kind: "left", until: new Date(deadline * 1000) };
  return hasPod || outcome?.kind === "cannot_tell" ? { kind: "unproved" } : { kind: "none" };
}

function checksOf({ podId, deleteStatus }: Receipt): string {
  return `${podId}: DELETE ${deleteStatus}, GET 404/TERMINATED ×2, list ×2`;
}

function dateOf(seconds: number | undefined): Date | undefined {
  return seconds === undefined ? undefined : new Date(seconds * 1000);
}
