import assert from "node:assert/strict";
import { message } from "../../lib/system/errors.ts";
import { en } from "../../lib/text/en.ts";
import { chooseLanguage, format } from "../../lib/text/message.ts";
import { sizeText } from "../../lib/text/size.ts";
import { durationUnit, loadTexts } from "../../lib/text/speaker.ts";
import { textsIn } from "../../lib/text/texts.ts";

Deno.test.each([
  [0, "0 s", "0 秒"],
  [59, "59 s", "59 秒"],
  [59.99, "59 s", "59 秒"],
  [60, "1.0 min", "1.0 分"],
  [90, "1.5 min", "1.5 分"],
  [3599, "59.9 min", "59.9 分"],
  [3600, "1.0 h", "1.0 時間"],
  [99_720, "27.7 h", "27.7 時間"],
  [72 * 3600 - 1, "71.9 h", "71.9 時間"],
  [72 * 3600, "3.0 days", "3.0 日"],
  [400 * 86_400, "400.0 days", "400.0 日"],
])("duration() shows %f seconds as %s and %s", (seconds, english, japanese) => {
  assert.equal(textsIn("en").duration(seconds), english);
  assert.equal(textsIn("ja").duration(seconds), japanese);
});

Deno.test("durationUnit() never rounds up to a unit or value that has not passed", () => {
  for (let seconds = 0; seconds < 300_000; seconds += 37) {
    const [unit, value] = durationUnit(seconds);
    const factor = { seconds: 1, minutes: 60, hours: 3600, days: 86_400 }[unit];
    assert.ok(Number(value) * factor <= seconds + 1e-6, `${seconds}: ${value} ${unit}`);
  }
});

Deno.test.each([
  [0, "0 B"],
  [1023, "1023 B"],
  [1024, "1.0 KiB"],
  [1536, "1.5 KiB"],
  [1024 * 1024 - 1, "1023.9 KiB"],
  [1024 * 1024, "1.0 MiB"],
  [50 * 1024 * 1024, "50.0 MiB"],
  [3.99 * 1024 ** 3, "3.9 GiB"],
  [5000 * 1024 ** 4, "5000.0 TiB"],
])("sizeText() shows %i bytes as %s", (bytes, expected) => {
  assert.equal(sizeText(bytes), expected);
});

Deno.test("format() puts parameters in as they are, each wherever it is named", () => {
  assert.equal(format(en["run.died.hint"], { job: "$&{job}" }).includes("tias-remote logs $&{job}"), true);
  assert.equal(
    format(en["run.chosen"], { server: "N", gpu: 0, name: "{state}", state: "unused" }),
    "Chosen: N GPU 0 {state} (unused)",
  );
});

Deno.test("format() leaves a placeholder without a parameter visible", () => {
  assert.equal(format(en["duration.hours"]), "{value} h");
});

Deno.test("textsIn() speaks its language, whether by key or by message", () => {
  assert.equal(textsIn("ja").language, "ja");
  assert.equal(textsIn("ja").say("gpu.state.unused"), "未使用");
  assert.equal(textsIn("en").say("gpu.state.unused"), "unused");
  assert.equal(
    textsIn("ja").sentence(message("job.not_found", { job: "exp1" })),
    "exp1 というジョブはどのサーバにもありません",
  );
});

Deno.test.each([
  ["ja", "en-US", "ja"],
  ["en", "ja-JP", "en"],
  ["JA", "en-US", "ja"],
  ["ja_JP.UTF-8", "en", "ja"],
  ["fr", "ja-JP", "en"],
  ["jam", "ja", "en"],
  [undefined, "ja", "ja"],
  [undefined, "ja-JP", "ja"],
  [undefined, "en-GB", "en"],
  [undefined, "", "en"],
  ["", "ja-JP", "ja"],
])("chooseLanguage() of the wish %s and the locale %s is %s", (wish, locale, expected) => {
  assert.equal(chooseLanguage(wish, locale), expected);
});

Deno.test.each(
  [
    ["gpu.state.unused", "未使用"],
    ["gpu.state.idle_held", "空き（利用者あり）"],
    ["gpu.state.busy", "使用中"],
    ["gpu.state.unknown", "状態不明"],
    ["gpu.pattern.constant", "常時使用"],
    ["gpu.pattern.intermittent", "断続的に使用"],
    ["gpu.pattern.memory_only", "メモリ確保のみ"],
    ["gpu.pattern.unused", "未使用"],
    ["gpu.holder.mine", "自分"],
  ] as const,
)("the Japanese term of %s is the specification's: %s", (key, expected) => {
  assert.equal(textsIn("ja").say(key), expected);
});

Deno.test("the use of a GPU reads as in the specification", () => {
  assert.equal(
    textsIn("ja").say("gpu.usage", { pattern: "断続的に使用", mean: 21, max: 74 }),
    "断続的に使用・平均 21%・最大 74%",
  );
});

Deno.test("loadTexts() speaks as textsIn() does", async () => {
  for (const language of ["en", "ja"] as const) {
    const texts = await loadTexts(language);
    assert.equal(texts.language, language);
    assert.equal(texts.say("help.usage"), textsIn(language).say("help.usage"));
  }
});
