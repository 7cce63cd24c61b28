/** What the stand-in programs answer to a scenario; run as a login runs them, without ssh. */

import assert from "node:assert/strict";
import { type Home, makeHome } from "./home.ts";
import { HIDING, needing } from "./requirements.ts";
import { gpuUuid, renderScenario } from "./scenario.ts";
import {
  absent,
  alice,
  busy,
  deadDriver,
  flipping,
  hanging,
  holder,
  mig,
  noReading,
  quiet,
} from "./scenarios.ts";
import type { ServerOptions } from "./types.ts";
import { firstLine } from "./waiting.ts";

const GPUS = "nvidia-smi --query-gpu=index,uuid,name,memory.used,memory.total,utilization.gpu " +
  "--format=csv,noheader,nounits";
const SAMPLES = "nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits -lms";
const PMON = "nvidia-smi pmon -s u -d 1 -c";
const APPS = "nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits";

const PMON_HEADER = "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command \n" +
  "# Idx           #    C/G      %      %      %      %      %      %    name \n";

interface Answer {
  readonly code: number;
  readonly stdout: string;
}

type Run = (command: string) => Promise<Answer>;

type Options = Omit<ServerOptions, "name"> & { readonly needs?: readonly string[] };

/** A test with a home of its own, and a way to run commands in it. */
function test(
  name: string,
  { needs = [], ...options }: Options,
  fn: (run: Run, home: Home) => Promise<void>,
) {
  const head = needing(needs, name);
  Deno.test(head.name, { ignore: head.ignore }, async () => {
    const root = await Deno.makeTempDir({ dir: "/tmp", prefix: "lab-" });
    try {
      const home = await makeHome(root, { name: "Newton", ...options }, "hasegawa", 0);
      await fn((command) => run(home, command), home);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  });
}

async function run(home: Home, command: string): Promise<Answer> {
  const { code, stdout } = await shell(home, command).output();
  return { code, stdout: new TextDecoder().decode(stdout) };
}

function shell(home: Home, command: string): Deno.Command {
  const [program = "", ...args] = home.shell;
  return new Deno.Command(program, {
    args: [...args, "-c", command],
    cwd: home.path,
    clearEnv: true,
    env: { ...home.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

test("nvidia-smi lists the GPUs", {
  scenario: { gpus: [{}, { index: 5, name: "A, B", memoryTotal: "[N/A]" }] },
}, async (run) => {
  assert.deepEqual(await run(GPUS), {
    code: 0,
    stdout: `0, ${gpuUuid(0, 0)}, NVIDIA RTX A6000, 3, 49140, 0\n5, ${gpuUuid(0, 5)}, A, B, 3, [N/A], 0\n`,
  });
});

test("nvidia-smi -lms replays the frames, each GPU's in its own turn", {
  scenario: {
    gpus: [
      { frames: [{ utilization: 0, memory: 1 }, { utilization: 74, memory: 2 }] },
      {
        frames: [{ utilization: 5, memory: 3 }, { utilization: "[N/A]", memory: 4 }, {
          utilization: 7,
          memory: 5,
        }],
      },
    ],
  },
}, async (run) => {
  const { stdout } = await run(`${SAMPLES} 1 | head -n 14`);
  const rounds = ["0, 0, 1\n1, 5, 3", "0, 74, 2\n1, [N/A], 4", "0, 0, 1\n1, 7, 5", "0, 74, 2\n1, 5, 3"];
  rounds.push("0, 0, 1\n1, [N/A], 4", "0, 74, 2\n1, 7, 5", "0, 0, 1\n1, 5, 3");
  assert.equal(stdout, `${rounds.join("\n")}\n`);
});

test("nvidia-smi -lms goes on until it is ended", { scenario: quiet() }, async (run) => {
  const { code, stdout } = await run(`timeout 0.5 ${SAMPLES} 50`);
  assert.equal(code, 124);
  assert.match(stdout, /^(0, 0, 3\n)+$/);
});

test("nvidia-smi pmon prints so many rounds under one header", { scenario: flipping }, async (run) => {
  const row = (sm: string) =>
    `    0      41234     C ${sm}      -      -      -      -      -    python         \n`;
  assert.equal((await run(`${PMON} 2`)).stdout, `${PMON_HEADER}${row("     0")}${row("    71")}`);
});

test("nvidia-smi pmon shows graphics too, and a row for a GPU without a process", {
  scenario: {
    gpus: [
      { processes: [{ pid: 7, type: "G", command: "/usr/lib/xorg/Xorg" }, { pid: 8, type: "C+G" }] },
      {},
    ],
  },
}, async (run) => {
  assert.equal(
    (await run(`${PMON} 1`)).stdout,
    `${PMON_HEADER}` +
      "    0          7     G      -      -      -      -      -      -    /usr/lib/xorg/X\n" +
      "    0          8   C+G      -      -      -      -      -      -    python         \n" +
      "    1          -     -      -      -      -      -      -      -    -              \n",
  );
  assert.equal((await run(APPS)).stdout, `${gpuUuid(0, 0)}, 8, [N/A]\n`);
});

test("nvidia-smi refuses what it was not made for", { scenario: quiet() }, async (run) => {
  for (
    const command of ["nvidia-smi", "nvidia-smi -L", `${GPUS} -i 0`, `${SAMPLES} x`, `${PMON} 0`, `${APPS},x`]
  ) {
    const { code, stdout } = await run(command);
    assert.deepEqual([code, stdout.split(".")[0]], [1, "Invalid combination of input arguments"], command);
  }
});

test("ps knows the processes of the scenario as the real one would", { scenario: holder }, async (run) => {
  assert.deepEqual(await run(`ps -o user=,etimes= -p ${alice.pid}`), {
    code: 0,
    stdout: "alice      99720\n",
  });
});

test("ps cuts a long name, and does not know a process without an owner", {
  scenario: { gpus: [{ processes: [{ pid: 4_000_001, user: "libvirt-qemu" }, { pid: 4_000_002 }] }] },
}, async (run) => {
  assert.equal((await run("ps -o user=,etimes= -p 4000001")).stdout, "libvirt+      60\n");
  assert.deepEqual(await run("ps -o user=,etimes= -p 4000002"), { code: 1, stdout: "" });
});

test("ps is the real one for all else", { scenario: holder }, async (run) => {
  for (
    const command of [
      "ps -o user=,etimes= -p 1",
      "ps -o comm= -p 1",
      `ps -o comm= -p ${alice.pid}`,
      "ps -Z -Z -q",
    ]
  ) {
    // A second may pass between the two.
    const ageless = (
      { code, stdout }: { code: number; stdout: string },
    ) => [code, stdout.replace(/\d+\n$/, "AGE\n")];
    assert.deepEqual(
      ageless(await run(command)),
      ageless(await run(command.replace("ps", "/bin/ps"))),
      command,
    );
  }
});

test("uv run is the command with its arguments unchanged", {}, async (run) => {
  const { stdout, code } = await run("~/.local/bin/uv run printf '<%s>' 'a  b' '' -- \"'\\\"\" '*'");
  assert.deepEqual([stdout, code], ["<a  b><><--><'\"><*>", 0]);
  assert.equal((await run("~/.local/bin/uv run sh -c 'exit 9'")).code, 9);
  assert.equal((await run("~/.local/bin/uv sync")).code, 2);
});

test("a raw answer takes the place of what the GPUs give", {
  scenario: {
    gpus: [{ processes: [{ pid: 41, user: "bob" }] }],
    answers: {
      gpus: { text: "0, it's %s \\n cut", status: 14 },
      samples: { text: "0, 9" },
      pmon: { text: "# gpu\n" },
      apps: { text: "", stderr: "no permission\n", status: 4 },
      ps: { 41: { text: "alice         -1\n" }, 42: { status: 1 } },
    },
  },
}, async (run) => {
  assert.deepEqual(await run(GPUS), { code: 14, stdout: "0, it's %s \\n cut" });
  assert.deepEqual(await run(`${SAMPLES} 100`), { code: 0, stdout: "0, 9" });
  assert.deepEqual(await run(`${PMON} 5`), { code: 0, stdout: "# gpu\n" });
  assert.deepEqual(await run(`${APPS} 2>&1`), { code: 4, stdout: "no permission\n" });
  assert.deepEqual(await run("ps -o user=,etimes= -p 41"), { code: 0, stdout: "alice         -1\n" });
  assert.deepEqual(await run("ps -o user=,etimes= -p 42"), { code: 1, stdout: "" });
});

test("a dead driver answers all four alike", { scenario: deadDriver }, async (run) => {
  for (const command of [GPUS, `${SAMPLES} 100`, `${PMON} 1`, APPS]) {
    const { code, stdout } = await run(command);
    assert.equal(code, 9, command);
    assert.match(
      stdout,
      /^NVIDIA-SMI has failed .*\n\nFailed to properly shut down NVML: Driver Not Loaded\n$/,
    );
  }
});

test("a hanging nvidia-smi ends by SIGTERM alone", { scenario: hanging }, async (run) => {
  assert.deepEqual(await run(`timeout 0.2 ${GPUS}`), { code: 124, stdout: "" });
});

test("an enduring hang needs SIGKILL, after its text", {
  scenario: { answers: { pmon: { text: "# gpu\n", hang: "enduring" } } },
}, async (run) => {
  assert.deepEqual(await run(`timeout -k 0.1 1 ${PMON} 1`), { code: 137, stdout: "# gpu\n" });
});

test("without a reading the list is there and the samples are not", { scenario: noReading }, async (run) => {
  assert.match((await run(GPUS)).stdout, /^0, GPU-/);
  assert.deepEqual(await run(`${SAMPLES} 100`), { code: 0, stdout: "" });
});

test("a MIG GPU has no utilisation", { scenario: mig }, async (run) => {
  assert.match((await run(GPUS)).stdout, /, 44, 81559, \[N\/A\]\n$/);
});

test("nvidia-smi can be absent, and be there again", { scenario: absent }, async (run, home) => {
  assert.equal((await run("command -v nvidia-smi")).code, 127);
  await home.setScenario(quiet());
  assert.equal((await run(GPUS)).code, 0);
});

test("a scenario changes under a running nvidia-smi", { scenario: quiet() }, async (_run, home) => {
  await using watch = shell(home, `${SAMPLES} 10 | grep --line-buffered 41200`).spawn();
  await home.setScenario(busy);
  assert.match(await firstLine(watch.stdout), /^0, 9[79], 41200$/);
  await Promise.all([watch.stderr.cancel(), watch.status]);
});

test("hidden programs are not installed, and the others are", {
  tmux: false,
  hide: ["timeout", "ps"],
  uv: false,
  needs: [HIDING],
}, async (run) => {
  for (const program of ["tmux", "timeout", "ps", "/usr/bin/tmux", "~/.local/bin/uv"]) {
    assert.equal((await run(`PATH=$PATH:/usr/bin; command -v ${program}`)).code, 127, program);
    assert.equal((await run(`env ${program}`)).code, 127, program);
  }
  assert.equal((await run("printf 'b\\na\\n' | sort | head -n 1; touch ~/file")).stdout, "a\n");
});

test("programs of a server's own come before the real ones", {
  programs: { tar: "#!/bin/sh\necho old tar\n" },
}, async (run) => {
  assert.equal((await run("tar --version")).stdout, "old tar\n");
});

Deno.test("renderScenario() refuses cycles that hardly ever meet", () => {
  const frames = (count: number) => Array.from({ length: count }, () => ({ utilization: 0, memory: 0 }));
  assert.throws(() => renderScenario({ gpus: [{ frames: frames(97) }, { frames: frames(89) }] }), RangeError);
});
