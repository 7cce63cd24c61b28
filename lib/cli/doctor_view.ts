import type { Finding, Group, Level } from "../doctor/types.ts";
import type { Output } from "../system/context.ts";
import { alignRows } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";
import { paint, type Style } from "./paint.ts";

const style: Readonly<Record<Level, Style>> = { ok: "good", warning: "warning", problem: "error" };

/** An examination for a person: what is well in a line, what is not with why it matters and what to do. */
export function doctorLines(texts: Texts, output: Output, groups: readonly Group[]): string[] {
  const lines: string[] = [];
  for (const { place, name, findings } of groups) {
    if (lines.length > 0) lines.push("");
    lines.push(paint(output, "strong", place === "server" ? name : texts.say(`doctor.place.${place}`)));
    const heads = alignRows(findings.map((finding) => headOf(texts, output, finding)));
    findings.forEach((finding, at) => lines.push(heads[at] ?? "", ...advice(texts, output, finding)));
  }
  const count = (level: Level) =>
    groups.flatMap(({ findings }) => findings).filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count("problem"), count("warning")];
  lines.push("");
  lines.push(
    problems + warnings === 0
      ? texts.say("doctor.all_well")
      : texts.say("doctor.summary", { problems, warnings }),
  );
  return lines;
}

function headOf(texts: Texts, output: Output, { level, what, detail }: Finding): string[] {
  const sentence = texts.sentence(what);
  return [
    "",
    paint(output, style[level], texts.say(`doctor.level.${level}`)),
    detail === null ? sentence : `${sentence} (${detail})`,
  ];
}

function advice(texts: Texts, output: Output, { why, mend, command }: Finding): string[] {
  const labelled = (label: string, sentence: string) =>
    `      ${paint(output, "hint", `${label}:`)} ${sentence}`;
  return [
    ...(why === null ? [] : [labelled(texts.say("doctor.why"), texts.sentence(why))]),
    ...(mend === null ? [] : [labelled(texts.say("doctor.mend"), texts.sentence(mend))]),
    ...(command === null ? [] : [`        ${command}`]),
  ];
}
