import type { RemoteConfig } from "../config/remote.ts";
import type { GpuReading, GpuState, Reason, UsagePattern, Verdict } from "./types.ts";

/** What a GPU must stay below, in MiB and percent, throughout an observation: a value that equals one is too much. */
export type Thresholds = Pick<RemoteConfig["gpu_free"], "max_memory_used_mib" | "max_utilization_percent">;

/**
 * Judges one GPU by the maximum over the observation: a GPU that flips between 0 and 74 % is busy, though most
 * instants would call it free. No reading is never "free".
 */
export function judgeGpu(gpu: GpuReading, thresholds: Thresholds): Verdict {
  const utilizations = gpu.samples.map((sample) => sample.utilizationPercent).filter((value) =>
    value !== null
  );
  const memories = gpu.samples.map((sample) => sample.memoryUsedMib).filter((value) => value !== null);
  const utilizationMax = maximum(utilizations);
  const memoryMax = maximum(memories);
  const [state, reason] = decide(gpu, thresholds, utilizationMax, memoryMax);
  return {
    state,
    reason,
    pattern: usagePattern(gpu, utilizations),
    memoryUsedMaxMib: memoryMax,
    utilizationMeanPercent: utilizations.length === 0
      ? null
      : Math.round(utilizations.reduce((sum, value) => sum + value, 0) / utilizations.length * 10) / 10,
    utilizationMaxPercent: utilizationMax,
    samples: gpu.samples.length,
  };
}

function decide(
  gpu: GpuReading,
  thresholds: Thresholds,
  utilizationMax: number | null,
  memoryMax: number | null,
): [GpuState, Reason] {
  const isWhole = (reading: { utilizationPercent: number | null; memoryUsedMib: number | null }) =>
    reading.utilizationPercent !== null && reading.memoryUsedMib !== null;

  if (gpu.uuid === null) return ["unknown", "not_identified"];
  const last = gpu.samples.at(-1);
  if (last === undefined) return ["unknown", isWhole(gpu) ? "no_sample" : "row_unreadable"];
  // A GPU lost during the observation: what it was before says nothing any more.
  if (!isWhole(last)) return ["unknown", isWhole(gpu) ? "sample_unreadable" : "row_unreadable"];

  const reached: Reason | null =
    utilizationMax !== null && utilizationMax >= thresholds.max_utilization_percent
      ? "utilization_reached"
      : memoryMax !== null && memoryMax >= thresholds.max_memory_used_mib
      ? "memory_reached"
      : null;
  if (reached !== null) {
    const nobody = gpu.processes.length > 0 && gpu.processes.every(({ gone }) => gone);
    return ["busy", nobody ? "held_by_ended_process" : reached];
  }

  if (!isWhole(gpu)) return ["unknown", "row_unreadable"];
  if (!gpu.samples.every(isWhole)) return ["unknown", "sample_unreadable"];
  if (gpu.processes.length > 0) return ["idle_held", "compute_process"];
  if (!gpu.processListReadable) return ["idle_held", "process_list_unreadable"];
  if (gpu.jobs.length > 0) return ["idle_held", "assigned_job"];
  return ["unused", "below_thresholds"];
}

/** How the GPU was used, for display only; null when it cannot be told. */
function usagePattern(gpu: GpuReading, utilizations: readonly number[]): UsagePattern | null {
  if (utilizations.length === 0) return null;
  const active = utilizations.filter((value) => value > 0).length;
  // 80 % in whole numbers, so that no rounding moves the boundary.
  if (active * 100 >= utilizations.length * 80) return "constant";
  if (active > 0) return "intermittent";
  if (gpu.processes.length > 0) return "memory_only";
  return gpu.processListReadable ? "unused" : null;
}

function maximum(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((max, value) => Math.max(max, value));
}
