import type { ServerReport } from "../gpu/survey.ts";
import type { ComputeProcess, GpuState, JudgedGpu } from "../gpu/types.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import type { Output } from "../system/context.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { alignRows } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";
import { paint, type Style } from "./paint.ts";

const stateStyle: Readonly<Record<GpuState, Style>> = {
  unused: "good",
  idle_held: "warning",
  busy: "error",
  unknown: "faint",
};

/** Each server's GPUs as a table; one line for a server that has none to show. */
export function surveyLines(texts: Texts, output: Output, reports: readonly ServerReport[]): string[] {
  const { say } = texts;
  const header = [
    "",
    say("gpus.header.gpu"),
    say("gpus.header.state"),
    say("gpus.header.usage"),
    say("gpus.header.memory"),
    say("gpus.header.holders"),
  ];
  // One alignment over all servers, so that columns stand under each other down the whole page.
  const rows = reports.flatMap((report) =>
    report.reachable ? report.gpus.map((gpu) => gpuRow(texts, output, gpu)) : []
  );
  const aligned = alignRows([header, ...rows]);
  const lines: string[] = [];
  let next = 1;
  for (const report of reports) {
    const { server } = report;
    const title = server.data_ready ? server.name : say("gpus.no_data", { server: server.name });
    if (!report.reachable) {
      lines.push(
        `${paint(output, "strong", title)}  ${paint(output, "error", failureText(texts, report.failure))}`,
      );
      continue;
    }
    if (report.fault !== null) {
      const detail = report.fault.detail === "" ? "" : ` (${report.fault.detail})`;
      const fault = say(`gpu.fault.${report.fault.kind}`) + detail;
      lines.push(`${paint(output, "strong", title)}  ${paint(output, "error", fault)}`);
      continue;
    }
    lines.push(paint(output, "strong", title));
    if (report.gpus.length > 0) lines.push(aligned[0] ?? "");
    for (const _gpu of report.gpus) lines.push(aligned[next++] ?? "");
    for (const note of report.notes) lines.push(`  ${note}`);
  }
  return lines;
}

function gpuRow(texts: Texts, output: Output, gpu: JudgedGpu): string[] {
  const { say } = texts;
  const { verdict } = gpu;
  return [
    "",
    String(gpu.index),
    paint(output, stateStyle[verdict.state], say(`gpu.state.${verdict.state}`)),
    usageText(texts, gpu),
    say("gpu.memory", { used: verdict.memoryUsedMaxMib ?? "?", total: gpu.memoryTotalMib ?? "?" }),
    holdersText(texts, gpu),
  ];
}

/** `断続的に使用・平均 21%・最大 74%` */
export function usageText(texts: Texts, gpu: JudgedGpu): string {
  const { pattern, utilizationMeanPercent, utilizationMaxPercent, state } = gpu.verdict;
  if (utilizationMeanPercent === null || utilizationMaxPercent === null) {
    return state === "unknown" ? reasonText(texts, gpu) : texts.say("gpu.pattern.unknown");
  }
  return texts.say("gpu.usage", {
    pattern: texts.say(`gpu.pattern.${pattern ?? "unknown"}`),
    mean: Math.round(utilizationMeanPercent),
    max: utilizationMaxPercent,
  });
}

export function reasonText(texts: Texts, gpu: JudgedGpu): string {
  const { reason } = gpu.verdict;
  return reason === "assigned_job"
    ? texts.say("gpu.reason.assigned_job", { jobs: gpu.jobs.map(sanitizeLine).join(", ") })
    : texts.say(`gpu.reason.${reason}`);
}

/** Each holder with age and SM use; without processes, the reason where it says more than the state. */
export function holdersText(texts: Texts, gpu: JudgedGpu): string {
  if (gpu.processes.length > 0) return gpu.processes.map((process) => holderText(texts, process)).join(", ");
  const telling = ["assigned_job", "process_list_unreadable", "held_by_ended_process", "memory_reached"];
  return telling.includes(gpu.verdict.reason) ? reasonText(texts, gpu) : "";
}

function holderText(texts: Texts, process: ComputeProcess): string {
  const { say } = texts;
  const owner = process.mine
    ? say("gpu.holder.mine")
    : process.gone
    ? say("gpu.holder.gone")
    : process.user === null
    ? say("gpu.holder.unknown")
    : process.user === "root"
    ? say("gpu.holder.root")
    : process.user;
  return [
    owner,
    ...(process.elapsedSec === null ? [] : [texts.duration(process.elapsedSec)]),
    ...(process.smMaxPercent === null ? [] : [say("gpu.holder.sm", { percent: process.smMaxPercent })]),
  ].join(" ");
}

/** Names of those who hold a GPU, for a warning. */
export function holderNames(texts: Texts, gpu: JudgedGpu): string {
  const names = gpu.processes.map((process) =>
    process.mine ? texts.say("gpu.holder.mine") : process.user ?? texts.say("gpu.holder.unknown")
  );
  if (names.length > 0) return [...new Set(names)].join(", ");
  return gpu.jobs.length > 0
    ? texts.say("gpu.holder.jobs", { jobs: gpu.jobs.map(sanitizeLine).join(", ") })
    : texts.say("gpu.holder.unknown");
}

/** Why a server gave no answer, with the line of ssh that says so. */
export function failureText(texts: Texts, failure: ConnectionFailure): string {
  const reason = texts.say(`ssh.failure.${failure.kind}`);
  return failure.detail === "" ? reason : `${reason} (${failure.detail})`;
}
