import { type AccessKind, accessKinds, levelsAbove, type PermissionSet } from "../system/permission_sets.ts";
import { alignRows } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";

/** What each verb can touch, in plain words: a block of lines for each, and what holds for all of them. */
export function permissionLines(
  texts: Texts,
  os: string,
  sets: Readonly<Record<string, PermissionSet>>,
): string[] {
  const blocks = Object.entries(sets).flatMap(([verb, set]) => [
    verb,
    ...alignRows(
      accessKinds.map((kind) => ["", texts.say(`permissions.${kind}`), accessText(texts, os, kind, set)]),
    ),
    "",
  ]);
  return [
    ...blocks,
    texts.say("permissions.project", { levels: levelsAbove }),
    texts.say("permissions.sandbox"),
  ];
}

function accessText(texts: Texts, os: string, kind: AccessKind, set: PermissionSet): string {
  const words = set[kind].filter((word) => isOf(os, word)).map((word) => wordText(texts, kind, word));
  if (words.length > 0) return words.join(", ");
  // Without this a reader would wonder how the servers are reached at all.
  return texts.say(
    kind === "net" && set.run.includes("ssh") ? "permissions.only_ssh" : "permissions.nothing",
  );
}

function wordText(texts: Texts, kind: AccessKind, word: string): string {
  if (kind === "sys" && word === "hostname") return texts.say("permissions.hostname");
  if (kind !== "read" && kind !== "write") return word;
  if (word === ".") return texts.say("permissions.whole_project");
  return word.startsWith("./") ? texts.say("permissions.project_folder", { path: word.slice(2) }) : word;
}

/** Whether a path is one of this system; a word that is no path is one of every system. */
function isOf(os: string, word: string): boolean {
  return os === "windows" ? !word.startsWith("/") : !/^[A-Z]:\\/.test(word);
}
