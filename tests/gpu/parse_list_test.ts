import assert from "node:assert/strict";
import { parseGpuList } from "../../lib/gpu/parse.ts";
import { row, uuidA, uuidB, uuidC } from "./look.ts";

/** `[index, uuid, name, used, total, utilization]` of each row. */
function rowsOf(text: string, status: number | null = 0) {
  return parseGpuList(text, status).rows.map((gpu) => [
    gpu.index,
    gpu.uuid,
    gpu.name,
    gpu.memoryUsedMib,
    gpu.memoryTotalMib,
    gpu.utilizationPercent,
  ]);
}

Deno.test("parseGpuList() reads index, uuid, name, memory and utilisation of each row", () => {
  assert.deepEqual(
    parseGpuList(
      `0, ${uuidA}, NVIDIA A100-SXM4-80GB, 3, 81920, 0\n1, ${uuidB}, NVIDIA A100-SXM4-80GB, 60321, 81920, 97\n`,
      0,
    ),
    {
      rows: [
        {
          index: 0,
          uuid: uuidA,
          name: "NVIDIA A100-SXM4-80GB",
          memoryUsedMib: 3,
          memoryTotalMib: 81920,
          utilizationPercent: 0,
        },
        {
          index: 1,
          uuid: uuidB,
          name: "NVIDIA A100-SXM4-80GB",
          memoryUsedMib: 60321,
          memoryTotalMib: 81920,
          utilizationPercent: 97,
        },
      ],
      fault: null,
      notes: [],
    },
  );
});

Deno.test.each([
  ["[N/A]"],
  ["N/A"],
  ["[Not Supported]"],
  ["[Unknown Error]"],
  ["[GPU is lost]"],
  ["[Insufficient Permissions]"],
  ["ERR!"],
  [""],
  ["-"],
  ["-1"],
  ["+5"],
  ["0x5"],
  ["5.0"],
  ["5e0"],
  ["5 %"],
  ["5\u0000"],
  ["٥"],
  ["５"],
  ["NaN"],
  ["Infinity"],
  ["101"],
  ["4294967295"],
  ["99999999999999999999"],
])("parseGpuList() takes the utilisation %s for no reading", (field) => {
  assert.deepEqual(rowsOf(row(0, { utilization: field })), [[0, uuidA, "NVIDIA A100", 3, 81920, null]]);
});

Deno.test.each([["[N/A]"], ["[Insufficient Permissions]"], ["3 MiB"], ["-3"], ["3.5"], ["999999999"]])(
  "parseGpuList() takes the memory %s for no reading",
  (field) => {
    assert.deepEqual(rowsOf(row(0, { used: field, total: field })), [[
      0,
      uuidA,
      "NVIDIA A100",
      null,
      null,
      0,
    ]]);
  },
);

Deno.test.each([
  ["1,024", "81920", "0"],
  ["60,321", "81,920", "0"],
  ["3", "81,920", "0"],
  ["3", "81920", "0,5"],
])(
  "parseGpuList() reads nothing out of numbers with a comma inside: %s, %s, %s",
  (used, total, utilization) => {
    const [gpu] = rowsOf(row(0, { used, total, utilization }));
    assert.equal(gpu?.[0], 0);
    assert.deepEqual(gpu?.slice(3), [null, null, null]);
  },
);

Deno.test.each([
  ["TITAN X (Pascal)", "TITAN X (Pascal)"],
  ['"ACME GPU, rev 2"', '"ACME GPU, rev 2"'],
  ["ACME GPU, rev 2", "ACME GPU, rev 2"],
  ["ACME,GPU,2", "ACME,GPU,2"],
  ["NVIDIA H100L-2-24C", "NVIDIA H100L-2-24C"],
  ["試作 GPU", "試作 GPU"],
  ["a\u001b[2Jb\u202e", "a\\x1b[2Jb\\u202e"],
  ["", ""],
])("parseGpuList() takes everything between uuid and numbers for the name: %s", (name, shown) => {
  assert.deepEqual(rowsOf(row(2, { name })), [[2, uuidA, shown, 3, 81920, 0]]);
});

Deno.test.each([["[N/A]"], [""], ["0"], ["GPU"], ["00000000:01:00.0"], ["GPU-aaaa bbbb"]])(
  "parseGpuList() has no uuid for a GPU whose uuid is %s",
  (uuid) => {
    assert.deepEqual(rowsOf(row(0, { uuid })), [[0, null, "NVIDIA A100", 3, 81920, 0]]);
  },
);

Deno.test("parseGpuList() takes indexes as they are told, with gaps and in any order", () => {
  const text = row(5, { uuid: uuidC }) + row(0) + row(2, { uuid: uuidB });
  assert.deepEqual(rowsOf(text).map(([index]) => index), [5, 0, 2]);
});

