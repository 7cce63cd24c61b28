import assert from "node:assert/strict";
import type { RunPlan } from "../../lib/cli/run_plan.ts";
import { type Attempt, attemptStart, reportStart } from "../../lib/cli/start.ts";
import type { StartOutcome } from "../../lib/job/start.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, judged, reachedServer, server } from "../gpu/reports.ts";
import { FakeProcess } from "../ssh/fake_process.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { countingRandom, settle, testContext } from "../test_context.ts";

const newton = server("Newton");
const plan: RunPlan = {
  project: { root: "/p", configFile: "/p/configs/remote.yaml", config: configOf([newton]) },
  job: "exp1",
  command: ["python", "train.py"],
  env: [],
  wish: { force: false, noData: false },
  push: false,
  observation: { seconds: 10, intervalMs: 500 },
  dryRun: false,
};
const attempt: Attempt = {
  plan,
  candidate: { server: "Newton", gpu: judged(2, "unused"), state: "unused", forced: false },
  reports: [reachedServer(newton, [judged(2, "unused")])],
  list: undefined,
};

type Reported = Exclude<StartOutcome, { kind: "taken" }>;

Deno.test.each([
  [
    "en",
    { kind: "started", keeper: "tmux", log: "/h/exp1.log" },
    "Started exp1 on Newton GPU 2\n",
    "follow it: tias-remote logs exp1 -f\n" +
    `attach to it: ssh -J labpc -t hasegawa@192.168.23.14 "tmux -L tias-remote attach -t '=exp1'"\n`,
  ],
  [
    "ja",
    { kind: "started", keeper: "tmux", log: "/h/exp1.log" },
    "exp1 を Newton の GPU 2 で起動しました\n",
    "ログを追う：tias-remote logs exp1 -f\n" +
    `端末につなぐ：ssh -J labpc -t hasegawa@192.168.23.14 "tmux -L tias-remote attach -t '=exp1'"\n`,
  ],
  [
    "en",
    { kind: "started", keeper: "setsid", log: "/h/exp1.log" },
    "Started exp1 on Newton GPU 2\n",
    "follow it: tias-remote logs exp1 -f\n",
  ],
  [
    "en",
    { kind: "ended", code: 0, log: "/h/exp1.log", lines: "one\n\u001b[2Jtwo\n" },
    "exp1 has already finished on Newton GPU 2: exit 0\n",
    "  one\n  \\x1b[2Jtwo\n",
  ],
  [
    "ja",
    { kind: "ended", code: 0, log: "/h/exp1.log", lines: "" },
    "exp1 は Newton の GPU 2 ですでに終わりました：exit 0\n",
    "",
  ],
] as ["en" | "ja", Reported, string, string][])(
  "reportStart() tells in %s of a job that runs or is done: %o",
  async (language, outcome, out, err) => {
    const world = testContext();
    assert.equal(await reportStart(world, textsIn(language), attempt, outcome), 0);
    assert.equal(world.out.text, out);
    assert.equal(world.err.text, err);
  },
);

Deno.test.each([
  [
    { kind: "ended", code: 123, log: "", lines: "" },
    "exp1 ended at once on Newton GPU 2: exit 123\nhint: The last lines of its log are above; all of it: tias-remote logs exp1",
    "exp1 は Newton の GPU 2 で起動直後に終わりました：exit 123\nヒント: 上がログの最後です。全体は tias-remote logs exp1 で表示できます",
  ],
  [
    { kind: "ended", code: null, log: "", lines: "" },
    "exp1 ended at once on Newton GPU 2: exit ?\nhint: The last lines of its log are above; all of it: tias-remote logs exp1",
    "exp1 は Newton の GPU 2 で起動直後に終わりました：exit ?\nヒント: 上がログの最後です。全体は tias-remote logs exp1 で表示できます",
  ],
  [
    { kind: "uv_missing", detail: "/home/h/.local/bin/uv" },
    "There is no uv on Newton at /home/h/.local/bin/uv\nhint: Install uv there, or correct `uv` in the configuration",
    "Newton の /home/h/.local/bin/uv に uv がありません\nヒント: サーバに uv を入れるか，設定の `uv` を直してください",
  ],
  [
    { kind: "unwritable", detail: "mkdir: x: No space left on device\u0007" },
    "Cannot write on Newton: mkdir: x: No space left on device\\x07\nhint: Check remote_dir, its permissions and the free disk space there",
    "Newton に書き込めません：mkdir: x: No space left on device\\x07\nヒント: remote_dir とその権限，ディスクの空きを確かめてください",
  ],
  [
    { kind: "lock_busy", detail: "" },
    "Another start on Newton GPU 2 takes too long\nhint: Try again in a minute",
    "Newton の GPU 2 で別の起動が終わりません\nヒント: 1 分ほど待ってもう一度実行してください",
  ],
  [
    { kind: "name_taken", detail: "" },
    "A job named exp1 has just been started on Newton\nhint: Take another name, or stop it with `tias-remote kill exp1`",
    "exp1 というジョブがたった今 Newton で起動されました\nヒント: 別の名前にするか，`tias-remote kill exp1` で止めてください",
  ],
  [
    { kind: "launch_failed", detail: "duplicate session: exp1 " },
    "tmux on Newton could not start exp1: duplicate session: exp1\nhint: On that server, `tmux -L tias-remote ls` shows what is there",
    "Newton の tmux が exp1 を起動できませんでした：duplicate session: exp1\nヒント: そのサーバで `tmux -L tias-remote ls` を実行すると状況がわかります",
  ],
  [
    { kind: "push_failed", status: 127, text: "tar: not found\n" },
    "Newton: there is no tar\nhint: Mend the cause and push again",
    "Newton：tar がありません\nヒント: 原因を直して，もう一度送ってください",
  ],
  [
    { kind: "push_failed", status: 2, text: "tar: x: Cannot write: No space left on device\n" },
    "Newton: its disk is full; no file there was replaced\nhint: Mend the cause and push again",
    "Newton：ディスクがいっぱいです。サーバ側のファイルは置き換わっていません\nヒント: 原因を直して，もう一度送ってください",
  ],
] as [Reported, string, string][])(
  "reportStart() tells of a failure: %o",
  async (outcome, english, japanese) => {
    const fault = await userErrorOf(() => reportStart(testContext(), textsIn("en"), attempt, outcome));
    assert.deepEqual(await spoken(fault), {
      en: `error: ${english}\n`,
      ja: `エラー: ${japanese}\n`,
      exit: 1,
    });
  },
);

