import type { Texts } from "../text/texts.ts";
import { escapeMarkup, lineChart, shortNumber } from "./chart.ts";
import { dollars } from "./cost.ts";
import type { GpuSample } from "./gpu_csv.ts";
import type { RunReport } from "./run_report.ts";

// Colours that can be told apart by most, on white and on black.
const style = `
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667; --rule: #d8dce2; --back: #fff; --good: #0a7d38; --bad: #b3261e;
  --s0: #0b62c4; --s1: #b85c00; --s2: #0a7d6b; --s3: #8a3fb0; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa3b0; --rule: #333a44; --back: #14171c; --good: #4cc47a;
  --bad: #ff8a80; --s0: #6cb2ff; --s1: #ffb066; --s2: #5fd4c0; --s3: #d3a0f0; } }
body { margin: 2rem auto; padding: 0 1rem; max-width: 48rem; color: var(--ink); background: var(--back);
  font: 16px/1.6 system-ui, "Hiragino Sans", "Yu Gothic UI", "Noto Sans CJK JP", sans-serif; }
h1 { font-size: 1.5rem; margin: 0 0 .25rem; } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
.verdict { font-weight: 600; } .good { color: var(--good); } .bad { color: var(--bad); }
table { border-collapse: collapse; width: 100%; } th, td { text-align: left; vertical-align: top; padding: .25rem .75rem .25rem 0;
  border-bottom: 1px solid var(--rule); overflow-wrap: anywhere; } th { font-weight: 500; color: var(--soft); white-space: nowrap; }
td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
p.note { color: var(--soft); margin: .25rem 0; } svg { width: 100%; height: auto; display: block; }
.grid { stroke: var(--rule); } .tick { fill: var(--soft); font-size: 11px; } .line { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
.s0 { stroke: var(--s0); } .s1 { stroke: var(--s1); } .s2 { stroke: var(--s2); } .s3 { stroke: var(--s3); }
.mark { fill: var(--bad); } .f0 { fill: var(--s0); } .f1 { fill: var(--s1); } .f2 { fill: var(--s2); } .f3 { fill: var(--s3); }
`;

/** A run as one page that needs nothing but itself: no script, no address, opened from disk. */
export function reportHtml(texts: Texts, report: RunReport): string {
  const title = escapeMarkup(texts.say("report.title", { log: report.log }));
  return `<!DOCTYPE html>
<html lang="${texts.language}">
<head>
<meta charset="utf-8"/>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<title>${title}</title>
<style>${style}</style>
</head>
<body>
<h1>${title}</h1>
<p class="verdict ${report.outcome.good ? "good" : "bad"}">${escapeMarkup(report.outcome.text)}</p>
${factsTable(texts, report)}
${section(texts.say("report.steps"), timeLine(texts, report))}
${section(texts.say("report.loss"), lossChart(texts, report))}
${section(texts.say("report.gpu"), gpuChart(texts, report))}
${section(texts.say("report.gpu.memory"), memoryChart(texts, report))}
${report.notes.length === 0 ? "" : section(texts.say("report.notes"), report.notes.map(note).join("\n"))}
</body>
</html>
`;
}

/** Label and value of each fact, as report and result both show them. */
export function reportFacts(texts: Texts, report: RunReport): (readonly [label: string, value: string])[] {
  const { checkpoint, cost, receipt } = report;
  const places = [
    ...(checkpoint.hub === null ? [] : [texts.say("report.checkpoint.hub", { place: checkpoint.hub })]),
    ...(checkpoint.local === null
      ? []
      : [texts.say("report.checkpoint.local", { folder: checkpoint.local })]),
  ];
  const proof = receiptText(texts, report);
  return [
    [texts.say("report.pod"), report.pod ?? texts.say("report.receipt.none")],
    [texts.say("report.began"), timeText(report.began, report.timeZone)],
    [texts.say("report.ended"), timeText(report.ended, report.timeZone)],
    [texts.say("report.took"), texts.duration(secondsBetween(report.began, report.ended))],
    [
      texts.say("report.cost"),
      cost === null
        ? texts.say("report.cost.unknown")
        : texts.say("report.cost.value", { usd: dollars(cost.usd), rate: dollars(cost.hourlyUsd) }),
    ],
    [texts.say("report.checkpoint"), places.join("\n") || texts.say("report.checkpoint.none")],
    [
      texts.say("report.receipt"),
      receipt.kind === "unproved" || receipt.kind === "left"
        ? `${proof}\n${texts.say("report.receipt.hint", { log: report.log })}`
        : proof,
    ],
  ];
}

function receiptText(texts: Texts, { receipt, timeZone }: RunReport): string {
  switch (receipt.kind) {
    case "proved":
      return texts.say("report.receipt.proved", {
        time: timeText(receipt.at, timeZone),
        checks: receipt.checks,
      });
    case "left":
      return texts.say("report.receipt.left", { time: timeText(receipt.until, timeZone) });
    default:
      return texts.say(`report.receipt.${receipt.kind}`);
  }
}

/** `2026-11-30 17:28:05` in a time zone. */
export function timeText(at: Date, timeZone: string): string {
  return at.toLocaleString("sv-SE", { timeZone });
}

