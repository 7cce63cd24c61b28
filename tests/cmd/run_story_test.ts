import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { openSshAvailable, startOpenSshLaboratory } from "../lab/openssh.ts";
import { HIDING, needing } from "../lab/requirements.ts";
import { busy, deadDriver, holder, quiet } from "../lab/scenarios.ts";
import type { Laboratory } from "../lab/types.ts";
import { steady, tell } from "./story.ts";

/** The whole life of two jobs; the same on simulated and on real servers. */
async function lifeOfJobs(lab: Laboratory, withTmux = true): Promise<void> {
  const project = await lab.project();
  await Deno.mkdir(`${project}/src/data`, { recursive: true });
  await Deno.mkdir(`${project}/data`);
  await Deno.writeTextFile(`${project}/src/data/モデル 1.py`, "code\n");
  await Deno.writeTextFile(`${project}/data/patient.txt`, "clinical\n");
  await Deno.writeTextFile(
    `${project}/job.sh`,
    `#!/bin/sh\nfor word in "$@"; do printf '<%s>' "$word"; done\nprintf '\\n%s %s %s\\n' "$CUDA_VISIBLE_DEVICES" "$CUDA_DEVICE_ORDER" "$X"\ncat "src/data/モデル 1.py"\nuntil [ -e go ]; do sleep 0.1; done\nexit 3\n`,
    { mode: 0o755 },
  );
  const words = ["a b", "", "'q'", '"', "$HOME", "`id`", "new\nline", "日本語", "--gpu", "--", "\\", "*"];
  const run = await tell(lab, project, [
    "run",
    "--name",
    "job1",
    "--observe",
    "0",
    "--env",
    "X=1 'y' $z",
    "--",
    "./job.sh",
    ...words,
  ]);
  assert.equal(run.code, 0, run.err);
  assert.equal(run.out, "Started job1 on Newton GPU 0\n");
  assert.match(
    steady(run.err, lab),
    withTmux
      ? /attach to it: ssh -F .* "tmux -L \[SOCKET\] attach -t '=job1'"\n$/
      : /follow it: tias-remote logs job1 -f\n$/,
  );
  assert.equal(run.connections, lab.servers.length + 1, "one for each server, one for the candidate");

  const again = await tell(lab, project, ["run", "--name", "job1", "--observe", "0", "--", "true"]);
  assert.equal(again.code, 1);
  assert.match(again.err, /error: A job named job1 is running on Newton\n/);

  const second = await tell(
    lab,
    project,
    ["run", "--name", "job10", "--observe", "0", "--", "sleep", "300"],
    {
      language: "ja",
    },
  );
  assert.equal(second.out, "job10 を Archimedes の GPU 0 で起動しました\n", second.err);

  const status = await tell(lab, project, ["status", "--observe", "0"]);
  assert.match(status.out, /^ +job1 +Newton +0 +running /m);
  assert.match(status.out, /^ +job10 +Archimedes +0 +running /m);
  assert.equal(status.connections, lab.servers.length);

  await Deno.writeTextFile(`${lab.server("Newton").home}/work/TIASJudgeModel/go`, "");
  const logs = await tell(lab, project, ["logs", "job1", "-f"]);
  assert.equal(logs.code, 1, "the job failed");
  assert.equal(logs.err, "job1 has ended on Newton: exit 3\n");
  assert.equal(logs.connections, lab.servers.length);
  const [first = "", ...rest] = steady(logs.out, lab).split("\n");
  assert.match(
    first,
    /^=== \[\[TIME\]\] start Newton GPU 0 \(GPU-\S+, NVIDIA RTX A6000\) CUDA_VISIBLE_DEVICES=0$/,
  );
  assert.equal(
    rest.join("\n"),
    `${words.map((word) => `<${word}>`).join("")}\n0 PCI_BUS_ID 1 'y' $z\ncode\n=== [[TIME]] exit 3\n`,
  );

  const kill = await tell(lab, project, ["kill", "job10"], { language: "ja" });
  assert.equal(kill.out, "Archimedes の job10 を止めました（exit 143）\n", kill.err);
  assert.equal(kill.connections, lab.servers.length);
  const dead = await tell(lab, project, ["kill", "job10"]);
  assert.equal(dead.code, 1);
  assert.match(dead.err, /error: job10 is not running: it ended on Archimedes \(exit 143\)/);
  const after = await tell(lab, project, ["status", "--observe", "0"], { language: "ja" });
  assert.match(after.out, /^ +job10 +Archimedes +0 +終了（exit 143） +\d+ 秒前$/m);

  const home = lab.server("Newton").home;
  await assert.rejects(Deno.stat(`${home}/work/TIASJudgeModel/data`), Deno.errors.NotFound);
  assert.equal((await Deno.stat(`${home}/work/TIASJudgeModel/job.sh`)).mode! & 0o777, 0o755);
}

