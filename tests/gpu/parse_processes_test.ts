import assert from "node:assert/strict";
import { parseComputeApps, parseOwner, parsePmon, parseSamples, readPid } from "../../lib/gpu/parse.ts";
import { pmonHeader, uuidA, uuidB } from "./look.ts";

/** `[utilisation, memory]` of each sample of GPU 0. */
function samplesOf(text: string) {
  return (parseSamples(text).get(0) ?? []).map((sample) => [sample.utilizationPercent, sample.memoryUsedMib]);
}

Deno.test("parseSamples() keeps the samples of each GPU in the order of time", () => {
  assert.deepEqual(
    [...parseSamples("1, 0, 4\n0, 3, 1024\n1, 74, 5\n0, 4, 1025\n")],
    [
      [1, [{ utilizationPercent: 0, memoryUsedMib: 4 }, { utilizationPercent: 74, memoryUsedMib: 5 }]],
      [0, [{ utilizationPercent: 3, memoryUsedMib: 1024 }, { utilizationPercent: 4, memoryUsedMib: 1025 }]],
    ],
  );
});

Deno.test.each([
  ["nothing", "", []],
  ["a last line without line feed", "0, 0, 4\n0, 0, 4", [[0, 4]]],
  ["nothing but a cut line", "0, 0, 4", []],
  ["CR LF", "0, 0, 4\r\n0, 74, 5\r\n", [[0, 4], [74, 5]]],
  ["a header", "index, utilization.gpu [%], memory.used [MiB]\n0, 0, 4\n", [[0, 4]]],
  ["a header again and again", "0, 0, 4\nindex, utilization.gpu, memory.used\n0, 1, 4\n", [[0, 4], [1, 4]]],
  ["a warning between", "0, 0, 4\nWARNING: infoROM is corrupted\n0, 1, 4\n", [[0, 4], [1, 4]]],
  ["blank lines between", "0, 0, 4\n\n \n0, 1, 4\n", [[0, 4], [1, 4]]],
])("parseSamples() reads %s", (_what, text, expected) => {
  assert.deepEqual(samplesOf(text), expected);
});

Deno.test.each([
  ["0, [GPU is lost], [GPU is lost]"],
  ["0, 9"],
  ["0, 0, 1,024"],
  ["0, 0 %, 4 MiB"],
  ["0, , "],
  ["0, -1, -1"],
  ["0"],
  ["Unable to determine the device handle for GPU 0000:01:00.0: GPU is lost.  Reboot the system"],
  ["[Unknown Error], [Unknown Error], [Unknown Error]"],
  ["0, 97\u0000, 22\u0000110"],
])("parseSamples() takes the moment of `%s` for one without a reading", (line) => {
  assert.deepEqual(samplesOf(`0, 0, 4\n${line}\n`), [[0, 4], [null, null]]);
});

Deno.test("parseSamples() reads a day of samples in no time", () => {
  const text = "0, 0, 4\n1, 0, 4\n".repeat(100_000);
  assert.equal(parseSamples(text).get(1)?.length, 100_000);
});

/** `gpu:pid:sm` of each process, and whether something stayed doubtful. */
function pmonOf(text: string) {
  const { processes, doubtful } = parsePmon(text);
  return { processes: processes.map((it) => `${it.gpuIndex}:${it.pid}:${it.smMaxPercent}`), doubtful };
}

Deno.test("parsePmon() takes the highest SM use of each process and skips moments without one", () => {
  const text = pmonHeader +
    "    0      11327     C      -      -      -      -      -      -    memhog         \n" +
    "    0      11345     C     12     10      -      -      -      -    gpu_burn       \n" +
    "    1      11345     C      3     10      -      -      -      -    gpu_burn       \n" +
    pmonHeader +
    "    0      11345     C     99     10      -      -      -      -    gpu_burn       \n" +
    "    0      11345     C      -      -      -      -      -      -    gpu_burn       \n";
  assert.deepEqual(pmonOf(text), { processes: ["0:11327:null", "0:11345:99", "1:11345:3"], doubtful: false });
});