/** An attempt in the middle: ssh has its script. */
async function begin(language: "en" | "ja" = "en", what: Attempt = attempt) {
  const process = new FakeProcess();
  const world = testContext({ random: countingRandom(), start: () => process });
  const result = attemptStart(world, textsIn(language), what);
  result.catch(() => {});
  await settle();
  const answer = (fields: string) => {
    const mark = (text: string) => `\n@@${process.nonce} ${text}\n`;
    process.print(
      `@@${process.nonce} begin\n${mark("section start")}${fields}${mark("end start 0")}${mark("done")}`,
    );
    process.exit(0);
  };
  return { world, process, result, answer };
}

Deno.test("attemptStart() tells where it starts, and gives the outcome back", async () => {
  const { world, result, answer, process } = await begin();
  answer("outcome=started\nkeeper=tmux\nlog=/h/exp1.log\n");
  assert.deepEqual(await result, { kind: "started", keeper: "tmux", log: "/h/exp1.log" });
  assert.equal(world.err.text, "Starting on Newton\n");
  assert.match(process.received, /^gpu=2$/m);
  assert.match(process.received, /^force=0$/m);
});

Deno.test.each([
  ["why=process\npid=77\nuser=alice\n", "somebody has begun to use it (alice 77)"],
  ["why=process\npid=77\nuser=\n", "somebody has begun to use it (? 77)"],
  ["why=job\njob=exp2\n", "the job exp2 was given it meanwhile"],
  ["why=unreadable\n", "its processes cannot be read any more"],
  ["why=renumbered\n", "it is not the GPU that was observed any more"],
])("attemptStart() warns that the GPU was taken: %j", async (fields, sentence) => {
  const { world, result, answer } = await begin();
  answer(`outcome=taken\n${fields}`);
  assert.equal((await result).kind, "taken");
  assert.equal(world.err.text, `Starting on Newton\nwarning: Newton GPU 2: ${sentence}\n`);
});

Deno.test("attemptStart() says that nothing was started when the server was not reached", async () => {
  const { process, result } = await begin();
  process.complain("ssh: connect to host 192.168.23.14 port 22: Connection refused\n");
  process.exit(255);
  const outcome = await result;
  assert.ok(outcome.kind === "not_reached");
  const { en, exit } = await spoken(outcome.fault);
  assert.equal(
    en,
    "error: exp1 was not started: Newton could not be reached any more: unreachable: the connection was refused (ssh: connect to host 192.168.23.14 port 22: Connection refused)\n" +
      "hint: Is sshd running there, and is the port right?\n",
  );
  assert.equal(exit, 1);
});

Deno.test("attemptStart() says that nobody knows when the connection broke in the middle", async () => {
  const { process, result } = await begin("ja");
  process.print(`@@${process.nonce} begin\n`);
  await settle();
  process.exit(255);
  const { ja, exit } = await spoken(await userErrorOf(() => result));
  assert.match(
    ja,
    /^エラー: exp1 の起動中に Newton との接続が切れました：.*\nヒント: 起動している可能性があります。/,
  );
  assert.equal(exit, 1);
});

Deno.test("attemptStart() ends with 130 when it is interrupted, and says what may be", async () => {
  const { world, result } = await begin();
  world.interrupt();
  assert.equal((await spoken(await userErrorOf(() => result))).exit, 130);
});

Deno.test("attemptStart() hands --force on, and what the survey knew of the GPU", async () => {
  const gpu = judged(2, "busy", {
    processes: [77, 78].map((pid) => ({
      pid,
      user: null,
      userTruncated: false,
      mine: false,
      elapsedSec: null,
      usedMemoryMib: null,
      smMaxPercent: null,
      gone: false,
    })),
    jobs: ["exp0"],
    processListReadable: false,
  });
  const { process, result, answer } = await begin("en", {
    ...attempt,
    candidate: { server: "Newton", gpu, state: "busy", forced: true },
  });
  for (
    const line of ["force=1", "known_pids='77 78'", "known_jobs=exp0", "known_list=0", `uuid=${gpu.uuid}`]
  ) {
    assert.ok(process.received.includes(`\n${line}\n`), line);
  }
  answer("outcome=lock_busy\n");
  await result;
});