/** What was done when and for how long. */
export function stepSpans(report: RunReport): { label: string; at: Date; seconds: number }[] {
  return report.steps.map(({ label, at }, place) => ({
    label,
    at,
    seconds: secondsBetween(at, report.steps[place + 1]?.at ?? report.ended),
  }));
}

function factsTable(texts: Texts, report: RunReport): string {
  const rows = reportFacts(texts, report).map(([label, value]) =>
    `<tr><th scope="row">${escapeMarkup(label)}</th><td>${
      escapeMarkup(value).replaceAll("\n", "<br/>")
    }</td></tr>`
  );
  return `<table>${rows.join("")}</table>`;
}

function section(title: string, body: string): string {
  return `<h2>${escapeMarkup(title)}</h2>\n${body}`;
}

function note(text: string): string {
  return `<p class="note">${escapeMarkup(text)}</p>`;
}

function timeLine(texts: Texts, report: RunReport): string {
  const spans = stepSpans(report);
  if (spans.length === 0) return note(texts.say("report.steps.none"));
  const whole = Math.max(1, spans.reduce((sum, { seconds }) => sum + seconds, 0));
  let left = 0;
  const bars = spans.map(({ label, seconds }, place) => {
    const wide = Math.max(1, seconds / whole * 760);
    const bar = `<rect class="f${place % 4}" x="${left.toFixed(1)}" width="${
      wide.toFixed(1)
    }" height="18"><title>${escapeMarkup(label)}</title></rect>`;
    left += seconds / whole * 760;
    return bar;
  });
  const rows = spans.map(({ label, at, seconds }) =>
    `<tr><td>${escapeMarkup(label)}</td><td class="n">${timeText(at, report.timeZone)}</td>` +
    `<td class="n">${escapeMarkup(texts.duration(seconds))}</td></tr>`
  );
  const title = escapeMarkup(texts.say("report.steps"));
  return `<svg viewBox="0 0 760 18" role="img"><title>${title}</title>${bars.join("")}</svg>\n<table>${
    rows.join("")
  }</table>`;
}

function lossChart(texts: Texts, { loss }: RunReport): string {
  const odd = loss.filter(({ loss }) => !Number.isFinite(loss));
  const chart = lineChart({
    title: texts.say("report.loss"),
    xLabel: texts.say("report.step_axis"),
    series: [{ label: "", points: loss.map(({ step, loss }) => [step, loss] as const) }],
    marks: odd.slice(0, 100).map(({ step }) => step),
  });
  const last = loss.at(-1);
  return [
    chart ?? note(texts.say("report.loss.none")),
    ...(last === undefined
      ? []
      : [note(texts.say("report.loss.last", { loss: lossText(last.loss), step: last.step }))]),
    ...(odd.length === 0 ? [] : [note(texts.say("report.loss.not_finite", { count: odd.length }))]),
  ].join("\n");
}

/** A loss in few characters; also one that is no number. */
export function lossText(loss: number): string {
  return Number.isFinite(loss) ? shortNumber(loss) : String(loss);
}

function gpuChart(texts: Texts, report: RunReport): string {
  return perGpu(texts, report, [0, 100], ({ utilizationPercent }) => utilizationPercent, (samples) => {
    const values = samples.flatMap(({ utilizationPercent }) => utilizationPercent ?? []);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    return texts.say("report.gpu.mean", { mean: mean.toFixed(1), most });
  });
}

function memoryChart(texts: Texts, report: RunReport): string {
  const total = report.gpu.reduce((most, { totalMib }) => Math.max(most, totalMib ?? 0), 0);
  return perGpu(texts, report, [0, total], ({ usedMib }) => usedMib, (samples) => {
    const used = samples.reduce((most, { usedMib }) => Math.max(most, usedMib ?? 0), 0);
    return texts.say("report.gpu.memory_most", { used, total: samples.at(-1)?.totalMib ?? total });
  });
}

function perGpu(
  texts: Texts,
  { gpu }: RunReport,
  yBounds: readonly [number, number],
  value: (sample: GpuSample) => number | null,
  summary: (samples: readonly GpuSample[]) => string,
): string {
  const first = gpu[0]?.at ?? 0;
  const numbers = [...new Set(gpu.map(({ gpu }) => gpu))].sort((a, b) => a - b);
  const samplesOf = (number: number) =>
    gpu.filter((sample) => sample.gpu === number && value(sample) !== null);
  const label = (number: number) => texts.say("report.gpu.number", { number });
  const chart = lineChart({
    title: texts.say("report.gpu"),
    xLabel: texts.say("report.minutes_axis"),
    yBounds,
    series: numbers.map((number) => ({
      label: label(number),
      points: samplesOf(number).map((sample) => [(sample.at - first) / 60, value(sample) ?? 0] as const),
    })),
  });
  if (chart === undefined) return note(texts.say("report.gpu.none"));
  const legend = numbers.filter((number) => samplesOf(number).length > 0).map((number, place) =>
    `<p class="note"><svg viewBox="0 0 12 12" style="display:inline;width:.75em" aria-hidden="true"><rect class="f${
      place % 4
    }" width="12" height="12"/></svg> ${escapeMarkup(`${label(number)}: ${summary(samplesOf(number))}`)}</p>`
  );
  return [chart, ...legend].join("\n");
}

function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.round((to.getTime() - from.getTime()) / 1000));
}
