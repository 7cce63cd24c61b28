import assert from "node:assert/strict";
import { progressLine, pullError } from "../../lib/cli/pull_view.ts";
import { ExitCode } from "../../lib/system/errors.ts";
import { width } from "../../lib/text/table.ts";
import { textsIn } from "../../lib/text/texts.ts";
import type { PullOutcome } from "../../lib/transfer/pull.ts";
import { Refusal, refusalRules } from "../../lib/transfer/refusal.ts";

type Failed = Exclude<PullOutcome, { kind: "done" | "planned" }>;

const request = {
  server: {
    name: "Newton",
    address: "192.168.23.14",
    user: "hasegawa",
    priority: 1,
    remote_dir: "~/work",
    data_dir: "~/data",
    uv: "uv",
    data_ready: true,
  },
  runId: "exp-1",
  runs: "/project/runs",
};

const failures: readonly Failed[] = [
  ...refusalRules.map((rule): Failed => ({ kind: "refused", refusal: new Refusal(rule, "***.png") })),
  ...(["no_run", "link", "unreadable", "no_tar", "no_sha256"] as const).map((problem): Failed => ({
    kind: "problem",
    problem,
  })),
  ...(["cut", "silent", "timeout", "authentication"] as const).map((kind): Failed => ({
    kind: "connection",
    failure: { kind, detail: "" },
  })),
  ...(["link", "file", "directory", "other"] as const).map((obstacle): Failed => ({
    kind: "obstacle",
    obstacle,
  })),
  ...(["full", "not_permitted", "not_writable"] as const).map((fault): Failed => ({
    kind: "disk",
    fault,
    problem: "EACCES",
  })),
  { kind: "tar_failed", status: 2 },
  { kind: "stalled", minutes: 10 },
  { kind: "not_understood" },
  { kind: "placing", problem: "EBUSY" },
];

for (const language of ["en", "ja"] as const) {
  Deno.test(`pullError() says in ${language} what happened and what to do, for every failure`, () => {
    const texts = textsIn(language);
    const sentences = failures.map((failure) => {
      const error = pullError(texts, failure, request, false);
      const sentence = texts.sentence(error.text);
      assert.ok(error.hint !== undefined && texts.sentence(error.hint) !== "");
      assert.doesNotMatch(`${sentence} ${texts.sentence(error.hint)}`, /\{\w+\}/);
      assert.deepEqual(error.details, []);
      return sentence;
    });
    assert.equal(new Set(sentences).size, sentences.length, "each failure has a sentence of its own");
  });
}

Deno.test("pullError() shows a masked name with verbose, and nothing of it otherwise", () => {
  const texts = textsIn("en");
  const outcome: Failed = { kind: "refused", refusal: new Refusal("colon", "***.png") };
  assert.deepEqual(pullError(texts, outcome, request, true).details, ["name, masked: ***.png"]);
  const nameless: Failed = { kind: "refused", refusal: new Refusal("empty") };
  assert.deepEqual(pullError(texts, nameless, request, true).details, []);
});

Deno.test("pullError() takes a missing right for wrong usage, and all else for failed work", () => {
  const codes = failures.map((failure) => pullError(textsIn("en"), failure, request, false).exit);
  assert.equal(codes.filter((code) => code === ExitCode.Usage).length, 1);
  assert.ok(codes.every((code) => code === ExitCode.Usage || code === ExitCode.Failed));
});

Deno.test.each(
  [
    [
      "en",
      80,
      { done: 0, total: 1000, seconds: 0 },
      "[------------------------------]   0%  0 B of 1000 B  0 B/s",
    ],
    [
      "en",
      80,
      { done: 2 ** 29, total: 2 ** 30, seconds: 10 },
      "[#############-------------]  50%  512.0 MiB of 1.0 GiB  51.1 MiB/s  10 s left",
    ],
    ["en", 40, { done: 5, total: 10, seconds: 1 }, " 50%  5 B of 10 B  5 B/s  1 s left"],
    [
      "en",
      80,
      { done: 20, total: 10, seconds: 0.5 },
      "[##############################] 100%  10 B of 10 B  20 B/s",
    ],
    [
      "ja",
      80,
      { done: 2 ** 20, total: 2 ** 21, seconds: 2 },
      "[#############--------------]  50%  1.0 MiB / 2.0 MiB  512.0 KiB/秒  残り 2 秒",
    ],
  ] as const,
)("progressLine() in %s on %d columns shows %j", (language, columns, progress, expected) => {
  const line = progressLine(textsIn(language), progress, columns);
  assert.equal(line, expected);
  assert.ok(width(line) <= Math.max(columns, 40));
});
