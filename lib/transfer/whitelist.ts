import { faultOfPattern } from "../config/pattern.ts";

/** The whitelist of what may come back: which relative paths of a run match, and which directories lead to them. */

/** One checked pattern, such as `figures/*.png`. */
export interface Pattern {
  readonly text: string;
  readonly segments: readonly string[];
}

/**
 * A pattern: `*` is any number of characters and `?` is one character, both within one segment of the path. Every
 * other character, `[` and `{` too, stands for itself; case matters; a leading dot is a character like any other.
 *
 * @throws {TypeError} when {@linkcode faultOfPattern} has something to say; the configuration is checked by it first
 */
export function parsePattern(text: string): Pattern {
  const fault = faultOfPattern(text);
  if (fault !== undefined) throw new TypeError(`Cannot use a pattern with the fault "${fault}"`);
  return { text, segments: text.split("/") };
}

/** Whether the relative path `path`, with `/` between its segments, is on the whitelist. */
export function matchesWhitelist(patterns: readonly Pattern[], path: string): boolean {
  const segments = path.split("/");
  return patterns.some((pattern) =>
    pattern.segments.length === segments.length && startsAlike(pattern.segments, segments)
  );
}

/** Whether a file below the directory `path` could be on the whitelist: `figures` is one for `figures/*.png`. */
export function leadsToWhitelisted(patterns: readonly Pattern[], path: string): boolean {
  const segments = path.split("/");
  return patterns.some((pattern) =>
    pattern.segments.length > segments.length && startsAlike(pattern.segments, segments)
  );
}

function startsAlike(pattern: readonly string[], segments: readonly string[]): boolean {
  return segments.every((segment, index) => matchesSegment(pattern[index] ?? "", segment));
}

/**
 * Matches one segment in time proportional to the product of both lengths, however many stars the pattern has: on a
 * mismatch only the last star takes one unit of UTF-16 more. (A regular expression made of it could be led to
 * backtrack by a name chosen for that.)
 */
function matchesSegment(pattern: string, segment: string): boolean {
  let at = 0;
  let star = -1;
  let starTook = 0;
  for (let index = 0; index < segment.length;) {
    if (pattern[at] === "*") {
      star = at++;
      starTook = index;
    } else if (pattern[at] === "?") {
      at++;
      // A character beyond the basic plane is two units.
      index += (segment.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
    } else if (at < pattern.length && pattern[at] === segment[index]) {
      at++;
      index++;
    } else if (star !== -1) {
      at = star + 1;
      index = ++starTook;
    } else {
      return false;
    }
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length && segment.length > 0;
}
