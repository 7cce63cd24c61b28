/** GPU lists and samples as machines have printed them, and the states that they must have. */

import assert from "node:assert/strict";
import { type Look, readLook, row, statesOf, uuidA, uuidB, uuidC } from "./look.ts";

const unused = "unused (below_thresholds)";
const rowUnknown = "unknown (row_unreadable)";
const sampleUnknown = "unknown (sample_unreadable)";
const busyByUse = "busy (utilization_reached)";
const busyByMemory = "busy (memory_reached)";

const uuidD = "GPU-dddddddd-1111-2222-3333-444444444444";
const empty: { name: string; used: number; total: number } = { name: "GeForce GT 710", used: 0, total: 2004 };

interface Case {
  readonly id: string;
  readonly what: string;
  readonly look: Look;
  readonly states: Record<number, string>;
}

const cases: Case[] = [
  {
    id: "gpu-001",
    what: "four spellings of no utilisation",
    look: {
      list: row(0, { ...empty, utilization: "[N/A]" }) +
        row(1, { ...empty, uuid: uuidB, utilization: "[Not Supported]" }) +
        row(2, { ...empty, uuid: uuidC, utilization: "N/A" }) +
        row(3, { ...empty, uuid: uuidD, utilization: "[Unknown Error]" }),
    },
    states: { 0: rowUnknown, 1: rowUnknown, 2: rowUnknown, 3: rowUnknown },
  },
  {
    id: "gpu-003",
    what: "a GPU lost while it was observed",
    look: {
      list: row(0),
      samples:
        "0, 97, 22110\n0, 98, 22110\n0, [GPU is lost], [GPU is lost]\n0, [GPU is lost], [GPU is lost]\n",
    },
    states: { 0: sampleUnknown },
  },
  {
    id: "gpu-003, in a sentence",
    what: "a GPU lost while it was observed, which ends the samples of all",
    look: {
      list: row(0) + row(1, { uuid: uuidB }),
      samples: "0, 0, 3\n1, 0, 3\nUnable to determine the device handle for GPU 0000:01:00.0: GPU is lost.\n",
      samplesStatus: 15,
    },
    states: { 0: sampleUnknown, 1: sampleUnknown },
  },
  {
    id: "gpu-003, and back",
    what: "a GPU that was lost between two readable samples",
    look: { list: row(0), samples: "0, 0, 3\n0, [GPU is lost], [GPU is lost]\n0, 0, 3\n" },
    states: { 0: sampleUnknown },
  },
  {
    id: "gpu-010",
    what: "a warning about another GPU's infoROM",
    look: {
      list: row(0, { name: "Quadro P4000", used: 701, total: 8105 }) +
        "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n",
      listStatus: 14,
    },
    states: { 0: unused },
  },
  {
    id: "gpu-011",
    what: "an idle L40S whose first sample says 100 %: it counts like any other",
    look: {
      list: row(0, { name: "NVIDIA L40S", used: 0, utilization: 100 }),
      samples: "0, 100, 0\n0, 0, 0\n0, 0, 0\n0, 0, 0\n0, 0, 0\n",
    },
    states: { 0: busyByUse },
  },
  {
    id: "gpu-011, the list alone",
    what: "100 % in the list, none in the samples: the list is no sample of an observation",
    look: { list: row(0, { utilization: 100 }), samples: "0, 0, 0\n0, 0, 0\n" },
    states: { 0: unused },
  },
  {
    id: "gpu-012",
    what: "memory and load of a process that is gone",
    look: {
      list: row(6, { used: 10151, utilization: 100 }),
      samples: "6, 100, 10151\n".repeat(5),
      apps: `${uuidA}, 3121212, 10140\n`,
      ps: { 3121212: { text: "", status: 1 } },
    },
    states: { 6: "busy (held_by_ended_process)" },
  },
  {
    id: "gpu-015",
    what: "unified memory, which nvidia-smi cannot tell",
    look: {
      list: row(0, { name: "NVIDIA GB10", used: "[N/A]", total: "[N/A]" }),
      samples: "0, 0, [N/A]\n0, 2, [N/A]\n",
      apps: `${uuidA}, 8123, 25700\n`,
    },
    states: { 0: rowUnknown },
  },
  {
    id: "gpu-015, without a process",
    what: "unified memory and nobody there",
    look: {
      list: row(0, { name: "NVIDIA GB10", used: "[N/A]", total: "[N/A]" }),
      samples: "0, 0, [N/A]\n",
    },
    states: { 0: rowUnknown },
  },
  {
    id: "gpu-016",
    what: "a Jetson, which has neither uuid nor readings",
    look: { list: "0, [N/A], Orin (nvgpu), [N/A], [N/A], [N/A]\n" },
    states: { 0: "unknown (not_identified)" },
  },
  {
    id: "gpu-016, two boards",
    what: "boards without uuid, however idle",
    look: { list: row(0, { uuid: "[N/A]" }) + row(1, { uuid: "[N/A]" }) },
    states: { 0: "unknown (not_identified)", 1: "unknown (not_identified)" },
  },
  {
    id: "gpu-017",
    what: "WSL2, where the utilisation is hidden",
    look: {
      list: row(0, { used: 444, utilization: "[N/A]" }) +
        row(1, { uuid: uuidB, used: 2492, utilization: "[Unknown Error]" }),
    },
    states: { 0: rowUnknown, 1: rowUnknown },
  },
  {
    id: "gpu-018",
    what: "a vGPU guest",
    look: { list: row(0, { name: "NVIDIA H100L-2-24C", used: 0, total: 24576, utilization: "[N/A]" }) },
    states: { 0: rowUnknown },
  },
  {
    id: "gpu-020",
    what: "a last sample cut in its second field",
    look: {
      list: row(0) + row(1, { uuid: uuidB }),
      samples: "0, 3, 1023\n1, 0, 4\n0, 4, 1023\n1, 0, 4\n0, 9",
    },
    states: { 0: unused, 1: unused },
  },
  {
    id: "gpu-020, at the threshold",
    what: "whole samples of exactly 1024 MiB before the cut one",
    look: { list: row(0), samples: "0, 3, 1024\n0, 4, 1024\n0, 9" },
    states: { 0: busyByMemory },
  },
  {
    id: "gpu-021",
    what: "a last sample cut in its third field; one whole sample is enough",
    look: { list: row(0) + row(1, { uuid: uuidB }), samples: "0, 0, 4\n1, 0, 4\n0, 0, 4" },
    states: { 0: unused, 1: unused },
  },
  {
    id: "gpu-021, nothing whole",
    what: "no other sample than the cut one",
    look: { list: row(0) + row(1, { uuid: uuidB }), samples: "0, 0, 4\n1, 0, 4" },
    states: { 0: unused, 1: "unknown (no_sample)" },
  },
  {
    id: "gpu-025",
    what: "CR LF from a forced terminal, the last line without LF",
    look: {
      list: `${row(0).trimEnd()}\r\n${row(1, { uuid: uuidB, used: 60321, utilization: 97 }).trimEnd()}\r`,
    },
    states: { 0: unused, 1: busyByUse },
  },
  {
    id: "gpu-026",
    what: "indexes with gaps",
    look: {
      list: row(0) + row(2, { uuid: uuidB }) + row(5, { uuid: uuidC, used: 70000, utilization: 99 }),
      samples: "0, 0, 0\n2, 0, 0\n5, 99, 70000\n",
    },
    states: { 0: unused, 2: unused, 5: busyByUse },
  },
  {
    id: "gpu-027",
    what: "cards of different speed",
    look: {
      list: row(0, { name: "NVIDIA RTX A4000" }) +
        row(1, { uuid: uuidB, name: "NVIDIA RTX A6000", used: 45000, utilization: 99 }),
    },
    states: { 0: unused, 1: busyByUse },
  },
  {
    id: "gpu-028",
    what: "names with brackets, quotes and commas",
    look: {
      list: row(0, { name: "TITAN X (Pascal)", used: 7829, total: 12189, utilization: 3 }) +
        row(1, { uuid: uuidB, name: "NVIDIA Graphics Device", used: 0 }) +
        row(2, { uuid: uuidC, name: '"ACME GPU, rev 2"', used: 0, total: 100 }) +
        row(3, { uuid: uuidD, name: "ACME GPU, rev 2", used: 0, total: 100 }),
    },
    states: { 0: busyByMemory, 1: unused, 2: unused, 3: unused },
  },
  {
    id: "gpu-031",
    what: "readings that need a permission",
    look: {
      list: row(0, {
        used: "[Insufficient Permissions]",
        total: "[Insufficient Permissions]",
        utilization: "[N/A]",
      }),
    },
    states: { 0: rowUnknown },
  },
  {
    id: "gpu-034",
    what: "a faulty card beside a healthy one",
    look: {
      list: row(0, { used: 0, utilization: "[N/A]" }) + row(1, { uuid: uuidB, used: 0 }),
    },
    states: { 0: rowUnknown, 1: unused },
  },
  {
    id: "a readable row, unreadable samples",
    what: "a sensor that answered once",
    look: { list: row(0), samples: "0, [N/A], [N/A]\n" },
    states: { 0: sampleUnknown },
  },
  {
    id: "an unreadable row, readable samples",
    what: "a sensor that failed once",
    look: { list: row(0, { used: "[N/A]" }), samples: "0, 0, 4\n" },
    states: { 0: rowUnknown },
  },
  {
    id: "half a row",
    what: "a row that ends after the name",
    look: { list: `0, ${uuidA}, NVIDIA A100\n`, samples: "0, 0, 4\n" },
    states: { 0: rowUnknown },
  },
  {
    id: "a torn row",
    what: "standard error in the middle of a row",
    look: { list: `0, ${uuidA}, NVIDIA A1WARNING: something\n00, 3, 81920, 0\n`, samples: "0, 0, 4\n" },
    states: { 0: "unknown (not_identified)" },
  },
  {
    id: "other columns",
    what: "uuid and index exchanged",
    look: { list: `${uuidA}, 0, NVIDIA A100, 3, 81920, 0\n`, samples: "0, 0, 4\n" },
    states: {},
  },
  {
    id: "thousands",
    what: "numbers in groups of three",
    look: { list: row(0, { used: "60,321", total: "81,920" }) },
    states: { 0: rowUnknown },
  },
  {
    id: "a sample of a GPU that is not in the list",
    what: "nothing for the one that is",
    look: { list: row(0), samples: "1, 0, 4\n" },
    states: { 0: "unknown (no_sample)" },
  },
  {
    id: "a driver that died between list and processes",
    what: "samples of an idle GPU, but no list of processes",
    look: {
      list: row(0),
      samples: "0, 0, 4\n",
      apps: "Unable to determine the device handle\n",
      appsStatus: 15,
    },
    states: { 0: "idle_held (process_list_unreadable)" },
  },
];

Deno.test.each(cases)("readServer() and judgeGpu() judge $id: $what", ({ look, states }) => {
  assert.deepEqual(statesOf(look), states);
});

Deno.test.each([
  [
    "gpu-004",
    15,
    "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
    "gpu_lost",
  ],
  [
    "gpu-006",
    18,
    "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n",
    "driver_mismatch",
  ],
  [
    "gpu-008",
    9,
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\nFailed to properly shut down NVML: Driver Not Loaded\n",
    "driver_not_loaded",
  ],
  ["gpu-009", 2, 'Field "utilization.gpu" is not a valid field to query.\n\n', "query_refused"],
])("readServer() finds no candidate and names the fault in %s", (_id, listStatus, list, kind) => {
  const reading = readLook({ list, listStatus, samples: "0, 0, 4\n" });
  assert.deepEqual(reading.gpus, []);
  assert.equal(reading.gpuList.fault?.kind, kind);
});

Deno.test("readServer() keeps a warning of nvidia-smi to show it (gpu-010)", () => {
  const reading = readLook({
    list: `${row(0)}WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n`,
    listStatus: 14,
  });
  assert.deepEqual(reading.gpuList.notes, ["WARNING: infoROM is corrupted at gpu 0000:B3:00.0"]);
});
