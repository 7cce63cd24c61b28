/**
 * The stories of the laboratory by a Windows Deno, with exactly the permission set of each verb and the ssh of System32.
 * `TIAS_REMOTE_WINDOWS_RUN` names a program that runs one: `PROGRAM --project FOLDER... --folder FOLDER DENO-ARGUMENTS`
 * shows it the folders under the paths that they have here.
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { surveyShape } from "../../lib/cli/survey_json.ts";
import { type Launch, steady, type StoryOptions, tell, toolkit, verbArguments } from "../cmd/story.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";

const runner = Deno.env.get("TIAS_REMOTE_WINDOWS_RUN");
const needs = needing(["ssh", "tmux"], "a Windows client tells the stories of the laboratory");

const launch: Launch = (lab, project, [verb = "", ...rest]) => ({
  program: runner ?? "",
  args: [
    ...["--project", toolkit, "--project", lab.root, "--folder", project],
    ...verbArguments(verb, project),
    ...rest,
  ],
});

Deno.test({
  name: runner === undefined
    ? `${needs.name} (ignored: TIAS_REMOTE_WINDOWS_RUN names no way to run one)`
    : needs.name,
  ignore: needs.ignore || runner === undefined,
  async fn(t) {
    await using lab = await startLaboratory({
      jump: true,
      servers: [{ name: "Newton", scenario: quiet(1) }, { name: "Dead", behaviour: { dead: true } }],
    });
    // Blanks, Japanese, and further down longer than the 260 characters that Windows once allowed.
    const project = await lab.project({ dir: join(lab.root, "私の project") });
    const config = join(project, "configs/remote.yaml");
    await Deno.writeTextFile(config, (await Deno.readTextFile(config)).replaceAll("\n", "\r\n"));
    await Deno.writeTextFile(join(project, "job.sh"), '#!/bin/sh\necho "こんにちは $1"\nexit 3\n', {
      mode: 0o644,
    });
    const say = (command: string, options: StoryOptions = {}) =>
      // The empty name stands for the ssh of the system, here that of System32.
      tell(lab, project, command.split(" "), {
        launch,
        language: "ja",
        env: { TIAS_REMOTE_SSH: "" },
        ...options,
      });

    await t.step("gpus: UTF-8, a configuration with CR LF, a path with blanks and Japanese", async () => {
      const gpus = await say("gpus --observe 0");
      assert.equal(gpus.code, 0, gpus.err);
      assert.match(gpus.out, /^Newton\n {2}GPU {2}状態 .*\n {2}0 {4}未使用 /);
      assert.match(gpus.out, /Dead .*接続不可/);
      assert.match(gpus.out, /\n`run` が選ぶのは Newton の GPU 0（未使用）です\n$/);
      const json = surveyShape.parse(JSON.parse((await say("gpus --observe 0 --json")).out));
      assert.deepEqual(json.choice, { server: "Newton", gpu: 0, state: "unused" });
    });

    await t.step("push: a script stays executable, though Windows knows no such thing", async () => {
      const push = await say("push --server Newton");
      assert.equal(push.code, 0, push.err);
      const sent = join(lab.server("Newton").home, "work/TIASJudgeModel");
      assert.equal((await Deno.stat(join(sent, "job.sh"))).mode! & 0o777, 0o755);
      assert.match(await Deno.readTextFile(join(sent, "configs/remote.yaml")), /\r\n/, "sent as it is");
    });

    await t.step("run and logs: a job with a word of Japanese", async () => {
      const run = await say("run --name job1 --observe 0 -- ./job.sh 世界");
      assert.match(run.err, /選択：Newton の GPU 0/);
      const logs = await say("logs job1 -f");
      assert.equal(logs.code, 1, "the job failed");
      assert.match(
        steady(logs.out, lab),
        /^=== \[\[TIME\]\] start Newton GPU 0 .*\nこんにちは 世界\n=== .* exit 3\n$/,
      );
    });

    await t.step("kill: a job that runs, and a connection that ends with it", async () => {
      const run = await say("run --name job2 --observe 0 --no-push -- sleep 300");
      assert.equal(run.code, 0, run.err);
      const kill = await say("kill job2");
      assert.equal(kill.out, "Newton の job2 を止めました（exit 143）\n", kill.err);
    });

    await t.step("pull: long paths, and no name that Windows cannot hold", async () => {
      const id = "long-".repeat(40).slice(0, 180);
      const figures = join(lab.server("Newton").home, "work/TIASJudgeModel/runs", id, "figures");
      await Deno.mkdir(figures, { recursive: true });
      const long = `${"x".repeat(100)}.png`;
      for (const name of [long, "図 1.png", "nul.png"]) await Deno.writeTextFile(join(figures, name), name);
      const pull = await say(`pull ${id} --server Newton`);
      assert.equal(pull.code, 0, pull.err);
      const brought = join(project, "runs", id, "figures");
      assert.ok(join(brought, long).length > 260);
      const names = (await Array.fromAsync(Deno.readDir(brought))).map(({ name }) => name).toSorted();
      assert.deepEqual(names, [long, "図 1.png"]);
      assert.equal(await Deno.readTextFile(join(brought, "図 1.png")), "図 1.png");
    });

    await t.step("the tests that need no laboratory pass", async () => {
      const { success, stdout, stderr } = await new Deno.Command(runner ?? "", {
        args: ["--project", toolkit, "task", "test:portable", "--no-check"],
        env: { NO_COLOR: "1" },
        stdin: "null",
      }).output();
      const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      assert.ok(success, text.slice(text.indexOf("ERRORS")));
      assert.match(text, /ok \| \d{3,} passed/);
    });

    await t.step("an ssh that was not declared is not started", async () => {
      const own = await say("gpus --observe 0", {
        env: { TIAS_REMOTE_SSH: "C:\\Windows\\System32\\cmd.exe" },
      });
      assert.equal(own.code, 2, own.err);
      assert.match(
        own.err,
        /エラー: `C:\\Windows\\System32\\cmd\.exe` を実行する権限なしで起動されています\nヒント: /,
      );
    });
  },
});
