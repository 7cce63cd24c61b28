import assert from "node:assert/strict";
import { type DoctorJson, doctorShape } from "../../lib/cli/doctor_json.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { startOpenSshLaboratory } from "../lab/openssh.ts";
import { HIDING, needing } from "../lab/requirements.ts";
import { absent, deadDriver, quiet } from "../lab/scenarios.ts";
import type { Laboratory, ServerOptions } from "../lab/types.ts";
import { steady, tell } from "./story.ts";

/** A `df` that knows of so many free KiB, whatever the disk of the tests has. */
const df = (freeKib: number) =>
  `#!/bin/sh\nprintf 'Filesystem 1024-blocks Used Available Capacity Mounted on\\n/dev/sda 9 9 ${freeKib} 9%% /\\n'\n`;
const roomy = { df: df(500_000_000) };

async function placeData(lab: Laboratory, ...names: string[]): Promise<void> {
  for (const name of names) {
    const folder = `${lab.server(name).home}/data/TIASJudgeModel`;
    await Deno.mkdir(folder, { recursive: true });
    await Deno.writeTextFile(`${folder}/patient_0001.dcm`, "");
  }
}

/** The findings that are not ok, as `id:level`, by server. */
function troubles(report: DoctorJson): Record<string, string[]> {
  return Object.fromEntries(report.groups.map(({ name, findings }) => [
    name ?? "here",
    findings.filter(({ level }) => level !== "ok").map(({ id, level }) => `${id}:${level}`),
  ]));
}

Deno.test({
  ...needing(["ssh", "tmux"], "doctor finds a healthy laboratory well, over one connection each"),
  async fn(t) {
    await using lab = await startLaboratory({
      servers: [
        { name: "Newton", scenario: quiet(2), programs: roomy },
        { name: "Archimedes", dataReady: false, shell: "bash", programs: roomy },
      ],
      jump: true,
    });
    await placeData(lab, "Newton");
    const project = await lab.project();
    for (const language of ["en", "ja"] as const) {
      const doctor = await tell(lab, project, ["doctor"], { language });
      assert.equal(doctor.code, 0, doctor.out + doctor.err);
      assert.equal(doctor.connections, 2);
      assert.ok(!doctor.out.includes("patient"), "no name of the data is told");
      const text = steady(doctor.out, lab).replace(/OpenSSH_.*/, "[SSH]").replaceAll(/:\d{4,5}\b/g, ":[PORT]")
        .replaceAll(/tmux \d\S*/g, "tmux [VERSION]").replaceAll(
          /tar \(GNU tar\) \S+/g,
          "tar (GNU tar) [VERSION]",
        )
        .replaceAll(/project-\w+/g, "project").replaceAll(/openssl|sha256sum|shasum/g, "[SHA256]")
        .replaceAll(/(?<=^ {2}\S+ {2}).*(systemd|KillUserProcesses).*$/gm, "[LOGOUT]");
      await t.assertSnapshot(text, { serializer: String });
    }
    const left = await Array.fromAsync(Deno.readDir(lab.server("Newton").home), ({ name }) => name);
    assert.deepEqual(left.filter((name) => name.includes("doctor")), [], "the trial file is gone");
  },
});

