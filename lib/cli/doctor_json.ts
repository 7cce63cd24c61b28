import * as z from "zod";
import type { Finding, Group } from "../doctor/types.ts";
import type { Texts } from "../text/texts.ts";

/** What `doctor --json` prints. `id`, `level` and `command` are the same in both languages; the sentences are not. */
export const doctorShape = z.strictObject({
  all_well: z.boolean(),
  groups: z.array(z.strictObject({
    place: z.enum(["here", "server", "train"]),
    /** The server's name; null for this machine and for what `train` needs. */
    name: z.string().nullable(),
    findings: z.array(z.strictObject({
      id: z.string(),
      level: z.enum(["ok", "warning", "problem"]),
      what: z.string(),
      /** What a program said about it. */
      detail: z.string().nullable(),
      why: z.string().nullable(),
      mend: z.string().nullable(),
      command: z.string().nullable(),
    })),
  })),
});

export type DoctorJson = z.infer<typeof doctorShape>;

/** Whether there is nothing to mend. */
export function allWell(groups: readonly Group[]): boolean {
  return groups.every(({ findings }) => findings.every(({ level }) => level === "ok"));
}

/** An examination for programs. */
export function doctorJson(texts: Texts, groups: readonly Group[]): DoctorJson {
  return {
    all_well: allWell(groups),
    groups: groups.map(({ place, name, findings }) => ({
      place,
      name,
      findings: findings.map((finding) => findingJson(texts, finding)),
    })),
  };
}

function findingJson(texts: Texts, { id, level, what, detail, why, mend, command }: Finding) {
  return {
    id,
    level,
    what: texts.sentence(what),
    detail,
    why: why === null ? null : texts.sentence(why),
    mend: mend === null ? null : texts.sentence(mend),
    command,
  };
}