Deno.test.each([
  ["one index twice", row(0) + row(0, { uuid: uuidB }), [[0, null]]],
  ["one uuid twice", row(0) + row(1), [[0, null], [1, null]]],
  ["one uuid twice in other letters", row(0) + row(1, { uuid: uuidA.toLowerCase() }), [[0, null], [1, null]]],
  ["one row twice", row(0) + row(0), [[0, null]]],
  ["two without uuid", row(0, { uuid: "[N/A]" }) + row(1, { uuid: "[N/A]" }), [[0, null], [1, null]]],
])("parseGpuList() cannot tell GPUs apart that share %s", (_what, text, expected) => {
  assert.deepEqual(rowsOf(text).map(([index, uuid]) => [index, uuid]), expected);
});

Deno.test.each([
  ["its name and all numbers", `0, ${uuidA}\n`],
  ["all numbers", `0, ${uuidA}, NVIDIA A100\n`],
  ["the utilisation", `0, ${uuidA}, NVIDIA A100, 3, 81920\n`],
  ["everything but the index", "0, [GPU is lost]\n"],
])("parseGpuList() keeps a row that lacks %s as a GPU without readings", (_what, text) => {
  const gpus = rowsOf(text + row(1, { uuid: uuidB }));
  assert.deepEqual(gpus.map(([index, , , ...readings]) => [index, ...readings]), [
    [0, null, null, null],
    [1, 3, 81920, 0],
  ]);
});

Deno.test("parseGpuList() reads rows that end in CR LF, blank lines between, and a byte order mark before", () => {
  const text = `\ufeff${row(0).replace("\n", "\r\n")}\r\n\n${row(1, { uuid: uuidB }).trimEnd()}\r`;
  assert.deepEqual(rowsOf(text).map(([index, , , used, , utilization]) => [index, used, utilization]), [
    [0, 3, 0],
    [1, 3, 0],
  ]);
});

Deno.test("parseGpuList() drops a last line without line feed when the program failed", () => {
  assert.deepEqual(rowsOf(row(0) + row(1, { uuid: uuidB }).trimEnd(), 9).map(([index]) => index), [0]);
});

Deno.test("parseGpuList() keeps lines that are no rows as notes, made safe to show", () => {
  const { rows, fault, notes } = parseGpuList(
    `index, uuid, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%]\n${row(0)}` +
      "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\u001b[2J\n",
    14,
  );
  assert.deepEqual(rows.map(({ index }) => index), [0]);
  assert.equal(fault, null);
  assert.deepEqual(notes, [
    "index, uuid, name, memory.used [MiB], memory.total [MiB], utilization.gpu [%]",
    "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\\x1b[2J",
  ]);
});

Deno.test.each([
  [127, "sh: 1: nvidia-smi: not found\n", "not_installed", "sh: 1: nvidia-smi: not found"],
  [126, "sh: 1: nvidia-smi: Permission denied\n", "not_installed", "sh: 1: nvidia-smi: Permission denied"],
  [
    18,
    "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n",
    "driver_mismatch",
    "Failed to initialize NVML: Driver/library version mismatch",
  ],
  [
    15,
    "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system to recover this GPU\n",
    "gpu_lost",
    "Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system to recover this GPU",
  ],
  [
    255,
    "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error\n",
    "gpu_lost",
    "Unable to determine the device handle for GPU0000:01:00.0: Unknown Error",
  ],
  [
    9,
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.\n\nFailed to properly shut down NVML: Driver Not Loaded\n",
    "driver_not_loaded",
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.",
  ],
  [
    2,
    'Field "utilization.gpu" is not a valid field to query.\n\n',
    "query_refused",
    'Field "utilization.gpu" is not a valid field to query.',
  ],
  [
    4,
    "Failed to initialize NVML: Insufficient Permissions\n",
    "permission",
    "Failed to initialize NVML: Insufficient Permissions",
  ],
  [0, "No devices were found\n", "no_gpu", "No devices were found"],
  [6, "No devices were found\n", "no_gpu", "No devices were found"],
  [0, "", "no_gpu", ""],
  [0, "\n \n", "no_gpu", ""],
  [1, "", "failed", ""],
  [0, "Something new\u0007\n", "failed", "Something new\\x07"],
  [124, "", "no_answer", ""],
  [137, row(0), "no_answer", ""],
  [143, "", "no_answer", ""],
  [null, row(0), "no_answer", ""],
])("parseGpuList() names the fault of status %i: %s", (status, text, kind, detail) => {
  const list = parseGpuList(text, status);
  assert.deepEqual(list.rows, []);
  assert.deepEqual(list.fault, { kind, detail });
});

Deno.test("parseGpuList() reads a line of a megabyte as one odd line", () => {
  const { rows, fault } = parseGpuList("x".repeat(1_000_000) + "\n", 0);
  assert.deepEqual(rows, []);
  assert.equal(fault?.kind, "failed");
});
