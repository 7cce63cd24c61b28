import assert from "node:assert/strict";
import { planRun, type RunFlags } from "../../lib/cli/run_plan.ts";
import type { Project } from "../../lib/config/project.ts";
import { configOf, server } from "../gpu/reports.ts";
import { spoken, userErrorOf } from "../spoken.ts";

const newton = server("Newton");
const archimedes = server("Archimedes", { priority: 2, data_ready: false });
const project: Project = {
  root: "/p",
  configFile: "/p/configs/remote.yaml",
  config: configOf([newton, archimedes]),
};

/** Plans what was typed: the words behind `--` are the command. */
function plan(flags: RunFlags, command: readonly string[] = ["python", "train.py"], where = project) {
  return planRun(flags, command, ["--name", "x", "--", ...command], where);
}

Deno.test("planRun() fills in what was not typed", () => {
  assert.deepEqual(plan({ name: "exp1" }), {
    project,
    job: "exp1",
    command: ["python", "train.py"],
    env: [],
    wish: { server: undefined, gpu: undefined, force: false, noData: false },
    push: true,
    observation: { seconds: 10, intervalMs: 500 },
    dryRun: false,
  });
});

Deno.test("planRun() takes everything that was typed", () => {
  assert.deepEqual(
    plan({
      name: "exp1",
      server: "Archimedes",
      gpu: 3,
      force: true,
      noData: true,
      noPush: true,
      observe: 0,
      env: ["A=1", "B=", "C=x=y", "D=日本\n語", "_e9=$HOME"],
      dryRun: true,
    }),
    {
      project,
      job: "exp1",
      command: ["python", "train.py"],
      env: [["A", "1"], ["B", ""], ["C", "x=y"], ["D", "日本\n語"], ["_e9", "$HOME"]],
      wish: { server: "Archimedes", gpu: 3, force: true, noData: true },
      push: false,
      observation: { seconds: 0, intervalMs: 500 },
      dryRun: true,
    },
  );
});

Deno.test.each([
  [["python", "--lr", "1e-3", "--server", "x"]],
  [["python", "-c", "print('日本語')\n$HOME"]],
  [["bash", "-c", "a -- b", "--", "c"]],
  [[""]],
])("planRun() leaves the command as it is: %j", (command) => {
  assert.deepEqual(plan({ name: "exp1" }, command).command, command);
});

const separator = {
  en: "error: It is not clear where the command begins\n" +
    "hint: Put `--` before it: tias-remote run --name exp1 -- python train.py\n",
  ja: "エラー: コマンドの始まりがわかりません\n" +
    "ヒント: コマンドの前に `--` を置いてください：tias-remote run --name exp1 -- python train.py\n",
  exit: 2,
};

Deno.test.each([
  ["no `--`", ["python", "train.py"], ["--name", "exp1", "python", "train.py"]],
  ["nothing at all", [], ["--name", "exp1"]],
])("planRun() asks for the separator when there is %s", async (_what, command, argv) => {
  assert.deepEqual(
    await spoken(await userErrorOf(() => planRun({ name: "exp1" }, command, argv, project))),
    separator,
  );
});

Deno.test("planRun() asks for the command when nothing is behind `--`", async () => {
  assert.deepEqual(
    await spoken(await userErrorOf(() => planRun({ name: "exp1" }, [], ["--name", "exp1", "--"], project))),
    {
      en: "error: There is no command behind `--`\n" +
        "hint: Put `--` before it: tias-remote run --name exp1 -- python train.py\n",
      ja: "エラー: `--` の後にコマンドがありません\n" +
        "ヒント: コマンドの前に `--` を置いてください：tias-remote run --name exp1 -- python train.py\n",
      exit: 2,
    },
  );
});

Deno.test.each([
  ["the program", ["python", "--lr", "1"], ["--name", "exp1", "python", "--", "--lr", "1"], "python"],
  ["a second variable, without its value", ["B=secret", "x"], ["--env", "A=1", "B=secret", "--", "x"], "B"],
])("planRun() names what stands before `--`: %s", async (_what, command, argv, word) => {
  assert.deepEqual(
    await spoken(await userErrorOf(() => planRun({ name: "exp1" }, command, argv, project))),
    {
      en: `error: \`${word}\` stands before \`--\` and belongs to no flag\n` +
        "hint: The command comes behind `--`; each variable needs an --env of its own\n",
      ja: `エラー: \`--\` の前の \`${word}\` は，どのオプションのものでもありません\n` +
        "ヒント: コマンドは `--` の後に書いてください。環境変数は 1 つごとに --env が必要です\n",
      exit: 2,
    },
  );
});

Deno.test("planRun() asks for a name", async () => {
  assert.deepEqual(await spoken(await userErrorOf(() => plan({}))), {
    en: "error: The job has no name\nhint: Give it one: --name exp1\n",
    ja: "エラー: ジョブ名がありません\nヒント: --name exp1 のように指定してください\n",
    exit: 2,
  });
});

Deno.test.each([
  ["", ""],
  ["-exp", "-exp"],
  ["_exp", "_exp"],
  ["exp 1", "exp 1"],
  ["exp.1", "exp.1"],
  ["a:b", "a:b"],
  ["job?2", "job?2"],
  ["実験", "実験"],
  ["x".repeat(65), "x".repeat(65)],
  ["../x", "../x"],
  ["a\nb", "a\\x0ab"],
])("planRun() refuses the name %j", async (name, shown) => {
  assert.deepEqual(await spoken(await userErrorOf(() => plan({ name }))), {
    en:
      `error: \`${shown}\` cannot be a job's name: it starts with a letter or digit and has 1 to 64 letters, digits, \`_\` or \`-\`\n`,
    ja:
      `エラー: \`${shown}\` はジョブ名に使えません。英数字で始まり，英数字・\`_\`・\`-\` だけの 1〜64 文字にしてください\n`,
    exit: 2,
  });
});

