import assert from "node:assert/strict";
import fc from "fast-check";
import { escapeMarkup, lineChart, shortNumber, thinned, ticks } from "../../lib/rent/chart.ts";
import { readGpuCsv } from "../../lib/rent/gpu_csv.ts";
import { reportHtml } from "../../lib/rent/report.ts";
import { resultText } from "../../lib/rent/result.ts";
import type { RunReport } from "../../lib/rent/run_report.ts";
import { textsIn } from "../../lib/text/texts.ts";

const began = new Date("2026-11-30T13:00:00Z");
const after = (seconds: number) => new Date(began.getTime() + seconds * 1000);

export const exampleReport: RunReport = {
  log: "trim_corr_v3",
  outcome: { good: true, text: "学習が完了し，チェックポイントを保存しました" },
  pod: "tias-trim_corr_v3-1a2b3c4d (abc123xyz, NVIDIA A40)",
  began,
  ended: after(3 * 3600 + 1234),
  timeZone: "Asia/Tokyo",
  cost: { usd: 1.4712, hourlyUsd: 0.44 },
  steps: [
    { label: "rent", at: began },
    { label: "prepare", at: after(240) },
    { label: "train", at: after(1100) },
    { label: "save", at: after(11_000) },
    { label: "delete", at: after(11_900) },
    { label: "download", at: after(11_930) },
  ],
  checkpoint: { hub: "hasegawa/checkpoints (trim_corr_v3/1499)", local: "/Volumes/DISK/checkpoints/1499" },
  receipt: { kind: "proved", at: after(11_940), checks: "DELETE 204, GET 404 ×2, list ×2" },
  notes: ["A note"],
  loss: Array.from({ length: 150 }, (_, place) => ({
    step: place * 10,
    loss: place === 77 ? NaN : 0.9 * Math.exp(-place / 30) + 0.01 + (place % 7) / 1000,
  })),
  gpu: Array.from({ length: 330 }, (_, place) => ({
    at: 1_796_000_000 + Math.floor(place / 2) * 60,
    gpu: place % 2,
    utilizationPercent: place === 9 ? null : 60 + (place * 37) % 40,
    usedMib: Math.min(43_000, 2000 + place * 500),
    totalMib: 46_068,
  })),
};

const empty: RunReport = {
  ...exampleReport,
  outcome: { good: false, text: "failed" },
  pod: null,
  cost: null,
  steps: [],
  checkpoint: { hub: null, local: null },
  receipt: { kind: "none" },
  notes: [],
  loss: [],
  gpu: [],
};

