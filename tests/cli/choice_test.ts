import assert from "node:assert/strict";
import { chooseCandidates, warnOfHolders } from "../../lib/cli/choice.ts";
import type { RunPlan } from "../../lib/cli/run_plan.ts";
import type { Wish } from "../../lib/gpu/select.ts";
import type { ServerReport } from "../../lib/gpu/survey.ts";
import type { Job } from "../../lib/job/types.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, judged, reachedServer, server, unreachableServer } from "../gpu/reports.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { testContext } from "../test_context.ts";

const newton = server("Newton");
const archimedes = server("Archimedes", { priority: 2 });

function planOf(wish: Partial<Wish> = {}): RunPlan {
  return {
    project: { root: "/p", configFile: "/p/configs/remote.yaml", config: configOf([newton, archimedes]) },
    job: "exp1",
    command: ["x"],
    env: [],
    wish: { force: false, noData: false, ...wish },
    push: true,
    observation: { seconds: 10, intervalMs: 500 },
    dryRun: false,
  };
}

/** The candidates, and what was said on the way. */
async function choose(
  reports: readonly ServerReport[],
  wish: Partial<Wish> = {},
  language: "en" | "ja" = "en",
) {
  const world = testContext();
  const candidates = await chooseCandidates(world, textsIn(language), planOf(wish), reports);
  return { candidates: candidates.map(({ server, gpu }) => `${server}/${gpu.index}`), err: world.err.text };
}

async function refusal(reports: readonly ServerReport[], wish: Partial<Wish> = {}) {
  const fault = await userErrorOf(() => choose(reports, wish));
  return await spoken(fault);
}

function job(name: string, state: Job["state"]): Job {
  return {
    name,
    state,
    id: "",
    pid: 1,
    gpu: 0,
    uuid: null,
    began: null,
    ended: null,
    exitCode: null,
    keeper: "tmux",
  };
}

Deno.test("chooseCandidates() gives all candidates in their order", async () => {
  const reports = [
    reachedServer(newton, [judged(0, "idle_held")]),
    reachedServer(archimedes, [judged(3, "unused")]),
  ];
  assert.deepEqual(await choose(reports), { candidates: ["Archimedes/3", "Newton/0"], err: "" });
});

Deno.test("chooseCandidates() refuses a job's name that runs anywhere, also where it was not observed", async () => {
  const running = { observed: false, jobs: [job("exp1", "running")] };
  assert.deepEqual(
    await refusal([
      reachedServer(newton, [judged(0, "unused")], running),
      reachedServer(archimedes, [], running),
    ]),
    {
      en: "error: A job named exp1 is running on Newton, Archimedes\n" +
        "hint: Take another name, or stop it with `tias-remote kill exp1`\n",
      ja: "エラー: exp1 というジョブが Newton, Archimedes で実行中です\n" +
        "ヒント: 別の名前にするか，`tias-remote kill exp1` で止めてください\n",
      exit: 1,
    },
  );
});

Deno.test("chooseCandidates() takes a name again that has ended, or only begins alike", async () => {
  const jobs = [job("exp1", "ended"), job("exp1", "lost"), job("exp10", "running"), job("exp", "running")];
  assert.deepEqual((await choose([reachedServer(newton, [judged(0, "unused")], { jobs })])).candidates, [
    "Newton/0",
  ]);
});

Deno.test("chooseCandidates() warns of servers that could not be asked for the name", async () => {
  const reports = [unreachableServer(archimedes), reachedServer(newton, [judged(0, "unused")])];
  assert.equal(
    (await choose(reports)).err,
    "warning: Archimedes could not be asked whether a job named exp1 is running there: unreachable: the connection was refused\n",
  );
  assert.equal(
    (await choose(reports, { server: "Newton" }, "ja")).err,
    "警告: Archimedes で exp1 というジョブが実行中かどうかを確かめられません：接続不可：接続を拒否されました\n",
  );
});

