import assert from "node:assert/strict";
import { type Ledger, newLedger, type Outcome } from "../../lib/rent/ledger.ts";
import { reportOf } from "../../lib/rent/ledger_report.ts";
import { outcomeMessage } from "../../lib/rent/outcome_message.ts";
import { reportHtml } from "../../lib/rent/report.ts";
import { resultText } from "../../lib/rent/result.ts";
import { textsIn } from "../../lib/text/texts.ts";

const start = 1_796_043_600;

function ledgerOf(changes: Partial<Ledger>): Ledger {
  const begun = newLedger({
    log: "trim",
    prefix: "tias",
    plan: {
      candidates: [{ gpu: "NVIDIA A40", attempts: 5, pauseSec: 30 }],
      limitSec: 18_000,
      graceSec: 3600,
      extensionSec: 10_800,
      hourlyCapUsd: 1,
      steps: 2,
      expectedCheckpoint: 1499,
      watchSec: 300,
    },
    name: "tias-trim-1a2b3c4d",
    begunAt: start,
    ids: { steps: [], train: "", uploads: [] },
  });
  return { ...begun, ...changes };
}

const pod = {
  id: "abc",
  gpu: "NVIDIA A40",
  hourlyUsd: 0.44,
  rentedAt: start + 60,
  ssh: null,
  reachedAt: null,
  restarts: 0,
};
const receipt = {
  podId: "abc",
  deleteStatus: 204,
  deletedAt: start + 60 + 7200,
  firstReadAt: start + 7265,
  secondReadAt: start + 7270,
  rentedAt: start + 60,
  hourlyUsd: 0.44,
} as const;
const traces = {
  hubPlace: "me/repo (1499)",
  trainLog: "Step 0: loss=0.5, x=1\nStep 100: loss=nan, x=1\n",
  gpuCsv: "1796043700,0,97,40123,46068\n",
  style: { style: "openpi" },
  now: new Date((start + 9000) * 1000),
  timeZone: "UTC",
} as const;
const texts = textsIn("en");

const report = (changes: Partial<Ledger>) => reportOf(texts, ledgerOf(changes), traces);

Deno.test("reportOf() a run that went well", () => {
  const { outcome, pod: rented, cost, ended, receipt: proof, checkpoint, loss, gpu, steps } = report({
    outcome: { kind: "trained", copy: "hub" },
    pod,
    receipts: [receipt],
    commit: "c".repeat(40),
    home: "/data/1499",
    timeline: [
      { phase: "renting", at: start },
      { phase: "training", at: start + 500 },
      { phase: "done", at: start + 8000 },
    ],
  });
  assert.equal(outcome.good, true);
  assert.equal(rented, "tias-trim-1a2b3c4d (abc, NVIDIA A40)");
  assert.deepEqual(cost, { usd: 0.88, hourlyUsd: 0.44 });
  assert.equal(ended.getTime(), (start + 8000) * 1000);
  assert.equal(proof.kind, "proved");
  assert.deepEqual(checkpoint, { hub: "me/repo (1499) @ cccccccccccc", local: "/data/1499" });
  assert.deepEqual(loss.map(({ step }) => step), [0, 100]);
  assert.equal(gpu.length, 1);
  assert.deepEqual(steps.map(({ label }) => label), ["renting", "training"]);
});

Deno.test.each<[string, Partial<Ledger>, string]>([
  ["no Pod", { outcome: { kind: "no_capacity" } }, "none"],
  [
    "a Pod whose deletion was not proved",
    { outcome: { kind: "interrupted" }, pod, unproved: true },
    "unproved",
  ],
  ["a Pod and no word of its deletion", { outcome: { kind: "fault", detail: "x" }, pod }, "unproved"],
  ["perhaps a Pod", { outcome: { kind: "cannot_tell", detail: "x" } }, "unproved"],
  ["a Pod left with the only copy", { outcome: { kind: "unsaved", detail: "x" }, pod }, "left"],
  ["a deleted Pod and a new one", { pod: { ...pod, id: "new" }, receipts: [receipt] }, "unproved"],
  ["a deleted Pod", { pod: null, receipts: [receipt] }, "proved"],
])("reportOf() a run with %s", (_what, changes, kind) => {
  const told = report(changes);
  assert.equal(told.receipt.kind, kind);
  const text = resultText(texts, told);
  assert.equal(text.includes("tias-remote stop --log trim"), kind === "unproved" || kind === "left");
  assert(reportHtml(texts, told).includes("</html>"));
});

Deno.test("reportOf() counts what a Pod that is still there has cost so far, and no price that is not known", () => {
  assert.deepEqual(report({ pod }).cost, { usd: 0.44 * 8940 / 3600, hourlyUsd: 0.44 });
  assert.equal(report({ pod: { ...pod, hourlyUsd: null } }).cost, null);
  assert.deepEqual(report({}).cost, { usd: 0, hourlyUsd: 0 });
});

Deno.test("outcomeMessage() says every outcome in both languages", () => {
  const detail = "why\u001b[31m";
  const outcomes: (Outcome | null)[] = [
    null,
    { kind: "trained", copy: "hub" },
    { kind: "trained", copy: "home" },
    { kind: "unsaved", detail },
    ...(["signal", "stopped", "pod_stopped"] as const).map((why) => ({ kind: "lost", why }) as const),
    ...(["exit_code", "vanished", "silent", "limit", "incomplete", "pod_stopped"] as const).map((reason) =>
      ({ kind: "training_failed", reason, exitCode: 1 }) as const
    ),
    { kind: "no_capacity" },
    { kind: "refused", status: 402, detail },
    { kind: "too_expensive", hourlyUsd: 2.5 },
    { kind: "pod_died", status: "EXITED" },
    { kind: "no_ssh", detail },
    { kind: "unproved", status: 403 },
    { kind: "step_failed", index: 0, code: null, detail },
    { kind: "not_started", detail },
    { kind: "time_over" },
    { kind: "cannot_tell", detail },
    { kind: "interrupted" },
    { kind: "stopped" },
    { kind: "fault", detail },
  ];
  for (const language of ["en", "ja"] as const) {
    const said = outcomes.map((outcome) => textsIn(language).sentence(outcomeMessage(outcome)));
    assert.equal(new Set(said).size, said.length);
    for (const sentence of said) assert(!sentence.includes("{") && !sentence.includes("\u001b"), sentence);
  }
});
