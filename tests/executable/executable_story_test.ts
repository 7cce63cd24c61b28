import assert from "node:assert/strict";
import { join } from "node:path";
import { surveyShape } from "../../lib/cli/survey_json.ts";
import { permissionSets } from "../../lib/system/permission_sets.ts";
import { planExecutables } from "../../scripts/compile.ts";
import { type Launch, type Outcome, type StoryOptions, tell } from "../cmd/story.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { holder, quiet } from "../lab/scenarios.ts";
import type { Laboratory } from "../lab/types.ts";
import { compiling, makeExecutables } from "./build.ts";

const [umbrella, ...each] = planExecutables([Deno.build.target], true, permissionSets);
const gpusAlone = each.find(({ module }) => module === "cmd/gpus.ts");
assert.ok(umbrella !== undefined && gpusAlone !== undefined);
/** What `gpus` as a program of its own may weigh, in bytes; a bare Deno program has 85 million. */
const gpusLimit = 96_000_000;

const needs = needing(["ssh", "tmux"], "the executable tells the stories of the laboratory");

Deno.test({
  name: needs.ignore ? needs.name : compiling(needs.name).name,
  ignore: needs.ignore || compiling("").ignore,
  async fn(t) {
    await using made = await makeExecutables([umbrella]);
    await using lab = await startLaboratory({
      jump: true,
      servers: [{ name: "Newton", scenario: quiet(1) }, { name: "Archimedes", scenario: holder }],
    });
    const project = await lab.project();
    await Deno.writeTextFile(join(project, "job.sh"), "#!/bin/sh\necho hello from $1\n", { mode: 0o755 });
    const launch: Launch = (_lab, _project, command) => ({
      program: made.path(umbrella.file),
      args: command,
    });
    const say = (command: string, options: StoryOptions = {}): Promise<Outcome> =>
      tell(lab, project, command.split(" "), { launch, ...options });

    await t.step("gpus, in both languages and for programs", async () => {
      const ja = await say("gpus --observe 0", { language: "ja" });
      assert.match(ja.out, /`run` が選ぶのは Newton の GPU 0（未使用）です\n$/, ja.err);
      const survey = surveyShape.parse(JSON.parse((await say("gpus --observe 0 --json")).out));
      assert.deepEqual(survey.choice, { server: "Newton", gpu: 0, state: "unused" });
    });

    await t.step("run sends the project and starts a job, and logs follows it", async () => {
      const run = await say("run --name job1 --observe 0 -- ./job.sh Japan");
      assert.equal(run.code, 0, run.err);
      assert.match(run.out, /job1 .*Newton GPU 0/);
      const logs = await say("logs job1 -f");
      assert.equal(logs.code, 0, logs.err);
      assert.match(logs.out, /^=== .* start Newton GPU 0 [\s\S]*\nhello from Japan\n=== \[.*\] exit 0\n$/);
    });

    await t.step("pull brings what is on the whitelist, into runs/ of the project", async () => {
      const run = join(lab.server("Newton").home, "work/TIASJudgeModel/runs/exp1");
      await Deno.mkdir(join(run, "figures"), { recursive: true });
      await Deno.writeTextFile(join(run, "figures/a.png"), "png");
      await Deno.writeTextFile(join(run, "patient.dcm"), "patient");
      const pull = await say("pull exp1");
      assert.equal(pull.code, 0, pull.err);
      assert.deepEqual(
        (await Array.fromAsync(Deno.readDir(join(project, "runs/exp1")))).map(({ name }) => name),
        [
          "figures",
        ],
      );
      assert.equal(await Deno.readTextFile(join(project, "runs/exp1/figures/a.png")), "png");
    });

    await t.step("a folder of the project will do, except for what needs the whole of it", async () => {
      const cwd = join(project, "src/a/b/c");
      await Deno.mkdir(cwd, { recursive: true });
      assert.equal((await say("gpus --observe 0", { cwd })).code, 0);
      assert.match((await say("logs job1", { cwd })).out, /hello from Japan/);
      assert.equal((await say("run --name j --observe 0 --no-push --dry-run -- x", { cwd })).code, 0);
      for (const command of ["push", "run --name j --observe 0 -- x", "pull exp1"]) {
        const refused = await say(command, { cwd });
        assert.equal(refused.code, 2, refused.err);
        assert.match(refused.err, /error: tias-remote was started without the right to (read|write)/);
        assert.match(refused.err, /\nhint: .*executable/);
      }
    });

    await t.step("a project elsewhere is out of reach, and the error says what to do", async () => {
      const other = await lab.project({ dir: join(lab.root, "other") });
      const refused = await say(`gpus --config ${other}/configs/remote.yaml`);
      assert.equal(refused.code, 2);
      assert.match(
        refused.err,
        /error: tias-remote was started without the right to read .*other\/configs\/remote\.yaml\nhint: The executable serves the project of the current folder/,
      );
      const nowhere = await say("gpus", { cwd: lab.root, language: "ja" });
      assert.match(nowhere.err, /^エラー: .*configs\/remote\.yaml.*\nヒント: /);
      assert.equal(nowhere.code, 2);
    });

    await t.step("neither secrets nor undeclared programs are reached from the command line", async () => {
      await assertGuarded(lab, say);
    });
  },
});

async function assertGuarded(
  lab: Laboratory,
  say: (command: string, options?: StoryOptions) => Promise<Outcome>,
): Promise<void> {
  await Deno.writeTextFile(join(lab.root, "beside.txt"), "secret");
  for (const path of ["/etc/passwd", join(lab.root, "beside.txt"), "../beside.txt"]) {
    for (const command of ["gpus", "push", "pull exp1"]) {
      const refused = await say(`${command} --config ${path}`);
      assert.equal(refused.code, 2, command);
      assert.match(refused.err, /error: tias-remote was started without the right to read/);
      assert.doesNotMatch(refused.err + refused.out, /secret|root:/);
    }
  }
  const own = join(lab.root, "my-ssh");
  await Deno.writeTextFile(own, "#!/bin/sh\necho started >&2\n", { mode: 0o755 });
  const refused = await say("gpus --observe 0", { env: { TIAS_REMOTE_SSH: own } });
  assert.equal(refused.code, 2, refused.err);
  assert.match(
    refused.err,
    /error: tias-remote was started without the right to run `.*\/my-ssh`\nhint: .*deno\.json.*deno task compile/,
  );
  assert.equal((await say("gpus --observe 0", { env: { TIAS_REMOTE_SSH: "/usr/bin/ssh" } })).code, 0);
}

Deno.test({
  ...compiling("gpus alone is a small program that does the same"),
  async fn() {
    await using made = await makeExecutables([gpusAlone]);
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const launch: Launch = (_lab, _project, command) => ({
      program: made.path(gpusAlone.file),
      args: command.slice(1),
    });
    const gpus = await tell(lab, await lab.project(), ["gpus", "--observe", "0"], { launch });
    assert.match(gpus.out, /`run` would take Newton GPU 0 \(unused\)\n$/, gpus.err);
    const { size } = await Deno.stat(made.path(gpusAlone.file));
    assert.ok(size <= gpusLimit, `${size} bytes`);
  },
});
