import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";
import type { LaboratoryServer } from "../lab/types.ts";
import { fileText, waitUntil } from "../lab/waiting.ts";
import { tell } from "./story.ts";

function logFile(server: LaboratoryServer, job: string): string {
  return `${server.home}/work/TIASJudgeModel/runs/_remote_logs/${job}.log`;
}

Deno.test({
  ...needing(["ssh", "tmux"], "logs -f continues at the byte where a broken connection stopped"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const server = lab.server("Newton");
    const project = await lab.project();
    const run = await tell(lab, project, [
      ..."run --name long --observe 0 --no-push -- sh -c".split(" "),
      "i=0; while [ $i -lt 700 ]; do printf '%06d 行\\n' $i; i=$((i+1)); [ $((i % 100)) -ne 0 ] || sleep 1; done",
    ]);
    assert.equal(run.code, 0, run.err);
    // Breaks in the middle of the log, and once more at a moment of its own choosing.
    await server.setBehaviour({ dropAfter: { bytes: 900, stream: "stdout" } });
    let drops = 0;
    const logs = await tell(lab, project, ["logs", "long", "-f", "-n", "100000"], {
      async onText(text) {
        if (drops === 0 && text.includes("trying again in 1 s")) {
          drops = 1;
          await server.setBehaviour({});
        } else if (drops === 1 && text.includes("000450 ")) {
          drops = 2;
          await server.drop();
        }
      },
    });
    assert.equal(logs.code, 0, logs.err);
    assert.equal(drops, 2);
    assert.equal(logs.out, await Deno.readTextFile(logFile(server, "long")), "nothing lost, nothing twice");
    assert.match(logs.err, /The connection to Newton was lost \(.*\); trying again in \d+ s\n/);
    assert.match(logs.err, /long has ended on Newton: exit 0\n$/);
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "logs -f stops at Ctrl-C, and the job goes on"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    await tell(lab, project, [..."run --name on --observe 0 --no-push -- sleep 60".split(" ")]);
    let stopped = false;
    const logs = await tell(lab, project, ["logs", "on", "-f"], {
      language: "ja",
      onText(text, child) {
        if (!stopped && text.includes("start Newton")) {
          stopped = true;
          child.kill("SIGINT");
        }
      },
    });
    assert.equal(logs.code, 130);
    assert.match(logs.err, /ジョブは動き続けています。もう一度追うには：tias-remote logs on -f\n$/);
    const status = await tell(lab, project, ["status", "--observe", "0"]);
    assert.match(status.out, /^ +on +Newton +0 +running /m);
  },
});

Deno.test({
  ...needing(["ssh"], "logs finds its server, and names both when two have the job"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton" }, { name: "Archimedes" }, { name: "Dead", behaviour: { dead: true } }],
    });
    const project = await lab.project();
    const none = await tell(lab, project, ["logs", "old"]);
    assert.equal(none.code, 1);
    assert.match(
      none.err,
      /error: No server that answered has a job named old, but Dead could not be asked\n/,
    );

    const newton = logFile(lab.server("Newton"), "old");
    await Deno.mkdir(newton.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(newton, "one\ntwo\nthree");
    const found = await tell(lab, project, ["logs", "old", "-n", "2"]);
    assert.equal(found.code, 0);
    assert.equal(found.out, "two\nthree");
    assert.match(found.err, /^warning: Dead could not be asked for its jobs: unreachable: /);

    const archimedes = logFile(lab.server("Archimedes"), "old");
    await Deno.mkdir(archimedes.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(archimedes, "other\n");
    const both = await tell(lab, project, ["logs", "old"], { language: "ja" });
    assert.equal(both.code, 2);
    assert.match(both.err, /エラー: old というジョブが Newton, Archimedes にあります\nヒント: --server/);
    assert.equal((await tell(lab, project, ["logs", "old", "--server", "Archimedes"])).out, "other\n");

    const similar = await tell(lab, project, ["logs", "ol", "--server", "Newton"]);
    assert.match(similar.err, /error: No server has a job named ol\n/);
    const bad = await tell(lab, project, ["logs", "../old"]);
    assert.equal(bad.code, 2);
    assert.match(bad.err, /error: `\.\.\/old` cannot be a job's name/);
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "kill ends everything a job started and nothing of another job"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(3) }] });
    const { home } = lab.server("Newton");
    const project = await lab.project();
    const start = async (name: string, command: string) => {
      const run = await tell(lab, project, [
        ..."run --observe 0 --no-push --name".split(" "),
        name,
        "--",
        "sh",
        "-c",
        command,
      ]);
      assert.equal(run.code, 0, run.err);
    };
    // Deaf to TERM, with a child in a session of its own, whose environment was wiped, but which stays in its group.
    await start(
      "job1",
      `trap '' TERM; echo $$ >~/p1; setsid sleep 1001 & env -i sh -c \"echo \\$\\$ >$HOME/p3; exec sleep 1003\" & wait; sleep 1002`,
    );
    await start("job10", "echo $$ >~/p10; sleep 1010");
    const pids = { job1: Number(await fileText(`${home}/p1`)), job10: Number(await fileText(`${home}/p10`)) };
    const wiped = Number(await fileText(`${home}/p3`));
    const kill = await tell(lab, project, ["kill", "job1", "--grace", "1"]);
    assert.equal(kill.code, 0, kill.err);
    assert.match(kill.out, /^Stopped job1 on Newton \(exit 137\)\n$/);
    await waitUntil(async () => !await isAlive(pids.job1) && !await isAlive(wiped));
    assert.equal(await isAlive(pids.job10), true);
    assert.match(await Deno.readTextFile(logFile(lab.server("Newton"), "job1")), /=== \[.*\] exit 137\n$/);
    assert.equal((await tell(lab, project, ["kill", "job10"])).code, 0);
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "kill that is stopped by Ctrl-C ends with 130 and says that the job may go on"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    await tell(lab, project, [
      ..."run --name deaf --observe 0 --no-push -- sh -c".split(" "),
      "trap '' TERM; sleep 1004; sleep 1004",
    ]);
    let stopped = false;
    const kill = await tell(lab, project, ["kill", "deaf", "--grace", "300"], {
      onText(text, child) {
        if (stopped || !text.includes("Stopping")) return;
        stopped = true;
        child.kill("SIGINT");
      },
    });
    assert.equal(kill.code, 130);
    assert.match(
      kill.err,
      /error: The connection to Newton was lost while deaf was being stopped: interrupted\nhint: /,
    );
    assert.equal((await tell(lab, project, ["kill", "deaf", "--grace", "0"])).code, 0);
  },
});

async function isAlive(pid: number): Promise<boolean> {
  try {
    const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
    return !/\) Z /.test(stat);
  } catch {
    return false;
  }
}