/** Tags must be closed in order, attributes quoted, and `&` and `<` escaped: markup that any XML reader takes. */
function assertWellFormed(html: string): void {
  const body = html.replace(/^<!DOCTYPE html>\n/, "").replace(/<style>[^<]*<\/style>/, "");
  const open: string[] = [];
  const tag = /<(\/?)([a-zA-Z][\w]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|&(?:amp|lt|gt|quot|#39);|([<&])/g;
  for (const [whole, closing, name, , selfClosing, stray] of body.matchAll(tag)) {
    assert.equal(stray, undefined, `stray ${stray}`);
    if (name === undefined || selfClosing === "/") continue;
    if (closing === "/") assert.equal(open.pop(), name, whole);
    else open.push(name);
  }
  assert.deepEqual(open, []);
  // deno-lint-ignore no-control-regex
  assert(!/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(html));
}

function assertSelfContained(html: string): void {
  const markup = [...html.matchAll(/<[a-zA-Z][^>]*>/g)].map(([tag]) => tag);
  for (const tag of markup) {
    assert(!/^<(script|link|iframe|object|embed|img|base|form)\b/i.test(tag), tag);
    assert(!/\s(src|href|xlink:href|on\w+|action)=/i.test(tag), tag);
  }
  assert(!/url\(|@import/i.test(html));
}

for (const language of ["en", "ja"] as const) {
  Deno.test(`reportHtml() is one well-formed page without script or address in ${language}`, () => {
    for (
      const report of [exampleReport, empty, { ...exampleReport, receipt: { kind: "unproved" } } as const]
    ) {
      const html = reportHtml(textsIn(language), report);
      assertWellFormed(html);
      assertSelfContained(html);
      assert(html.includes(`<html lang="${language}">`));
      assert(!/NaN|Infinity|undefined|\[object/.test(html.replace("nan, inf", "")), html);
    }
  });
}

Deno.test("reportHtml() shows the curve, the GPUs, the time line, the cost and the proof of deletion", () => {
  const html = reportHtml(textsIn("en"), exampleReport);
  assert.equal(html.match(/<path class="line/g)?.length, 1 + 2 + 2);
  assert.equal(html.match(/<circle class="mark"/g)?.length, 1);
  assert(html.includes("1 values that are no numbers"));
  assert(html.includes("$1.48 ($0.44 per hour)"));
  assert(html.includes("2026-11-30 22:00:00"));
  assert(html.includes("DELETE 204, GET 404 ×2, list ×2"));
  for (const { label } of exampleReport.steps) assert(html.includes(`<td>${label}</td>`));
});

Deno.test("reportHtml() says loudly when a Pod may be left", () => {
  const html = reportHtml(textsIn("en"), { ...exampleReport, receipt: { kind: "unproved" } });
  assert(html.includes("NOT PROVED"));
  assert(html.includes("tias-remote stop --log trim_corr_v3"));
});

Deno.test("reportHtml() escapes every text, whatever it holds", () => {
  const text = fc.string({ unit: "binary" });
  fc.assert(fc.property(text, text, (one, two) => {
    const hostile = `</td><script>alert(1)</script>${one}`;
    const html = reportHtml(textsIn("ja"), {
      ...exampleReport,
      log: hostile,
      pod: hostile,
      outcome: { good: true, text: two },
      steps: [{ label: hostile, at: began }],
      checkpoint: { hub: two, local: hostile },
      receipt: { kind: "proved", at: began, checks: two },
      notes: [hostile, two],
    });
    assertWellFormed(html);
    assertSelfContained(html);
  }));
});

Deno.test("reportHtml() draws whatever numbers a log holds", () => {
  const number = fc.double();
  const loss = fc.array(fc.record({ step: fc.nat(), loss: number }), { maxLength: 50 });
  fc.assert(fc.property(loss, (points) => {
    const html = reportHtml(textsIn("en"), { ...empty, loss: points });
    assertWellFormed(html);
    assert(!/[ "]-?(NaN|Infinity)/.test(html.replaceAll(/last: [^<]*/g, "")), html);
  }));
});

Deno.test("lineChart() of a hundred thousand points stays small and keeps the peak", () => {
  const points = Array.from({ length: 100_000 }, (_, x) => [x, x === 54_321 ? 9 : 1] as const);
  assert(thinned(points).length <= 1200);
  assert(thinned(points).some(([, y]) => y === 9));
  const chart = lineChart({ title: "t", xLabel: "x", series: [{ label: "a", points }] });
  assert((chart ?? "").length < 50_000);
});

Deno.test("lineChart() of one point, of equal values and of nothing", () => {
  const draw = (points: readonly (readonly [number, number])[]) =>
    lineChart({ title: "t", xLabel: "x", series: [{ label: "a", points }] });
  assert.match(draw([[1, 5]]) ?? "", /d="M[\d.]+ [\d.]+h2"/);
  assert.match(draw([[1, 5], [2, 5]]) ?? "", /d="M[\d. ]+L[\d. ]+"/);
  assert.match(draw([[1, 5], [2, NaN], [3, 5], [4, 6]]) ?? "", /d="M[\d. ]+M[\d. ]+L[\d. ]+"/);
  assert.equal(draw([]), undefined);
  assert.equal(draw([[1, NaN]]), undefined);
});

Deno.test.each(
  [
    [0, "0"],
    [0.0648, "0.0648"],
    [30_000, "30k"],
    [1500, "1500"],
    [1e-7, "1e-7"],
    [2.5e6, "2.5e6"],
  ] as const,
)("shortNumber() of %d", (value, text) => assert.equal(shortNumber(value), text));

Deno.test("ticks() are round values within the bounds", () => {
  assert.deepEqual(ticks(0, 100), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(3, 3), [3]);
  assert.deepEqual(ticks(0, 1490), [0, 500, 1000]);
});

Deno.test("escapeMarkup() leaves nothing that markup would take for its own", () => {
  assert.equal(
    escapeMarkup(`<a href="x">&'\u0000\ud800`),
    "&lt;a href=&quot;x&quot;&gt;&amp;&#39;\ufffd\ufffd",
  );
  assert.equal(escapeMarkup("日本😀"), "日本😀");
});

Deno.test("readGpuCsv() reads samples and passes over head, gaps and a cut end", () => {
  const text = "time,gpu,utilization_percent,memory_used_mib,memory_total_mib\n" +
    "1796000000,0,97,40123,46068\r\n1796000000,1,[N/A],1,2\n1796000030,0,101,1,2\n1796000060,0,9";
  assert.deepEqual(readGpuCsv(text), [
    { at: 1796000000, gpu: 0, utilizationPercent: 97, usedMib: 40123, totalMib: 46068 },
    { at: 1796000000, gpu: 1, utilizationPercent: null, usedMib: 1, totalMib: 2 },
    { at: 1796000030, gpu: 0, utilizationPercent: null, usedMib: 1, totalMib: 2 },
  ]);
  fc.assert(fc.property(fc.string(), (any) => void readGpuCsv(any)));
});

Deno.test("resultText() tells the run in both languages", async (t) => {
  for (const language of ["en", "ja"] as const) {
    await t.assertSnapshot(resultText(textsIn(language), exampleReport), { serializer: String });
  }
  await t.assertSnapshot(resultText(textsIn("en"), { ...empty, receipt: { kind: "unproved" } }), {
    serializer: String,
  });
});

Deno.test("resultText() lets no control character through", () => {
  const text = resultText(textsIn("en"), { ...exampleReport, notes: ["\u001b]0;x\u0007"], log: "\u001b[2J" });
  assert(!text.includes("\u001b"));
});