Deno.test({
  ...needing(["ssh", "tmux"], "jobs are started, followed, listed and killed on simulated servers"),
  async fn() {
    await using lab = await startLaboratory({
      jump: true,
      servers: [{ name: "Newton", scenario: quiet(1) }, { name: "Archimedes", scenario: quiet(1) }],
    });
    await lifeOfJobs(lab);
  },
});

Deno.test({
  name: "jobs are started, followed, listed and killed on real OpenSSH servers behind a bastion",
  ignore: !openSshAvailable().available || needing(["tmux"], "").ignore === true,
  async fn() {
    await using lab = await startOpenSshLaboratory({
      jump: true,
      servers: [{ name: "Newton", scenario: quiet(1) }, { name: "Archimedes", scenario: quiet(1) }],
    });
    await lifeOfJobs(lab);
  },
});

Deno.test({
  ...needing(["ssh", HIDING], "jobs are kept by setsid where there is no tmux"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton", scenario: quiet(1), tmux: false }, {
        name: "Archimedes",
        scenario: quiet(1),
      }],
    });
    await lifeOfJobs(lab, false);
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "run tells a job that dies at once, with the end of its log"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    const ja = await tell(lab, project, [
      "run",
      "--name",
      "bad",
      "--observe",
      "0",
      "--",
      "sh",
      "-c",
      "echo oops; exit 7",
    ], {
      language: "ja",
    });
    assert.equal(ja.code, 1);
    assert.match(
      ja.err,
      / {2}oops\n {2}=== \[.*\] exit 7\nエラー: bad は Newton の GPU 0 で起動直後に終わりました：exit 7\nヒント: /,
    );
    const good = await tell(lab, project, ["run", "--name", "good", "--observe", "0", "--", "true"]);
    assert.equal(good.code, 0);
    assert.equal(good.out, "good has already finished on Newton GPU 0: exit 0\n");
  },
});

Deno.test({
  ...needing(
    ["ssh", "tmux"],
    "run looks once more before it starts, and takes the next GPU when somebody came",
  ),
  async fn() {
    // From the second question for processes on, dora is on GPU 0.
    const late = `#!/bin/sh
case "$*" in
  *index,uuid*) echo '0, GPU-00000001-0000-4000-8000-000000000000, NVIDIA RTX A6000, 3, 49140, 0' ;;
  *compute-apps*)
    if [ -e "$HOME/asked" ]; then echo 'GPU-00000001-0000-4000-8000-000000000000, 40404, 300'; fi
    : >"$HOME/asked" ;;
esac
`;
    await using lab = await startLaboratory({
      servers: [
        { name: "Newton", scenario: quiet(1), programs: { "nvidia-smi": late } },
        { name: "Archimedes", scenario: quiet(1) },
      ],
    });
    const project = await lab.project();
    const run = await tell(lab, project, ["run", "--name", "j", "--observe", "0", "--", "sleep", "30"]);
    assert.equal(run.code, 0, run.err);
    assert.match(
      run.err,
      /warning: Newton GPU 0: somebody has begun to use it \(.* 40404\)\nTrying the next one\n/,
    );
    assert.equal(run.out, "Started j on Archimedes GPU 0\n");
    assert.equal(run.connections, 2 + 2, "one for each server, one for each candidate tried");

    await Deno.remove(`${lab.server("Newton").home}/asked`);
    const named = await tell(lab, project, [
      ..."run --name k --observe 0 --server Newton --gpu 0 -- sleep 30".split(" "),
    ]);
    assert.equal(named.code, 1);
    assert.match(named.err, /error: The GPU that was named is not free any more; nothing was started\n/);
  },
});

