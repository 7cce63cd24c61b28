import { sanitizeLine } from "../text/sanitize.ts";
import { alignRows } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";
import { lossText, reportFacts, stepSpans, timeText } from "./report.ts";
import type { RunReport } from "./run_report.ts";

/** A run as plain text: the outcome first, then the facts, the time line and the notes. */
export function resultText(texts: Texts, report: RunReport): string {
  const last = report.loss.at(-1);
  const facts = [
    ...reportFacts(texts, report),
    ...(last === undefined ? [] : [
      [
        texts.say("report.loss"),
        texts.say("report.loss.last", { loss: lossText(last.loss), step: last.step }),
      ] as const,
    ]),
  ];
  const rows = facts.flatMap(([label, value]) =>
    value.split("\n").map((line, place) => [place === 0 ? label : "", sanitizeLine(line)])
  );
  const spans = stepSpans(report).map(({ label, at, seconds }) => [
    timeText(at, report.timeZone),
    texts.duration(seconds),
    sanitizeLine(label),
  ]);
  return [
    texts.say("report.title", { log: sanitizeLine(report.log) }),
    `${texts.say("report.outcome")}: ${sanitizeLine(report.outcome.text)}`,
    "",
    ...alignRows(rows),
    ...(spans.length === 0 ? [] : ["", texts.say("report.steps"), ...alignRows(spans, [1])]),
    ...(report.notes.length === 0
      ? []
      : ["", texts.say("report.notes"), ...report.notes.map((text) => `- ${sanitizeLine(text)}`)]),
    "",
  ].join("\n");
}
