import * as z from "zod";
import type { ReachedServer, ServerReport } from "../gpu/survey.ts";
import type { Choice, JudgedGpu } from "../gpu/types.ts";
import type { Job } from "../job/types.ts";
import type { Texts } from "../text/texts.ts";
import { failureText } from "./survey_view.ts";

const count = z.int().nonnegative();
const percent = z.number().min(0).max(100);

const processShape = z.strictObject({
  pid: z.int().positive(),
  user: z.string().nullable(),
  mine: z.boolean(),
  elapsed_sec: count.nullable(),
  used_memory_mib: count.nullable(),
  sm_max_percent: percent.nullable(),
});

const state = z.enum(["unused", "idle_held", "busy", "unknown"]);

const gpuShape = z.strictObject({
  index: count,
  uuid: z.string().nullable(),
  name: z.string(),
  state,
  reason: z.string(),
  pattern: z.enum(["constant", "intermittent", "memory_only", "unused"]).nullable(),
  memory_used_max_mib: count.nullable(),
  memory_total_mib: count.nullable(),
  utilization_mean_percent: percent.nullable(),
  utilization_max_percent: percent.nullable(),
  samples: count,
  processes: z.array(processShape),
});

export const jobShape = z.strictObject({
  name: z.string(),
  state: z.enum(["running", "ended", "lost"]),
  gpu: count.nullable(),
  gpu_uuid: z.string().nullable(),
  began: z.iso.datetime().nullable(),
  ended: z.iso.datetime().nullable(),
  exit_code: count.nullable(),
});

/** What `gpus --json` and `status --json` print; null is "could not be read". */
export const surveyShape = z.strictObject({
  servers: z.array(z.strictObject({
    name: z.string(),
    reachable: z.boolean(),
    error: z.string().nullable(),
    gpus: z.array(gpuShape),
    jobs: z.array(jobShape),
  })),
  choice: z.strictObject({ server: z.string(), gpu: count, state }).nullable(),
});

export type SurveyJson = z.infer<typeof surveyShape>;

/** The survey for programs. `error` is a sentence in the chosen language; everything else is the same in both. */
export function surveyJson(
  texts: Texts,
  reports: readonly ServerReport[],
  choice: Choice | undefined,
): SurveyJson {
  return {
    servers: reports.map((report) => ({
      name: report.server.name,
      reachable: report.reachable,
      error: report.reachable ? faultText(texts, report) : failureText(texts, report.failure),
      gpus: report.reachable ? report.gpus.map(gpuJson) : [],
      jobs: report.reachable ? report.jobs.map(jobJson) : [],
    })),
    choice: choice === undefined
      ? null
      : { server: choice.server, gpu: choice.gpu.index, state: choice.gpu.verdict.state },
  };
}

function faultText(texts: Texts, { fault }: ReachedServer): string | null {
  if (fault === null) return null;
  const sentence = texts.say(`gpu.fault.${fault.kind}`);
  return fault.detail === "" ? sentence : `${sentence} (${fault.detail})`;
}

function gpuJson(gpu: JudgedGpu): z.infer<typeof gpuShape> {
  const { verdict } = gpu;
  return {
    index: gpu.index,
    uuid: gpu.uuid,
    name: gpu.name,
    state: verdict.state,
    reason: verdict.reason,
    pattern: verdict.pattern,
    memory_used_max_mib: verdict.memoryUsedMaxMib,
    memory_total_mib: gpu.memoryTotalMib,
    utilization_mean_percent: verdict.utilizationMeanPercent,
    utilization_max_percent: verdict.utilizationMaxPercent,
    samples: verdict.samples,
    processes: gpu.processes.map((process) => ({
      pid: process.pid,
      user: process.user,
      mine: process.mine,
      elapsed_sec: process.elapsedSec,
      used_memory_mib: process.usedMemoryMib,
      sm_max_percent: process.smMaxPercent,
    })),
  };
}

export function jobJson(job: Job): z.infer<typeof jobShape> {
  return {
    name: job.name,
    state: job.state,
    gpu: job.gpu,
    gpu_uuid: job.uuid,
    began: job.began?.toISOString() ?? null,
    ended: job.ended?.toISOString() ?? null,
    exit_code: job.exitCode,
  };
}
