import type { RefusalRule } from "./refusal.ts";

/** Names of files as every system must be able to hold them, so that a pull means the same everywhere. */

/** Bytes that a segment may have: `NAME_MAX` of Linux and macOS. */
const maxSegmentBytes = 255;
/** Bytes that a whole path may have, well under Linux' 4096 so that the destination's own path fits before it. */
const maxPathBytes = 2048;

/**
 * Windows' device names, in any case, with any extension
 * (https://learn.microsoft.com/windows/win32/fileio/naming-a-file). The superscript digits count as digits there.
 */
const reservedNames: ReadonlySet<string> = new Set([
  "CON",
  "PRN",
  "AUX",
  "NUL",
  "CONIN$",
  "CONOUT$",
  "CLOCK$",
  ...["COM", "LPT"].flatMap((port) => Array.from("0123456789¹²³", (digit) => port + digit)),
]);

// Zero-width, bidirectional and other invisible characters: a name would not read as what it is.
const invisible = /[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
// deno-lint-ignore no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/;

const encoder = new TextEncoder();
// A byte order mark must not vanish from the name.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** What makes `segment` a name that some system cannot hold or would read as another, or `undefined`. */
export function faultOfSegment(segment: string): RefusalRule | undefined {
  if (segment === "") return "empty_segment";
  if (segment === ".") return "dot_segment";
  if (segment === "..") return "parent_segment";
  if (control.test(segment)) return "control_character";
  if (invisible.test(segment)) return "invisible_character";
  if (segment.includes("\\")) return "backslash";
  if (segment.includes(":")) return "colon";
  if (/[<>"|?*]/.test(segment)) return "forbidden_character";
  // Windows drops them, so `.. ` would become `..`.
  if (/[. ]$/.test(segment)) return "trailing_dot_or_space";
  const base = (segment.split(".")[0] ?? "").replace(/ +$/, "").toUpperCase();
  if (reservedNames.has(base)) return "reserved_name";
  // A unit of UTF-16 takes three bytes at most.
  if (segment.length * 3 > maxSegmentBytes && encoder.encode(segment).length > maxSegmentBytes) {
    return "name_too_long";
  }
  return undefined;
}

/** A member's path in the archive, taken apart, or the rule that it breaks. */
export type NameJudgement =
  | { readonly path: string; readonly isDirectoryName: boolean }
  | { readonly fault: RefusalRule; readonly text: string };

/**
 * Judges the bytes of a member's name. One leading `./`, which every tar writes for `tar -T` lists of `find .`, is
 * taken off; `.` and `./` themselves give the empty path. One trailing `/` marks a directory's name.
 */
export function judgeName(bytes: Uint8Array): NameJudgement {
  const fault = (rule: RefusalRule, text = "") => ({ fault: rule, text });
  if (bytes.length === 0) return fault("empty_name");
  if (bytes.includes(0)) return fault("nul_in_name");
  // Before decoding: in Shift_JIS it may be the second byte of a character.
  if (bytes.includes(0x5c)) return fault("backslash");
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    return fault("not_utf8");
  }
  if (bytes.length > maxPathBytes) return fault("name_too_long", text);
  if (text.startsWith("/")) return fault("absolute", text);
  if (/^[A-Za-z]:/.test(text)) return fault("drive_letter", text);
  if (text === "." || text === "./") return { path: "", isDirectoryName: true };
  const inner = text.startsWith("./") ? text.slice(2) : text;
  const isDirectoryName = inner.endsWith("/");
  const path = isDirectoryName ? inner.slice(0, -1) : inner;
  const segments = path.split("/");
  // An escape is told before anything else about the name.
  if (segments.includes("..")) return fault("parent_segment", text);
  for (const segment of segments) {
    const rule = faultOfSegment(segment);
    if (rule !== undefined) return fault(rule, text);
  }
  return { path, isDirectoryName };
}

/**
 * The same for two names that some file system holds to be one: decomposed (HFS+, APFS), case folded (NTFS, APFS).
 * Lower case comes first, or the capital sharp s would stay apart from `ss`.
 */
export function foldName(name: string): string {
  // deno-lint-ignore no-control-regex
  if (/^[\u0000-\u007f]*$/.test(name)) return name.toUpperCase();
  return name.normalize("NFD").toLowerCase().toUpperCase().normalize("NFC");
}

/** A name with every character but separators and its last extension hidden: `*******` + `/` + `***.png`. */
export function maskName(name: string): string {
  const extension = /[^./]\.([A-Za-z0-9]{1,8})$/.exec(name)?.[1];
  const stem = extension === undefined ? name : name.slice(0, -extension.length - 1);
  const masked = Array.from(stem, (character) => character === "/" ? "/" : "*").join("");
  return extension === undefined ? masked : `${masked}.${extension}`;
}