Deno.test({
  ...needing(
    ["ssh", "tmux"],
    "run goes to the next server when the first one is lost between look and start",
  ),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton", scenario: quiet(2) }, { name: "Archimedes", scenario: quiet(1) }],
    });
    const project = await lab.project();
    // An ssh that reaches Newton only once.
    const ssh = `${lab.root}/once`;
    await Deno.writeTextFile(
      ssh,
      `#!/bin/sh
case "$*" in *@${lab.server("Newton").address}' '*)
  if [ -e "${ssh}d" ]; then echo 'ssh: connect to host newton port 22: Connection refused' >&2; exit 255; fi
  : >"${ssh}d" ;;
esac
exec ssh "$@"
`,
      { mode: 0o755 },
    );
    const run = await tell({ ...lab, ssh }, project, [
      ..."run --name moved --observe 0 -- sleep 30".split(" "),
    ]);
    assert.equal(run.code, 0, run.err);
    assert.equal(run.out, "Started moved on Archimedes GPU 0\n");
    assert.match(
      run.err,
      /warning: moved was not started: Newton could not be reached any more: .*refused.*\nTrying the next one\nChosen: Archimedes /,
    );

    await Deno.remove(`${ssh}d`);
    const named = await tell({ ...lab, ssh }, project, [
      ..."run --name alone --observe 0 --server Newton -- sleep 30".split(" "),
    ]);
    assert.equal(named.code, 1);
    assert.match(named.err, /error: alone was not started: Newton could not be reached any more: /);
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "run does not put a second job on a GPU that was just given away"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(2) }] });
    const project = await lab.project();
    const start = (name: string) =>
      tell(lab, project, ["run", "--name", name, "--observe", "0", "--", "sleep", "60"]);
    const both = await Promise.all([start("one"), start("two")]);
    assert.deepEqual(both.map(({ code }) => code), [0, 0], both.map(({ err }) => err).join("\n"));
    assert.deepEqual(
      both.map(({ out }) => /GPU (\d)/.exec(out)?.[1]).sort(),
      ["0", "1"],
      "one GPU each, though both saw both as unused",
    );
  },
});

Deno.test({
  ...needing(["ssh"], "run refuses, warns and starts nothing as the rules of choice say"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [
        { name: "Newton", scenario: busy },
        { name: "Archimedes", scenario: holder },
        { name: "Gauss", scenario: quiet(1), dataReady: false },
        { name: "Broken", scenario: deadDriver },
      ],
    });
    const project = await lab.project();
    const dry = (...args: string[]) =>
      tell(lab, project, ["run", "--name", "j", "--observe", "0", "--dry-run", ...args, "--", "x"]);
    const held = await dry();
    assert.equal(held.code, 0);
    assert.match(
      held.err,
      /Chosen: Archimedes GPU 0 .*\nwarning: Archimedes GPU 0 is held by alice;/,
    );
    assert.equal(held.out, "Dry run: nothing was sent or started\n");

    const noData = await dry("--no-data");
    assert.match(noData.err, /Chosen: Gauss GPU 0 /);

    const full = await dry("--server", "Newton");
    assert.equal(full.code, 3);
    assert.match(
      full.err,
      /error: There is no free GPU on the candidate servers; nothing was started\n[\s\S]*busy/,
    );

    const named = await dry("--server", "Newton", "--gpu", "0");
    assert.equal(named.code, 3);
    assert.match(named.err, /error: Newton GPU 0 is busy \(utilisation reached the threshold\)\n/);
    const forced = await dry("--server", "Newton", "--gpu", "0", "--force");
    assert.equal(forced.code, 0);
    assert.match(forced.err, /warning: Newton GPU 0 is busy .* starting there because of --force\n/);
    const missing = await dry("--server", "Newton", "--gpu", "7", "--force");
    assert.equal(missing.code, 2);
    assert.match(missing.err, /error: Newton has no GPU 7; it has 0\n/);
    const broken = await dry("--server", "Broken", "--gpu", "0");
    assert.match(broken.err, /error: The GPUs of Broken cannot be read: the NVIDIA driver is not loaded\n/);
    const unready = await dry("--server", "Gauss");
    assert.equal(unready.code, 2);
    assert.match(unready.err, /error: The clinical data is not in place on Gauss\n/);
  },
});
