import assert from "node:assert/strict";
import { textsIn } from "../../lib/text/texts.ts";
import { typed, typedToScript, verbs } from "./command_line.ts";

const hint = {
  en: "hint: `tias-remote --help` shows how it is used\n",
  ja: "ヒント: 使い方は `tias-remote --help` で表示できます\n",
};

Deno.test.each([
  [
    "an unknown command",
    ["gpsu"],
    "There is no command `gpsu` (did you mean `gpus`?)",
    "`gpsu` というコマンドはありません (もしかして `gpus`)",
  ],
  [
    "an unknown command like nothing",
    ["frobnicate"],
    "There is no command `frobnicate`",
    "`frobnicate` というコマンドはありません",
  ],
  [
    "control characters in a command",
    ["a\u001b[2J"],
    "There is no command `a\\x1b[2J`",
    "`a\\x1b[2J` というコマンドはありません",
  ],
  [
    "an unknown flag",
    ["gpus", "--observ", "3"],
    "There is no flag `--observ` (did you mean `--observe`?)",
    "`--observ` というオプションはありません (もしかして `--observe`)",
  ],
  [
    "an unknown flag like nothing",
    ["gpus", "--frobnicate"],
    "There is no flag `--frobnicate`",
    "`--frobnicate` というオプションはありません",
  ],
  ["an unknown letter", ["logs", "-x", "exp1"], "There is no flag `-x`", "`-x` というオプションはありません"],
  [
    "a flag without its value",
    ["gpus", "--observe"],
    "`--observe` needs a value",
    "`--observe` の値がありません",
  ],
  [
    "a flag without its value before another",
    ["run", "--name", "--server", "Newton", "--", "x"],
    "`--name` needs a value",
    "`--name` の値がありません",
  ],
  [
    "a flag that comes twice",
    ["gpus", "--observe", "1", "--observe", "2"],
    "`--observe` was given more than once",
    "`--observe` が 2 回以上指定されています",
  ],
  [
    "a value for a switch",
    ["gpus", "--json=maybe"],
    "`--json` takes no value",
    "`--json` に値は付けられません",
  ],
  [
    "one argument too many",
    ["gpus", "Newton"],
    "There is one argument too many: `Newton`",
    "引数が多すぎます：`Newton`",
  ],
  ["a missing argument", ["logs"], "The argument `NAME` is missing", "引数 `NAME` がありません"],
  ["another missing argument", ["kill"], "The argument `NAME` is missing", "引数 `NAME` がありません"],
] as [string, string[], string, string][])(
  "the command line refuses %s",
  async (_what, words, english, japanese) => {
    assert.deepEqual(await typed("en", ...words), { exit: 2, out: "", err: `error: ${english}\n${hint.en}` });
    assert.deepEqual(await typed("ja", ...words), {
      exit: 2,
      out: "",
      err: `エラー: ${japanese}\n${hint.ja}`,
    });
  },
);

const whole = (min: number, max: number) => ({
  en: `a whole number from ${min} to ${max} is needed`,
  ja: `${min} 以上 ${max} 以下の整数が必要です`,
});

Deno.test.each([
  ...["121", "-1", "1.5", "1e1", "ten", " 5", "+5", "0x5", "NaN", "１０", "99999999999"].map((value) =>
    ["gpus", "observe", value, whole(0, 120)] as const
  ),
  ["status", "observe", "121", whole(0, 120)],
  ["run", "observe", "121", whole(0, 120)],
  ["run", "gpu", "256", whole(0, 255)],
  ["run", "gpu", "GPU-1", whole(0, 255)],
  ["logs", "lines", "-5", whole(0, 999_999_999)],
  ["kill", "grace", "301", whole(0, 300)],
] as [string, string, string, { en: string; ja: string }][])(
  "the command line refuses %s --%s=%s",
  async (verb, flag, value, problem) => {
    const job = verb === "logs" || verb === "kill" ? ["exp1"] : [];
    const english = await typed("en", verb, ...job, `--${flag}=${value}`);
    const japanese = await typed("ja", verb, ...job, `--${flag}=${value}`);
    assert.deepEqual(english, {
      exit: 2,
      out: "",
      err: `error: \`--${flag}\` cannot be \`${value}\`: ${problem.en}\n${hint.en}`,
    });
    assert.deepEqual(japanese, {
      exit: 2,
      out: "",
      err: `エラー: \`--${flag}\` に \`${value}\` は指定できません：${problem.ja}\n${hint.ja}`,
    });
  },
);

Deno.test("the hint of a script names its own verb", async () => {
  assert.deepEqual(await typedToScript("en", "gpus", "--observ", "3"), {
    exit: 2,
    out: "",
    err: "error: There is no flag `--observ` (did you mean `--observe`?)\n" +
      "hint: `tias-remote gpus --help` shows how it is used\n",
  });
});

Deno.test.each([
  [["--lang", "ja", "frobnicate"], "en"],
  [["--lang=ja", "frobnicate"], "en"],
])("--lang counts before the environment: %j", async (words, environment) => {
  assert.match((await typed(environment as "en", ...words)).err, /^エラー: /);
});

Deno.test("--lang of a language that nobody speaks is refused in English", async () => {
  assert.deepEqual(await typed("ja", "gpus", "--lang", "fr"), {
    exit: 2,
    out: "",
    err: `error: \`--lang\` cannot be \`fr\`: choose one of ja, en\n${hint.en}`,
  });
});

Deno.test("--lang behind `--` belongs to the command", async () => {
  assert.match((await typed("en", "gpus", "--", "--lang", "ja")).err, /^error: /);
});

Deno.test("tias-remote --version tells the version of deno.json", async () => {
  const { version } = JSON.parse(await Deno.readTextFile(new URL("../../deno.json", import.meta.url)));
  assert.deepEqual(await typed("en", "--version"), { exit: 0, out: `${version}\n`, err: "" });
});

for (const language of ["en", "ja"] as const) {
  Deno.test(`tias-remote --help names every verb in ${language}`, async () => {
    const { exit, out, err } = await typed(language, "--help");
    assert.deepEqual({ exit, err }, { exit: 0, err: "" });
    for (const verb of Object.keys(verbs)) {
      assert.match(
        out,
        new RegExp(`^  ${verb} +${textsIn(language).say(`${verb}.brief` as "gpus.brief")}$`, "m"),
      );
    }
  });

  for (const verb of Object.keys(verbs)) {
    Deno.test(`tias-remote ${verb} --help in ${language}`, async (t) => {
      const { exit, out, err } = await typed(language, verb, "--help");
      assert.deepEqual({ exit, err }, { exit: 0, err: "" });
      await t.assertSnapshot(out, { serializer: String });
    });
  }
}