Deno.test("parsePmon() finds the columns by the header's names", () => {
  const text = "# Idx pid  gpu  command  sm  type\n  x  77  3  python  41  C\n";
  assert.deepEqual(pmonOf(text), { processes: ["3:77:41"], doubtful: false });
});

Deno.test.each([
  ["nothing", "", [], false],
  ["only a header", pmonHeader, [], false],
  [
    "GPUs without a process",
    `${pmonHeader}    0          -     -      -      -      -      -      -      -    -\n`,
    [],
    false,
  ],
  ["rows without a header", "0 77 C 5 - - - - - python\n", ["0:77:5"], false],
  [
    "graphics",
    `${pmonHeader}0 2496 G - - - - - - gnome-shell\n0 2165 C+G - - - - - - kwin\n`,
    ["0:2165:null"],
    false,
  ],
  ["MPS clients", `${pmonHeader}0 9001 M+C 97 60 - - - - python\n`, ["0:9001:97"], false],
  ["an unknown type", `${pmonHeader}0 9001 - 97 60 - - - - python\n`, ["0:9001:97"], false],
  ["a half row", `${pmonHeader}0 9001\n`, ["0:9001:null"], false],
  ["a row cut at its end", `${pmonHeader}0 9001 C 97 60\n0 9002 C 9`, ["0:9001:97"], false],
  ["a name of blanks and figures", `${pmonHeader}0 4680 C 97 40 - - - - 7 99 C - -\n`, ["0:4680:97"], false],
  ["a sentence", "Not supported on the device(s)\nFailed to process command line.\n", [], false],
  ["a pid that cannot be", `${pmonHeader}0 4294967295 C 97 60 - - - - python\n`, [], true],
  ["a pid that is none", `${pmonHeader}0 ? C 97 60 - - - - python\n`, [], true],
  ["a row without pid", `${pmonHeader}0\n`, [], true],
  ["a process of no GPU", `${pmonHeader}[N/A] 77 C 97 60 - - - - python\n`, [], true],
  ["a process of a GPU below zero", `${pmonHeader}-1 77 C 97 60 - - - - python\n`, [], true],
  ["an SM use beyond 100", `${pmonHeader}0 77 C 101 60 - - - - python\n`, ["0:77:null"], false],
  ["CR LF", `${pmonHeader}0 77 C 5 - - - - - python\n`.replaceAll("\n", "\r\n"), ["0:77:5"], false],
  ["a header without the GPU", "# pid type sm\n 77 C 5\n", [], true],
  [
    "a second header, from a process's name",
    `${pmonHeader}0 77 C 5 - - - - - a\n# pid gpu type\n0 78 C 9 - - - - - b\n`,
    ["0:77:5", "0:78:9"],
    true,
  ],
])("parsePmon() reads %s", (_what, text, processes, doubtful) => {
  assert.deepEqual(pmonOf(text), { processes, doubtful });
});

Deno.test("parseComputeApps() reads one process on several GPUs, and several on one", () => {
  assert.deepEqual(parseComputeApps(`${uuidA}, 10734, 160\n${uuidB}, 10734, 161\n${uuidA}, 2, [N/A]\n`, 0), {
    apps: [
      { uuid: uuidA, pid: 10734, usedMemoryMib: 160 },
      { uuid: uuidB, pid: 10734, usedMemoryMib: 161 },
      { uuid: uuidA, pid: 2, usedMemoryMib: null },
    ],
    readable: true,
  });
});

