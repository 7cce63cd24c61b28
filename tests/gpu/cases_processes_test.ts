/** Lists of processes and owners as machines have printed them, and what must be made of them. */

import assert from "node:assert/strict";
import { judgeLook, type Look, pmonHeader, row, statesOf, uuidA, uuidB } from "./look.ts";

const unused = "unused (below_thresholds)";
const held = "idle_held (compute_process)";
const listUnknown = "idle_held (process_list_unreadable)";

const idle = "0, 0, 4\n0, 0, 4\n";

/** One line of pmon. */
function pmonRow(gpu: number, pid: number | string, type: string, sm: number | string, command = "python") {
  return `    ${gpu}      ${pid}     ${type}     ${sm}      -      -      -      -      -    ${command}         \n`;
}

/** `pid user age sm memory` of each process of the first GPU. */
function holders(look: Look): string[] {
  return (judgeLook(look)[0]?.processes ?? []).map((it) =>
    [it.pid, it.user, it.elapsedSec, it.smMaxPercent, it.usedMemoryMib].map(String).join(" ")
  );
}

interface Case {
  readonly id: string;
  readonly what: string;
  readonly look: Omit<Look, "list"> & { readonly list?: string };
  readonly states: Record<number, string>;
  readonly holders?: string[];
}

const cases: Case[] = [
  {
    id: "apps-002",
    what: "two processes whose memory is hidden",
    look: { apps: `${uuidA}, 2140, [N/A]\n${uuidA}, 13160, [N/A]\n` },
    states: { 0: held },
    holders: ["2140 null null null null", "13160 null null null null"],
  },
  {
    id: "apps-003",
    what: "a process that needs a permission, and memory that tells",
    look: { list: row(0, { used: 9800 }), apps: `${uuidA}, 524, [Insufficient Permissions]\n` },
    states: { 0: "busy (memory_reached)" },
    holders: ["524 null null null null"],
  },
  {
    id: "apps-005",
    what: "one process on two GPUs",
    look: {
      list: row(0) + row(1, { uuid: uuidB }),
      apps: `${uuidA}, 10734, 160\n${uuidB}, 10734, 160\n`,
    },
    states: { 0: held, 1: held },
  },
  {
    id: "apps-007",
    what: "a uuid in other letters and with blanks",
    look: { apps: ` ${uuidA.toLowerCase()} , 777 , 12\n` },
    states: { 0: held },
    holders: ["777 null null null 12"],
  },
  {
    id: "apps-008",
    what: "a virtual machine's owner, cut short by ps",
    look: { apps: `${uuidA}, 4321, 8000\n`, ps: { 4321: "libvirt+     864000\n" } },
    states: { 0: held },
    holders: ["4321 libvirt+ 864000 null 8000"],
  },
  {
    id: "apps-009",
    what: "process numbers that cannot be",
    look: {
      apps: `${uuidA}, 173015040, 27817\n${uuidA}, 0, 173015040\n${uuidA}, 4294967295, 1\n`,
    },
    states: { 0: listUnknown },
    holders: [],
  },
  {
    id: "apps-011",
    what: "process numbers that are commands",
    look: { apps: `${uuidA}, 1;reboot, 5\n${uuidA}, $(id), 5\n${uuidA}, -1, 5\n` },
    states: { 0: listUnknown },
    holders: [],
  },
  {
    id: "gpu-032",
    what: "a desktop, of which one part computes",
    look: {
      list: row(0, { name: "NVIDIA GeForce RTX 4080 SUPER", used: 596, total: 16376 }),
      samples: "0, 0, 596\n0, 1, 596\n",
      pmon: pmonHeader + pmonRow(0, 2165, "C+G", "-", "kwin_wayland") +
        pmonRow(0, 2496, "G", "-", "plasma-keyboard") + pmonRow(0, 3527, "G", "-", "xwaylandvideobr"),
      apps: `${uuidA}, 2165, 25\n`,
      ps: { 2165: "alice        90000\n" },
    },
    states: { 0: held },
    holders: ["2165 alice 90000 null 25"],
  },
  {
    id: "pmon-001",
    what: "the narrow header of driver 545",
    look: {
      pmon: "# gpu         pid  type    sm    mem    enc    dec    command\n" +
        "# Idx           #   C/G     %      %      %      %    name\n" +
        "    0    1174916     C     88     54      -      -    python         \n" +
        "    0    1186862     C      -      -      -      -    python3         \n",
    },
    states: { 0: held },
    holders: ["1174916 null null 88 null", "1186862 null null null null"],
  },
  {
    id: "pmon-002",
    what: "two GPUs without a process",
    look: {
      list: row(0) + row(1, { uuid: uuidB }),
      samples: `${idle}1, 0, 4\n`,
      pmon: pmonHeader + pmonRow(0, "-", "-", "-", "-") + pmonRow(1, "-", "-", "-", "-"),
    },
    states: { 0: unused, 1: unused },
  },
  {
    id: "pmon-006",
    what: "a GPU that pmon leaves out: the list of processes is enough",
    look: {
      list: row(0) + row(4, { uuid: uuidB }),
      samples: `${idle}4, 0, 4\n`,
      pmon: pmonHeader + pmonRow(0, "-", "-", "-", "-"),
    },
    states: { 0: unused, 4: unused },
  },
  {
    id: "pmon-007",
    what: "one process without and one with SM use",
    look: {
      samples: "0, 99, 18256\n",
      pmon: pmonHeader + pmonRow(0, 11327, "C", "-", "memhog") + pmonRow(0, 11345, "C", 99, "gpu_burn"),
      apps: `${uuidA}, 11327, 2566\n${uuidA}, 11345, 15690\n`,
    },
    states: { 0: "busy (utilization_reached)" },
    holders: ["11327 null null null 2566", "11345 null null 99 15690"],
  },
  {
    id: "pmon-008",
    what: "mixed processes whose names have blanks",
    look: {
      pmon: pmonHeader + pmonRow(0, 2056, "C+G", "-", "dwm.exe") +
        pmonRow(0, 4680, "C+G", "-", "NVIDIA Share.exe"),
    },
    states: { 0: held },
    holders: ["2056 null null null null", "4680 null null null null"],
  },
  {
    id: "pmon-009",
    what: "process names made of figures and of control characters",
    look: {
      pmon: pmonHeader + pmonRow(0, 4680, "C", 97, "7 99 C - -") + pmonRow(0, 4681, "C", 1, "x\u001b[2Jy"),
    },
    states: { 0: held },
    holders: ["4680 null null 97 null", "4681 null null 1 null"],
  },
  {
    id: "pmon-012",
    what: "a container, where the two lists number a process differently",
    look: {
      samples: idle,
      apps: `${uuidA}, 324, 1200\n`,
      pmon: pmonHeader + pmonRow(0, 645400, "C", 13),
    },
    states: { 0: held },
    holders: ["324 null null null 1200", "645400 null null 13 null"],
  },
  {
    id: "pmon-014",
    what: "a process that computes nothing now, beside a desktop",
    look: {
      pmon: pmonHeader + pmonRow(0, 2165, "C+G", "-", "kwin_wayland") + pmonRow(0, 5021, "C", 0, "ffmpeg"),
    },
    states: { 0: held },
    holders: ["2165 null null null null", "5021 null null 0 null"],
  },
  {
    id: "pmon-014, graphics only",
    what: "a desktop that computes nothing",
    look: { pmon: pmonHeader + pmonRow(0, 2496, "G", "-", "gnome-shell") },
    states: { 0: unused },
    holders: [],
  },
  {
    id: "pmon-015",
    what: "an MPS server and its client",
    look: {
      samples: "0, 97, 1600\n",
      pmon: pmonHeader + pmonRow(0, 800, "M+C", "-", "nvidia-cuda-mps") + pmonRow(0, 9001, "M+C", 97),
      apps: `${uuidA}, 800, 30\n${uuidA}, 9001, 1500\n`,
      ps: { 800: "root        999999\n", 9001: "alice         3600\n" },
    },
    states: { 0: "busy (utilization_reached)" },
    holders: ["800 root 999999 null 30", "9001 alice 3600 97 1500"],
  },
  {
    id: "ps-001",
    what: "a ps that has no etimes",
    look: {
      apps: `${uuidA}, 77, 5\n`,
      ps: { 77: { text: "ps: bad -o argument 'etimes', supported arguments: user,group,comm\n", status: 1 } },
    },
    states: { 0: held },
    holders: ["77 null null null 5"],
  },
  {
    id: "ps-005",
    what: "ages that cannot be",
    look: {
      apps: `${uuidA}, 1, 5\n${uuidA}, 2, 5\n${uuidA}, 3, 5\n${uuidA}, 4, 5\n`,
      ps: {
        1: "alice         -1\n",
        2: "alice  4294967295\n",
        3: "alice  18446744073709551537\n",
        4: "alice\n",
      },
    },
    states: { 0: held },
    holders: ["1 alice null null 5", "2 alice null null 5", "3 alice null null 5", "4 alice null null 5"],
  },
  {
    id: "ps-007",
    what: "one process that is gone beside one that lives",
    look: {
      apps: `${uuidA}, 1, 5\n${uuidA}, 999999, 5\n`,
      ps: { 1: "root        1035\n", 999999: { text: "", status: 1 } },
    },
    states: { 0: held },
    holders: ["1 root 1035 null 5", "999999 null null null 5"],
  },
  {
    id: "ps-008",
    what: "owners from a directory service",
    look: {
      apps: `${uuidA}, 1, 5\n${uuidA}, 2, 5\n${uuidA}, 3, 5\n`,
      ps: { 1: "CORP\\alice smith   3600\n", 2: "alice@corp.example   60\n", 3: "domain users\\bob 5\n" },
    },
    states: { 0: held },
    holders: [
      "1 CORP\\alice smith 3600 null 5",
      "2 alice@corp.example 60 null 5",
      "3 domain users\\bob 5 null 5",
    ],
  },
  {
    id: "ps-009",
    what: "root, maybe for a container",
    look: { apps: `${uuidA}, 1, 5\n`, ps: { 1: "root         86400\n" } },
    states: { 0: held },
    holders: ["1 root 86400 null 5"],
  },
  {
    id: "ps-010",
    what: "a process number that another process has by now",
    look: { apps: `${uuidA}, 3000, 4000\n`, ps: { 3000: "bob              1\n" }, age: 3 },
    states: { 0: held },
    holders: ["3000 null null null 4000"],
  },
  {
    id: "ps-010, just born",
    what: "a process that began in the second before the list",
    look: { apps: `${uuidA}, 3000, 4000\n`, ps: { 3000: "bob              0\n" }, age: 1 },
    states: { 0: held },
    holders: ["3000 bob 0 null 4000"],
  },
  {
    id: "a process of an unlisted GPU",
    what: "which may be on any of them",
    look: { apps: `${uuidB}, 77, 5\n` },
    states: { 0: listUnknown },
    holders: [],
  },
  {
    id: "a process of a MIG slice",
    what: "which may be on any of them",
    look: { apps: "MIG-11111111-1111-2222-3333-444444444444, 77, 5\n" },
    states: { 0: listUnknown },
  },
  {
    id: "a pmon row of an unlisted GPU",
    what: "which may have been renumbered",
    look: { pmon: pmonHeader + pmonRow(1, 77, "C", 5) },
    states: { 0: listUnknown },
  },
  {
    id: "a pmon row without a process number",
    what: "which may be a process",
    look: { pmon: pmonHeader + pmonRow(0, "?", "C", 5) },
    states: { 0: listUnknown },
  },
  {
    id: "two GPUs of one uuid",
    what: "so that no process can be joined to either",
    look: { list: row(0) + row(1), apps: `${uuidA}, 77, 5\n` },
    states: { 0: "unknown (not_identified)", 1: "unknown (not_identified)" },
  },
];

Deno.test.each(cases)(
  "readServer() and judgeGpu() judge $id: $what",
  ({ look, states, holders: expected }) => {
    const whole: Look = { list: row(0), ...look };
    assert.deepEqual(statesOf(whole), states);
    if (expected !== undefined) assert.deepEqual(holders(whole), expected);
  },
);

Deno.test("readServer() knows one's own processes by the account", () => {
  const [gpu] = judgeLook({
    list: row(0),
    apps: `${uuidA}, 1, 5\n${uuidA}, 2, 5\n`,
    ps: { 1: "hasegawa 60\n", 2: "hasegawa2 60\n" },
  });
  assert.deepEqual(gpu?.processes.map(({ mine }) => mine), [true, false]);
});

Deno.test("readServer() gives each GPU the live jobs that claim it", () => {
  const look: Look = {
    list: row(0) + row(1, { uuid: uuidB }),
    claims: `${uuidA.toLowerCase()} exp1 1234\n${uuidA} exp2 5678\nnonsense\n${uuidB}\n`,
  };
  assert.deepEqual(judgeLook(look).map(({ jobs }) => jobs), [["exp1", "exp2"], []]);
  assert.deepEqual(statesOf(look), { 0: "idle_held (assigned_job)", 1: unused });
});
