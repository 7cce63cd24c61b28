import assert from "node:assert/strict";
import { judgeGpu } from "../../lib/gpu/judge.ts";
import { probeScript } from "../../lib/gpu/probe.ts";
import { readServer } from "../../lib/gpu/reading.ts";
import type { Transcript } from "../../lib/ssh/framing.ts";
import { runRemotely, sentText } from "../remote_shell.ts";
import { onUnix, runShell, shells, temporaryFolder, writePrograms } from "../shell.ts";
import { pmonHeader, row, thresholds, uuidA, uuidB } from "./look.ts";

/** A stand-in for nvidia-smi that prints these texts. */
function nvidiaSmi(answers: { list: string; samples?: string; pmon?: string; apps?: string }): string {
  const print = (text: string) => `printf '%s' '${text}'`;
  return `case "$*" in
    *memory.total*) ${print(answers.list)} ;;
    *-lms*) ${print(answers.samples ?? "")}; exec sleep 5 ;;
    pmon*) ${print(answers.pmon ?? "")} ;;
    *compute-apps*) ${print(answers.apps ?? "")} ;;
    *) exit 2 ;;
  esac`;
}

/** Looks at this machine as at a server whose programs are these. */
async function probe(
  shell: readonly string[],
  programs: Readonly<Record<string, string>>,
  seconds: number,
): Promise<{ transcript: Transcript; asked: string }> {
  await using folder = await temporaryFolder();
  const asked = `${folder.path}/asked`;
  await Deno.writeTextFile(asked, "");
  await writePrograms(`${folder.path}/bin`, {
    ps: `echo "$*" >>'${asked}'; echo alice 90000`,
    ...programs,
  });
  const script = probeScript("~/work", { seconds, intervalMs: 100 });
  const { transcript } = await runRemotely(script, folder.path, { shell });
  return { transcript, asked: await Deno.readTextFile(asked) };
}

for (const shell of shells) {
  const name = shell.join(" ");

  Deno.test(`probeScript() is POSIX shell to ${name}`, async () => {
    for (
      const script of [probeScript("~/work", null), probeScript("~/work", { seconds: 10, intervalMs: 500 })]
    ) {
      const { code, stderr } = await runShell(`${shell.join(" ")} -n <<'END'\n${sentText(script)}\nEND`);
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    }
  });

  Deno.test(`probeScript() collects all five sources in ${name}`, async () => {
    const { transcript, asked } = await probe(shell, {
      "nvidia-smi": nvidiaSmi({
        list: row(0) + row(1, { uuid: uuidB }),
        samples: "0, 0, 3\n1, 74, 5\n0, 1, 3\n1, 0, 5\n0, 9",
        pmon: `${pmonHeader}    0  77  C  3  -  -  -  -  -  python\n    1  2496  G  -  -  -  -  -  -  Xorg\n`,
        apps: `${uuidA}, 77, 12\n${uuidB}, 78, 5\n`,
      }),
    }, 1);
    assert.equal(transcript.complete, true);
    const { gpus } = readServer(transcript, false);
    assert.deepEqual(
      gpus.map((gpu) => [
        judgeGpu(gpu, thresholds).state,
        gpu.samples.length,
        ...gpu.processes.map((it) => `${it.pid} ${it.smMaxPercent} ${it.usedMemoryMib}`),
      ]),
      [["idle_held", 2, "77 3 12"], ["busy", 2, "78 null 5"]],
    );
    // BusyBox's shell runs its own ps, whatever the PATH.
    if (name.startsWith("busybox")) return;
    assert.deepEqual(gpus.map(({ processes }) => processes.map((it) => `${it.user} ${it.elapsedSec}`)), [
      ["alice 90000"],
      ["alice 90000"],
    ]);
    assert.equal(asked, "-o user=,etimes= -p 77\n-o user=,etimes= -p 78\n");
  });

  Deno.test(`probeScript() takes one instant reading in ${name}`, async () => {
    const { transcript } = await probe(shell, { "nvidia-smi": nvidiaSmi({ list: row(0) }) }, 0);
    assert.deepEqual(
      transcript.sections.map(({ name, status }) => `${name} ${status}`),
      ["facts 0", "jobs 0", "gpu_list 0", "apps 0", "ages 0", "claims 0"],
    );
    const { gpus } = readServer(transcript, true);
    assert.deepEqual(gpus.map((gpu) => judgeGpu(gpu, thresholds).state), ["unused"]);
  });
}

Deno.test("probeScript() asks ps about nothing that is no process number", onUnix, async () => {
  const { asked } = await probe(["sh"], {
    "nvidia-smi": nvidiaSmi({
      list: row(0),
      apps: [
        `${uuidA}, 1;reboot, 5`,
        `${uuidA}, $(id), 5`,
        `${uuidA}, -1, 5`,
        `${uuidA}, 0, 5`,
        `${uuidA}, 4194305, 5`,
        `${uuidA}, 173015040, 5`,
        `${uuidA}, 077, 5`,
        `${uuidA.toLowerCase()} , 42 , 5`,
        `${uuidB}, 42, 5\r`,
      ].join("\n") + "\n",
    }),
  }, 0);
  assert.equal(asked, "-o user=,etimes= -p 42\n");
});

Deno.test(
  "probeScript() does not hold a young process for gone because the others' owners took long",
  onUnix,
  async () => {
    const pids = [71, 72, 73, 74];
    const { transcript } = await probe(["sh"], {
      "nvidia-smi": nvidiaSmi({ list: row(0), apps: pids.map((pid) => `${uuidA}, ${pid}, 5\n`).join("") }),
      ps: 'sleep 1; case "$4" in 71) echo bob 1 ;; *) echo bob 90 ;; esac',
    }, 0);
    const { gpus } = readServer(transcript, true);
    assert.deepEqual(gpus[0]?.processes.map(({ gone }) => gone), [false, false, false, false]);
  },
);

Deno.test("probeScript() tells a missing nvidia-smi from one that fails", onUnix, async () => {
  const missing = await probe(["sh"], { timeout: `shift 3; exec "$@"` }, 0);
  assert.equal(readServer(missing.transcript, true).gpuList.fault?.kind, "not_installed");
  const failing = await probe(["sh"], {
    "nvidia-smi": "echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18",
  }, 0);
  assert.equal(readServer(failing.transcript, true).gpuList.fault?.kind, "driver_mismatch");
});

Deno.test("probeScript() finds owner and age itself where ps does not know the question", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const { transcript } = await probe(["sh"], {
    "nvidia-smi": nvidiaSmi({ list: row(0), apps: `${uuidA}, 1, 5\n` }),
    ps: `echo "ps: bad -o argument 'etimes'" >&2; exit 1`,
    stat: "echo root",
  }, 0);
  const [owner] = readServer(transcript, true).gpus[0]?.processes ?? [];
  assert.equal(owner?.user, "root");
  assert.ok((owner?.elapsedSec ?? -1) >= 0);
});

Deno.test("probeScript() asks for the whole name where ps cuts it short", onUnix, async () => {
  const { transcript } = await probe(["sh"], {
    "nvidia-smi": nvidiaSmi({ list: row(0), apps: `${uuidA}, 1, 5\n` }),
    ps: "echo 'libvirt+ 864000'",
    stat: "echo libvirt-qemu",
  }, 0);
  const [owner] = readServer(transcript, true).gpus[0]?.processes ?? [];
  assert.deepEqual([owner?.user, owner?.userTruncated, owner?.elapsedSec], ["libvirt-qemu", false, 864000]);
});
