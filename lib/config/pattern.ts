/** The grammar of a whitelist pattern, which `remote.yaml` is checked against. `lib/transfer/whitelist.ts` matches. */

/** Why a text is no pattern. */
export type PatternFault =
  | "empty"
  | "absolute"
  | "empty_segment"
  | "dot_segment"
  | "double_star"
  | "impossible_character";

// What no member may have in its name anyway, so a pattern with it could never match: control characters, the
// backslash, and what Windows forbids in names. `*` and `?` are the wildcards.
// deno-lint-ignore no-control-regex
const impossible = /[\u0000-\u001f\u007f-\u009f\\:"<>|]/;

/** What is wrong with `text` as a pattern, or `undefined` when it is one. */
export function faultOfPattern(text: string): PatternFault | undefined {
  if (text === "") return "empty";
  if (text.startsWith("/")) return "absolute";
  if (impossible.test(text) || !text.isWellFormed()) return "impossible_character";
  const segments = text.split("/");
  if (segments.includes("")) return "empty_segment";
  if (segments.some((segment) => segment === "." || segment === "..")) return "dot_segment";
  if (text.includes("**")) return "double_star";
  return undefined;
}
