/** Public captures of real machines, where they lie beside the project; without them there is nothing to read. */

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { judgeGpu } from "../../lib/gpu/judge.ts";
import { type Look, readLook, thresholds } from "./look.ts";

const folder = join(import.meta.dirname ?? ".", "..", "..", "..", "shared", "corpora", "nvidia-smi");

/** The lines below the heading `MOMENT :: WHAT`, without the frame around it. */
function section(capture: string, moment: string, what: string): string[] {
  const rule = "#".repeat(80);
  const blocks = capture.split(rule);
  const at = blocks.findIndex((block) => block.startsWith(`\n# ${moment} :: ${what}`));
  assert.notEqual(at, -1, `${moment} :: ${what}`);
  return (blocks[at + 1] ?? "").split("\n").filter((line) => line.trim() !== "");
}

/** The named columns of a CSV with a header, as `--format=csv,noheader,nounits` would give them. */
function cut([header = "", ...rows]: string[], columns: readonly string[]): string {
  const names = header.split(", ").map((name) => name.replace(/ \[.*\]$/, ""));
  const places = columns.map((column) => names.indexOf(column));
  assert.ok(places.every((place) => place >= 0), `${columns} in ${header.slice(0, 80)}`);
  return rows.map((line) => {
    const fields = line.split(", ");
    return places.map((place) => (fields[place] ?? "").replace(/ (MiB|%)$/, "")).join(", ") + "\n";
  }).join("");
}

function lookAt(capture: string, moment: string): Look {
  const gpus = section(capture, moment, "query-gpu");
  return {
    list: cut(gpus, ["index", "uuid", "name", "memory.used", "memory.total", "utilization.gpu"]),
    samples: cut(gpus, ["index", "utilization.gpu", "memory.used"]),
    pmon: section(capture, moment, "pmon").join("\n") + "\n",
    apps: cut(section(capture, moment, "query-compute-apps"), ["gpu_uuid", "pid", "used_gpu_memory"]),
  };
}

/** What must come out: name, memory and utilisation, state, and `pid memory SM` of each process. */
const captures: [file: string, moment: string, expected: string, processes: string[]][] = [
  [
    "linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05.txt",
    "idle",
    "NVIDIA GeForce RTX 2080 SUPER 8192: 214 MiB, 0 %, unused (below_thresholds)",
    [],
  ],
  [
    "linux-x86_64__nvidia-geforce-rtx-2080-super__595.71.05.txt",
    "load",
    "NVIDIA GeForce RTX 2080 SUPER 8192: 819 MiB, 8 %, idle_held (compute_process)",
    ["5268 370 7", "5267 230 8"],
  ],
  [
    "linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.txt",
    "idle",
    "NVIDIA H100 80GB HBM3 81559: 0 MiB, 0 %, unused (below_thresholds)",
    [],
  ],
  [
    "linux-x86_64__nvidia-h100-80gb-hbm3__590.48.01.txt",
    "load",
    "NVIDIA H100 80GB HBM3 81559: 19818 MiB, 100 %, busy (utilization_reached)",
    ["11327 2566 null", "11328 1542 null", "11345 15690 99"],
  ],
  [
    "linux-x86_64__nvidia-h100-mig__590.48.01.txt",
    "idle",
    "NVIDIA H100 80GB HBM3 81559: 59 MiB, null %, unknown (row_unreadable)",
    [],
  ],
  [
    "linux-x86_64__nvidia-h100-mig__590.48.01.txt",
    "load",
    "NVIDIA H100 80GB HBM3 81559: 11125 MiB, null %, unknown (row_unreadable)",
    ["21180 2296 null", "21181 1272 null", "21198 7484 null"],
  ],
  [
    "linux-x86_64__nvidia-l40s__595.80.txt",
    "idle",
    "NVIDIA L40S 46068: 0 MiB, 100 %, busy (utilization_reached)",
    [],
  ],
  [
    "linux-x86_64__nvidia-l40s__595.80.txt",
    "load",
    "NVIDIA L40S 46068: 1235 MiB, 9 %, busy (memory_reached)",
    ["20037 538 2", "20038 681 8"],
  ],
];

for (const [file, moment, expected, processes] of captures) {
  Deno.test(
    `readServer() reads the capture ${file}, ${moment}`,
    { ignore: !existsSync(folder) },
    async () => {
      const capture = await Deno.readTextFile(join(folder, file));
      const { gpus, gpuList } = readLook(lookAt(capture, moment));
      assert.equal(gpuList.fault, null);
      assert.deepEqual(gpuList.notes, []);
      const [gpu, ...others] = gpus;
      assert.deepEqual(others, []);
      assert.ok(gpu !== undefined);
      assert.equal(`${gpu.index} ${gpu.uuid}`, "0 GPU-00000000-0000-0000-0000-000000000000");
      const verdict = judgeGpu(gpu, thresholds);
      assert.equal(
        `${gpu.name} ${gpu.memoryTotalMib}: ${verdict.memoryUsedMaxMib} MiB, ` +
          `${verdict.utilizationMaxPercent} %, ${verdict.state} (${verdict.reason})`,
        expected,
      );
      assert.deepEqual(
        gpu.processes.map(({ pid, usedMemoryMib, smMaxPercent }) =>
          `${pid} ${usedMemoryMib} ${smMaxPercent}`
        ),
        processes,
      );
      assert.equal(gpu.processListReadable, true);
    },
  );
}