Deno.test("chooseCandidates() says that the named server cannot be reached", async () => {
  assert.deepEqual(
    await refusal([unreachableServer(newton), reachedServer(archimedes, [judged(0, "unused")])], {
      server: "Newton",
    }),
    {
      en: "error: Cannot use Newton: unreachable: the connection was refused\n" +
        "hint: Is sshd running there, and is the port right?\n",
      ja: "エラー: Newton を使えません：unreachable: the connection was refused\n" +
        "ヒント: そのサーバで sshd が動いているか，ポートが正しいかを確かめてください\n",
      exit: 1,
    },
  );
});

Deno.test("chooseCandidates() shows every candidate server when nothing is free", async () => {
  const { en, exit } = await refusal([
    reachedServer(newton, [judged(0, "busy")]),
    unreachableServer(archimedes),
    reachedServer(server("Far", { data_ready: false }), [judged(0, "unused")]),
  ]);
  assert.equal(
    en,
    "error: There is no free GPU on the candidate servers; nothing was started\n" +
      "  Newton\n" +
      "    GPU  STATE  USE                      MEMORY         HOLDERS\n" +
      "    0    busy   unused, mean 0%, max 0%  3 / 81920 MiB\n" +
      "  Archimedes  unreachable: the connection was refused\n" +
      "hint: Try again later, or name one with --server NAME --gpu I --force if you may\n",
  );
  assert.equal(exit, 3);
});

Deno.test.each([
  [
    "a busy GPU",
    [judged(0, "busy")],
    {},
    "Newton GPU 0 is busy (utilisation reached the threshold)\nhint: Take another one, or wait; --force starts there all the same",
    3,
  ],
  [
    "an unknown GPU",
    [judged(0, "unknown")],
    {},
    "Newton GPU 0 is unknown (not one sample was obtained)\nhint: Take another one, or wait; --force starts there all the same",
    3,
  ],
  [
    "a GPU that there is not, also with --force",
    [judged(1, "unused"), judged(3, "unused")],
    { force: true },
    "Newton has no GPU 0; it has 1, 3\nhint: `tias-remote gpus` shows the numbers",
    2,
  ],
])("chooseCandidates() refuses %s that was named", async (_what, gpus, wish, english, exit) => {
  const answer = await refusal([reachedServer(newton, gpus)], { server: "Newton", gpu: 0, ...wish });
  assert.equal(answer.en, `error: ${english}\n`);
  assert.equal(answer.exit, exit);
});

Deno.test("chooseCandidates() says why the named server has no GPU list", async () => {
  const report = reachedServer(newton, [], { fault: { kind: "no_answer", detail: "" } });
  assert.deepEqual(await refusal([report], { server: "Newton", gpu: 0, force: true }), {
    en: "error: The GPUs of Newton cannot be read: nvidia-smi does not answer\n" +
      "hint: On that server, `nvidia-smi` shows what is wrong\n",
    ja: "エラー: Newton の GPU の情報を取得できません：nvidia-smi does not answer\n" +
      "ヒント: そのサーバで `nvidia-smi` を実行すると原因がわかります\n",
    exit: 1,
  });
});

const alice = {
  pid: 77,
  user: "alice",
  userTruncated: false,
  mine: false,
  elapsedSec: 5,
  usedMemoryMib: 5,
  smMaxPercent: null,
  gone: false,
};

Deno.test.each([
  ["an unused GPU", judged(0, "unused"), false, "Chosen: Newton GPU 0 NVIDIA A100 (unused)\n"],
  [
    "an idle GPU, with its holders",
    judged(0, "idle_held", { processes: [alice] }),
    false,
    "Chosen: Newton GPU 0 NVIDIA A100 (idle, in someone's hands)\n" +
    "warning: Newton GPU 0 is held by alice; it was idle while it was observed\n",
  ],
  [
    "a busy GPU that was forced",
    judged(0, "busy"),
    true,
    "Chosen: Newton GPU 0 NVIDIA A100 (busy)\n" +
    "warning: Newton GPU 0 is busy (utilisation reached the threshold); starting there because of --force\n",
  ],
])("warnOfHolders() tells of %s", async (_what, gpu, forced, expected) => {
  const world = testContext();
  await warnOfHolders(world, textsIn("en"), { server: "Newton", gpu, state: gpu.verdict.state, forced });
  assert.equal(world.err.text, expected);
});
