import { join } from "node:path";
import { costOf } from "./cost.ts";
import { readGpuCsv } from "./gpu_csv.ts";
import type { Ledger } from "./ledger.ts";
import { type ProgressStyle, readSteps } from "./progress.ts";
import type { RunReport } from "./run_report.ts";

/** The sentences of a report that this room does not know. */
export interface ReportWords {
  readonly outcome: string;
  readonly phase: (phase: Ledger["phase"]) => string;
  readonly notes: readonly string[];
  readonly repository: string;
  readonly timeZone: string;
}

/** A run's report from its ledger and the logs that came home. */
export function runReport(
  ledger: Ledger,
  words: ReportWords,
  logs: { readonly train: string; readonly gpu: string; readonly progress: ProgressStyle },
  ended: Date,
): RunReport {
  const { receipts, timeline, plan, outcome } = ledger;
  const last = receipts.at(-1);
  const at = (unixTime: number) => new Date(unixTime * 1000);
  return {
    log: ledger.log,
    outcome: {
      good: outcome?.kind === "trained" && ledger.home !== null && !ledger.unproved,
      text: words.outcome,
    },
    pod: podText(ledger),
    began: at(ledger.begunAt),
    ended,
    timeZone: words.timeZone,
    cost: costSoFar(ledger, ended),
    steps: timeline.map(({ phase, at: began }) => ({ label: words.phase(phase), at: at(began) })),
    checkpoint: {
      hub: ledger.commit === null ? null : `${words.repository}/${plan.expectedCheckpoint}@${ledger.commit}`,
      local: ledger.home,
    },
    receipt: ledger.unproved || ledger.pod !== null
      ? { kind: "unproved" }
      : last === undefined
      ? { kind: "none" }
      : {
        kind: "proved",
        at: at(last.secondReadAt),
        checks: `DELETE ${last.deleteStatus}; GET 404, list: none; GET 404, list: none`,
      },
    notes: words.notes,
    loss: readSteps(logs.train, logs.progress).flatMap(({ step, loss }) =>
      loss === null ? [] : [{ step, loss }]
    ),
    gpu: readGpuCsv(logs.gpu),
  };
}

/** US dollars for all Pods of the run; `null` when a price is not known. */
export function costSoFar({ receipts, pod }: Ledger, now: Date): RunReport["cost"] {
  const rented = [
    ...receipts.map(({ rentedAt, deletedAt, hourlyUsd }) => ({ seconds: deletedAt - rentedAt, hourlyUsd })),
    ...(pod === null ? [] : [{ seconds: now.getTime() / 1000 - pod.rentedAt, hourlyUsd: pod.hourlyUsd }]),
  ];
  let usd = 0;
  for (const { seconds, hourlyUsd } of rented) {
    if (hourlyUsd === null) return null;
    usd += costOf(hourlyUsd, seconds);
  }
  const hourlyUsd = rented.at(-1)?.hourlyUsd;
  return hourlyUsd == null ? null : { usd, hourlyUsd };
}

function podText({ name, pod, receipts }: Ledger): string | null {
  const id = pod?.id ?? receipts.at(-1)?.podId;
  return id === undefined ? null : [name, id, pod?.gpu].filter((part) => part !== undefined).join("  ");
}

/** `result_2026-12-01_06-31-09.txt` and its like, in the run's folder. */
export function recordPath(folder: string, kind: "result" | "report", localTime: string): string {
  const time = localTime.replace(" ", "_").replaceAll(":", "-");
  return join(folder, `${kind}_${time}.${kind === "result" ? "txt" : "html"}`);
}