Deno.test({
  ...needing(["ssh", "tmux", HIDING], "doctor names what is wrong with each server of a broken laboratory"),
  async fn() {
    const broken: (ServerOptions & { trouble: string[] })[] = [
      { name: "Dead", behaviour: { dead: true }, trouble: ["connection:problem"] },
      { name: "Refusing", behaviour: { refuseAuthentication: true }, trouble: ["connection:problem"] },
      { name: "Closed", behaviour: { accountClosed: true }, trouble: ["connection:problem"] },
      { name: "Noisy", behaviour: { noise: "Welcome!\n日本語" }, trouble: ["noise:warning"] },
      { name: "Bare", tmux: false, trouble: ["tmux:warning"] },
      { name: "NoUv", uv: false, trouble: ["uv:problem"] },
      { name: "NoGpu", scenario: absent, trouble: ["gpu:problem"] },
      { name: "DeadDriver", scenario: deadDriver, trouble: ["gpu:problem"] },
      { name: "Full", programs: { df: df(1024) }, trouble: ["disk:problem"] },
      { name: "Tight", programs: { df: df(2_000_000) }, trouble: ["disk:warning"] },
      { name: "NoTar", hide: ["tar"], trouble: ["tar:problem"] },
      {
        name: "Skewed",
        programs: { ...roomy, date: `#!/bin/sh\necho $(($(exec /bin/date +%s) + 3600))\n` },
        trouble: ["clock:warning"],
      },
      {
        name: "Killing",
        programs: { ...roomy, busctl: "#!/bin/sh\necho b true\n", loginctl: "#!/bin/sh\necho Linger=no\n" },
        trouble: ["logout:problem"],
      },
      { name: "NoData", trouble: ["data_dir:problem"] },
      { name: "Blocked", trouble: ["remote_dir:problem"] },
    ];
    await using lab = await startLaboratory({
      servers: broken.map(({ trouble: _, ...server }) => ({ programs: roomy, ...server })),
    });
    await placeData(lab, ...broken.map(({ name }) => name).filter((name) => name !== "NoData"));
    await Deno.writeTextFile(`${lab.server("Blocked").home}/work`, "a file in the way");
    const project = await lab.project();

    const doctor = await tell(lab, project, ["doctor", "--json"]);
    assert.equal(doctor.code, 1, doctor.err);
    const report = doctorShape.parse(JSON.parse(doctor.out));
    assert.equal(report.all_well, false);
    assert.deepEqual(troubles(report), {
      here: [],
      ...Object.fromEntries(broken.map(({ name, trouble }) => [name, trouble])),
    });
    for (const { findings } of report.groups) {
      for (const { id, level, why, mend } of findings) {
        if (level !== "ok") assert.ok(why !== null && mend !== null, `${id} says why and what to do`);
      }
    }

    const one = await tell(lab, project, ["doctor", "--server", "NoUv"], { language: "ja" });
    assert.equal(one.code, 1);
    assert.equal(one.connections, 1);
    assert.match(
      one.out,
      /問題 {2}\S+\.local\/bin\/uv に uv がありません\n {6}影響: .*\n {6}対処: .*\n {8}ssh -F /,
    );
    assert.match(one.out, /問題 1 件，注意 0 件です\n$/);
  },
});

Deno.test({
  ...needing(["ssh"], "doctor tells what is wrong here, and then asks no server"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project();
    const file = `${project}/configs/remote.yaml`;
    const good = await Deno.readTextFile(file);

    await Deno.writeTextFile(file, good.replace("priority: 1", "priority: first"));
    const invalid = await tell(lab, project, ["doctor", "--json"]);
    assert.equal(invalid.code, 1, invalid.err);
    assert.equal(invalid.connections, 0);
    const report = doctorShape.parse(JSON.parse(invalid.out));
    assert.deepEqual(troubles(report), { here: ["configuration:problem"] });
    assert.match(report.groups[0]?.findings[0]?.what ?? "", /remote\.yaml:\d+:\d+: `servers\[0\]\.priority`/);

    await Deno.writeTextFile(file, good.replace("name: Newton", `name: ${Deno.hostname().split(".")[0]}`));
    const self = await tell(lab, project, ["doctor"]);
    assert.equal(self.code, 1);
    assert.equal(self.connections, 0);
    assert.match(self.out, /problem {2}This machine is .* itself; .*\n.*\n.*TIAS_REMOTE_ALLOW_SELF=1/);
    const allowed = await tell(lab, project, ["doctor"], { env: { TIAS_REMOTE_ALLOW_SELF: "1" } });
    assert.match(allowed.out, /ok {2}This machine has a server's name/);
    assert.equal(allowed.connections, 1);

    const noSsh = await tell(lab, project, ["doctor"], { env: { TIAS_REMOTE_SSH: "/nowhere/ssh" } });
    assert.equal(noSsh.code, 1);
    assert.match(noSsh.out, /problem {2}tias-remote was started without the right to run `\/nowhere\/ssh`/);
  },
});

Deno.test({
  ...needing(
    ["ssh", "sshd", "tmux", "fish"],
    "doctor examines real servers behind a real bastion, whatever their shell",
  ),
  async fn() {
    await using lab = await startOpenSshLaboratory({
      servers: [
        { name: "Newton", shell: "fish", programs: roomy },
        { name: "Archimedes", behaviour: { noise: "Welcome!\n" }, programs: roomy },
      ],
      jump: true,
    });
    await placeData(lab, "Newton", "Archimedes");
    const doctor = await tell(lab, await lab.project(), ["doctor", "--json"]);
    const report = doctorShape.parse(JSON.parse(doctor.out));
    assert.deepEqual(troubles(report), { here: [], Newton: [], Archimedes: ["noise:warning"] });
    assert.equal(doctor.code, 1, "a warning is something to mend");
    const sentences = report.groups.flatMap(({ findings }) => findings.map(({ what }) => what));
    assert.equal(sentences.filter((what) => / through \S+$/.test(what)).length, 2);
    assert.ok(sentences.includes("Login shell: fish"));
    assert.ok(sentences.includes("The login prints 9 byte(s) on standard output before any command"));
  },
});
