import assert from "node:assert/strict";
import { judgeGpu } from "../../lib/gpu/judge.ts";
import type { ComputeProcess, GpuReading, Sample } from "../../lib/gpu/types.ts";
import { thresholds, uuidA } from "./look.ts";

const process: ComputeProcess = {
  pid: 77,
  user: "alice",
  userTruncated: false,
  mine: false,
  elapsedSec: 60,
  usedMemoryMib: 5,
  smMaxPercent: 0,
  gone: false,
};

function sample(utilizationPercent: number | null, memoryUsedMib: number | null = 4): Sample {
  return { utilizationPercent, memoryUsedMib };
}

function gpu(parts: Partial<GpuReading> = {}): GpuReading {
  return {
    index: 0,
    uuid: uuidA,
    name: "NVIDIA A100",
    memoryUsedMib: 4,
    memoryTotalMib: 81920,
    utilizationPercent: 0,
    samples: [sample(0), sample(0)],
    processes: [],
    processListReadable: true,
    jobs: [],
    ...parts,
  };
}

function stateOf(parts: Partial<GpuReading>) {
  const { state, reason } = judgeGpu(gpu(parts), thresholds);
  return `${state} (${reason})`;
}

Deno.test.each([
  ["nothing on it", {}, "unused (below_thresholds)"],
  ["one sample", { samples: [sample(0)] }, "unused (below_thresholds)"],
  ["one percent below the threshold", { samples: [sample(9)] }, "unused (below_thresholds)"],
  ["exactly the threshold of utilisation", { samples: [sample(10)] }, "busy (utilization_reached)"],
  ["one MiB below the threshold", { samples: [sample(0, 1023)] }, "unused (below_thresholds)"],
  ["exactly the threshold of memory", { samples: [sample(0, 1024)] }, "busy (memory_reached)"],
  [
    "the threshold in the first sample only",
    { samples: [sample(100), sample(0)] },
    "busy (utilization_reached)",
  ],
  [
    "the threshold in the last sample only",
    { samples: [sample(0), sample(74)] },
    "busy (utilization_reached)",
  ],
  [
    "memory that comes and goes",
    { samples: [sample(0), sample(0, 60000), sample(0)] },
    "busy (memory_reached)",
  ],
  ["a compute process", { processes: [process] }, "idle_held (compute_process)"],
  [
    "a compute process that is gone",
    { processes: [{ ...process, gone: true }] },
    "idle_held (compute_process)",
  ],
  ["one's own process", { processes: [{ ...process, mine: true }] }, "idle_held (compute_process)"],
  [
    "a process and a threshold reached",
    { processes: [process], samples: [sample(50)] },
    "busy (utilization_reached)",
  ],
  [
    "a dead process's memory",
    { processes: [{ ...process, gone: true }], samples: [sample(0, 10151)] },
    "busy (held_by_ended_process)",
  ],
  [
    "a dead and a live process",
    { processes: [process, { ...process, pid: 78, gone: true }], samples: [sample(0, 10151)] },
    "busy (memory_reached)",
  ],
  ["an unreadable process list", { processListReadable: false }, "idle_held (process_list_unreadable)"],
  ["a job assigned to it", { jobs: ["exp1"] }, "idle_held (assigned_job)"],
  ["no sample", { samples: [] }, "unknown (no_sample)"],
  ["no sample and no reading", { samples: [], utilizationPercent: null }, "unknown (row_unreadable)"],
  ["no uuid", { uuid: null }, "unknown (not_identified)"],
  ["an unreadable row", { memoryUsedMib: null }, "unknown (row_unreadable)"],
  [
    "an unreadable sample between",
    { samples: [sample(0), sample(null), sample(0)] },
    "unknown (sample_unreadable)",
  ],
  ["a sample without memory", { samples: [sample(0, null)] }, "unknown (sample_unreadable)"],
  [
    "an unreadable sample and a threshold",
    { samples: [sample(null), sample(50)] },
    "busy (utilization_reached)",
  ],
  ["a loss at the end", { samples: [sample(97), sample(null, null)] }, "unknown (sample_unreadable)"],
  ["a total that nobody knows", { memoryTotalMib: null }, "unused (below_thresholds)"],
])("judgeGpu() judges a GPU with %s", (_what, parts, expected) => {
  assert.equal(stateOf(parts), expected);
});

Deno.test("judgeGpu() calls nothing unused when the thresholds are 0", () => {
  const none = { max_memory_used_mib: 0, max_utilization_percent: 0 };
  assert.equal(judgeGpu(gpu({ samples: [sample(0, 0)] }), none).state, "busy");
});

function patternOf(utilizations: readonly (number | null)[], parts: Partial<GpuReading> = {}) {
  return judgeGpu(gpu({ samples: utilizations.map((value) => sample(value)), ...parts }), thresholds).pattern;
}

Deno.test.each([
  ["80 % of ten samples", [1, 1, 1, 1, 1, 1, 1, 1, 0, 0], {}, "constant"],
  ["70 % of ten samples", [1, 1, 1, 1, 1, 1, 1, 0, 0, 0], {}, "intermittent"],
  ["exactly 80 % of five", [1, 1, 1, 1, 0], {}, "constant"],
  ["one of many", [0, 0, 0, 0, 0, 0, 0, 0, 0, 1], {}, "intermittent"],
  ["all", [74, 3], {}, "constant"],
  ["none, with a process", [0, 0], { processes: [process] }, "memory_only"],
  ["none, without a process", [0, 0], {}, "unused"],
  ["none, with an unreadable process list", [0, 0], { processListReadable: false }, null],
  [
    "none, with a process and an unreadable list",
    [0],
    { processes: [process], processListReadable: false },
    "memory_only",
  ],
  ["some, with an unreadable process list", [1, 0], { processListReadable: false }, "intermittent"],
  ["none readable", [null, null], {}, null],
  ["no sample", [], {}, null],
  ["four of five readable", [1, 1, 1, 1, null, 0], {}, "constant"],
] as [string, (number | null)[], Partial<GpuReading>, string | null][])(
  "judgeGpu() calls the use by %s",
  (_what, utilizations, parts, expected) => {
    assert.equal(patternOf(utilizations, parts), expected);
  },
);

Deno.test("judgeGpu() finds the 80 % in numbers that no fraction holds exactly", () => {
  for (let count = 1; count <= 200; count++) {
    for (const active of [Math.ceil(count * 4 / 5) - 1, Math.ceil(count * 4 / 5)]) {
      const utilizations = Array.from({ length: count }, (_, at) => at < active ? 1 : 0);
      const expected = active * 5 >= count * 4 ? "constant" : active > 0 ? "intermittent" : "unused";
      assert.equal(patternOf(utilizations), expected, `${active} of ${count}`);
    }
  }
});

Deno.test("judgeGpu() tells maxima and mean over all readable samples", () => {
  const samples = [sample(0, 10), sample(74, 9), sample(1, null), sample(null, 12), sample(2, 11)];
  assert.deepEqual(judgeGpu(gpu({ samples }), thresholds), {
    state: "busy",
    reason: "utilization_reached",
    pattern: "intermittent",
    memoryUsedMaxMib: 12,
    utilizationMeanPercent: 19.3,
    utilizationMaxPercent: 74,
    samples: 5,
  });
});