Deno.test.each([
  ["an empty list", "", 0, true],
  ["a warning", "WARNING: infoROM is corrupted at gpu 0000:B3:00.0\n", 14, true],
  ["a program that failed", "", 9, false],
  ["a program that was stopped", `${uuidA}, 77, 5\n`, 124, false],
  ["an answer that never ended", `${uuidA}, 77, 5\n`, null, false],
  ["a last row without line feed after a warning", `${uuidA}, 77, 5`, 14, true],
  ["a last row that is cut", `${uuidA}, 7`, 0, false],
  ["a missing program", "sh: 1: nvidia-smi: not found\n", 127, false],
  ["a sentence", "Failed to initialize NVML: Unknown Error\n", 0, false],
  ["a header", "gpu_uuid, pid, used_gpu_memory [MiB]\n", 0, false],
  ["a row without memory", `${uuidA}, 77\n`, 0, false],
  ["a row with a field too many", `${uuidA}, 77, 1,024\n`, 0, false],
  ["a row without a GPU", "[N/A], 77, 5\n", 0, false],
  ["a row of a MIG slice", "MIG-11111111-1111-2222-3333-444444444444, 77, 5\n", 0, true],
  ["a memory without a number", `${uuidA}, 77, [Insufficient Permissions]\n`, 0, true],
])("parseComputeApps() tells whether it could read all: %s", (_what, text, status, readable) => {
  assert.equal(parseComputeApps(text, status).readable, readable);
});

Deno.test.each([
  ["0"],
  ["-1"],
  ["173015040"],
  ["4194305"],
  ["4294967295"],
  ["1;reboot"],
  ["$(id)"],
  ["`id`"],
  ["077"],
  ["7 8"],
  ["[N/A]"],
  ["１２"],
])("parseComputeApps() passes nothing on that is no process number: %s", (pid) => {
  assert.deepEqual(parseComputeApps(`${uuidA}, ${pid}, 5\n`, 0), { apps: [], readable: false });
});

Deno.test("readPid() takes the largest process number of Linux", () => {
  assert.equal(readPid(" 4194304 "), 4194304);
});

Deno.test.each([
  ["alice        90000\n", { user: "alice", elapsedSec: 90000 }],
  ["root         99720\n", { user: "root", elapsedSec: 99720 }],
  ["alice            0\n", { user: "alice", elapsedSec: 0 }],
  ["libvirt+    864000\n", { user: "libvirt+", elapsedSec: 864000, userTruncated: true }],
  ["CORP\\alice smith   3600\n", { user: "CORP\\alice smith", elapsedSec: 3600 }],
  ["alice@corp.example   60\n", { user: "alice@corp.example", elapsedSec: 60 }],
  ["domain users\\bob 5\n", { user: "domain users\\bob", elapsedSec: 5 }],
  ["1000        3600\n", { user: "1000", elapsedSec: 3600 }],
  ["alice           -1\n", { user: "alice", elapsedSec: null }],
  ["alice   4294967295\n", { user: "alice", elapsedSec: null }],
  ["alice   18446744073709551537\n", { user: "alice", elapsedSec: null }],
  ["alice    999999999\n", { user: "alice", elapsedSec: null }],
  ["alice\n", { user: "alice", elapsedSec: null }],
  ["alice   1-02:03:04\n", { user: "alice   1-02:03:04", elapsedSec: null }],
  ["al\u001b[2Jice  5\r\n", { user: "al\\x1b[2Jice", elapsedSec: 5 }],
  ["3600\n", { user: "3600", elapsedSec: null }],
])("parseOwner() reads %s", (text, expected) => {
  assert.deepEqual(parseOwner(text, 0), { userTruncated: false, gone: false, ...expected });
});

const nobody = { user: null, userTruncated: false, elapsedSec: null, gone: false };

Deno.test.each([
  ["a process that is gone", "", 1, { ...nobody, gone: true }],
  ["a process that is gone, and a blank line", "\n", 1, { ...nobody, gone: true }],
  ["a ps without etimes", "ps: bad -o argument 'etimes', supported arguments: user,group\n", 1, nobody],
  ["no ps", "sh: 1: ps: not found\n", 127, nobody],
  ["silence with status 0", "", 0, nobody],
  ["silence with status 2", "", 2, nobody],
  ["an answer that never ended", "alice 5", null, nobody],
])("parseOwner() names nobody for %s", (_what, text, status, expected) => {
  assert.deepEqual(parseOwner(text, status), expected);
});

Deno.test("parseOwner() takes a process younger than the list for another one with its number", () => {
  assert.deepEqual(parseOwner("bob  1\n", 0, 2), { ...nobody, gone: true });
  assert.equal(parseOwner("bob  2\n", 0, 2).user, "bob");
});