Deno.test.each([["a"], ["0"], ["x".repeat(64)], ["Exp-1_b"]])("planRun() takes the name %s", (name) => {
  assert.equal(plan({ name }).job, name);
});

Deno.test.each([
  [
    "--gpu without --server",
    { gpu: 0 },
    "--gpu alone does not say which server is meant\nhint: Add --server NAME",
    "--gpu だけではどのサーバの GPU かわかりません\nヒント: --server サーバ名 を足してください",
  ],
  [
    "--gpu and --force without --server",
    { gpu: 0, force: true },
    "--gpu alone does not say which server is meant\nhint: Add --server NAME",
    "--gpu だけではどのサーバの GPU かわかりません\nヒント: --server サーバ名 を足してください",
  ],
  [
    "--force alone",
    { force: true },
    "--force works only on a GPU that was named\nhint: Add --server NAME --gpu I, or leave --force out",
    "--force は GPU を指定したときだけ使えます\nヒント: --server サーバ名 --gpu 番号 を足すか，--force を外してください",
  ],
  [
    "--force with a server only",
    { force: true, server: "Newton" },
    "--force works only on a GPU that was named\nhint: Add --server NAME --gpu I, or leave --force out",
    "--force は GPU を指定したときだけ使えます\nヒント: --server サーバ名 --gpu 番号 を足すか，--force を外してください",
  ],
  [
    "a server that there is not",
    { server: "newton" },
    "There is no server `newton` in the configuration; there are: Newton, Archimedes\nhint: Server names are case-sensitive",
    "設定に `newton` というサーバはありません。あるのは Newton, Archimedes です\nヒント: 大文字と小文字は区別されます",
  ],
  [
    "a server without the data",
    { server: "Archimedes" },
    "The clinical data is not in place on Archimedes\nhint: Take another server, or add --no-data if the job needs none",
    "Archimedes には臨床データが配置されていません\nヒント: 別のサーバにするか，データの要らないジョブなら --no-data を足してください",
  ],
  [
    "a GPU of a server without the data, also with --force",
    { server: "Archimedes", gpu: 0, force: true },
    "The clinical data is not in place on Archimedes\nhint: Take another server, or add --no-data if the job needs none",
    "Archimedes には臨床データが配置されていません\nヒント: 別のサーバにするか，データの要らないジョブなら --no-data を足してください",
  ],
])("planRun() refuses %s", async (_what, flags, english, japanese) => {
  assert.deepEqual(await spoken(await userErrorOf(() => plan({ name: "exp1", ...flags }))), {
    en: `error: ${english}\n`,
    ja: `エラー: ${japanese}\n`,
    exit: 2,
  });
});

Deno.test("planRun() refuses to look where no server has the data", async () => {
  const nowhere = { ...project, config: configOf([archimedes]) };
  assert.deepEqual(await spoken(await userErrorOf(() => plan({ name: "exp1" }, ["x"], nowhere))), {
    en: "error: No server has the clinical data in place\n" +
      "hint: Set data_ready: true where it is, or add --no-data if the job needs none\n",
    ja: "エラー: 臨床データが配置されたサーバがありません\n" +
      "ヒント: 配置済みのサーバの data_ready を true にするか，データの要らないジョブなら --no-data を足してください\n",
    exit: 2,
  });
  assert.equal(plan({ name: "exp1", noData: true }, ["x"], nowhere).wish.noData, true);
});

Deno.test.each([
  ["CUDA_VISIBLE_DEVICES=1", "CUDA_VISIBLE_DEVICES"],
  ["CUDA_DEVICE_ORDER=FASTEST_FIRST", "CUDA_DEVICE_ORDER"],
  ["TIAS_DATA_ROOT=", "TIAS_DATA_ROOT"],
  ["PYTHONUNBUFFERED=0", "PYTHONUNBUFFERED"],
])("planRun() keeps --env %s away from the job", async (entry, name) => {
  assert.deepEqual(await spoken(await userErrorOf(() => plan({ name: "exp1", env: ["A=1", entry] }))), {
    en:
      `error: ${name} cannot be set with --env\nhint: tias-remote sets it, so that the job keeps to the GPU that was chosen for it\n`,
    ja:
      `エラー: ${name} は --env で設定できません\nヒント: 割り当てた GPU から外れないよう，tias-remote が設定します\n`,
    exit: 2,
  });
});

Deno.test.each([
  ["A", "A"],
  ["=x", ""],
  ["1A=x", "1A"],
  ["A-B=secret", "A-B"],
  ["A B=secret", "A B"],
  ["名=x", "名"],
  ["A\u001b[2J=x", "A\\x1b[2J"],
  ["", ""],
])("planRun() refuses --env %j without showing its value", async (entry, shown) => {
  assert.deepEqual(await spoken(await userErrorOf(() => plan({ name: "exp1", env: [entry] }))), {
    en:
      `error: \`${shown}\` is no environment variable\nhint: Write NAME=VALUE; the name has letters, digits and \`_\` and starts with no digit\n`,
    ja:
      `エラー: \`${shown}\` は環境変数として使えません\nヒント: 名前=値 の形にしてください。名前は英数字と \`_\` で，数字では始められません\n`,
    exit: 2,
  });
});
