import { faultOfPattern } from "../../lib/config/pattern.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { leadsToWhitelisted, matchesWhitelist, parsePattern } from "../../lib/transfer/whitelist.ts";

const matches = (pattern: string, path: string) => matchesWhitelist([parsePattern(pattern)], path);

Deno.test.each([
  ["figures/*.png", "figures/a.png", true],
  ["figures/*.png", "figures/.png", true],
  ["figures/*.png", "figures/sub/a.png", false],
  ["figures/*.png", "figures/a.PNG", false],
  ["figures/*.png", "figures/a.png/b", false],
  ["figures/*.png", "a.png", false],
  ["*.png", "figures/a.png", false],
  ["*", "a", true],
  ["*", ".hidden", true],
  ["*/*", "a/b", true],
  ["*/*", "a/b/c", false],
  ["a?c", "abc", true],
  ["a?c", "ac", false],
  ["a?c", "a/c", false],
  ["図?.png", "図表.png", true],
  ["?.png", "\u{1f600}.png", true],
  ["a*b*c", "a1b2c", true],
  ["a*b*c", "a1b2d", false],
  ["a*", "a", true],
  ["*a", "ba", true],
  ["[ab].png", "[ab].png", true],
  ["[ab].png", "a.png", false],
  ["{a,b}.png", "a.png", false],
  ["a.c", "abc", false],
  ["a+(b)$", "a+(b)$", true],
])("matchesWhitelist() holds of %s and %s: %s", (pattern, path, expected) => {
  assert.equal(matches(pattern, path), expected);
});

Deno.test.each([
  ["figures/*.png", undefined],
  ["", "empty"],
  ["/figures/*.png", "absolute"],
  ["figures//a.png", "empty_segment"],
  ["figures/", "empty_segment"],
  ["../a.png", "dot_segment"],
  ["figures/./a.png", "dot_segment"],
  ["**/a.png", "double_star"],
  ["a**.png", "double_star"],
  ["figures\\*.png", "impossible_character"],
  ["C:/a.png", "impossible_character"],
  ["a\n.png", "impossible_character"],
  ["a\u0000.png", "impossible_character"],
  ["a|b", "impossible_character"],
])("faultOfPattern() finds in %j: %s", (pattern, fault) => {
  assert.equal(faultOfPattern(pattern), fault);
});

Deno.test("parsePattern() throws for what faultOfPattern() complains of", () => {
  assert.throws(() => parsePattern("../x"), TypeError);
});

Deno.test("leadsToWhitelisted() knows the folders on the way to a match, and no others", () => {
  const patterns = ["figures/*.png", "a/*/c.txt"].map(parsePattern);
  const leading = ["figures", "a", "a/x", "b", "figures/a.png", "a/x/c.txt", "figures/sub"]
    .filter((path) => leadsToWhitelisted(patterns, path));
  assert.deepEqual(leading, ["figures", "a", "a/x"]);
});

Deno.test("matchesWhitelist() is no slower for a name that was made for many stars", () => {
  // With backtracking this would take longer than anybody waits.
  assert.equal(matches(`${"*a".repeat(20)}b`, "a".repeat(250)), false);
});

Deno.test("matchesWhitelist() agrees with a regular expression made of the pattern", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "b", ".", "*", "?", "/", "図", "😀"), maxLength: 8 });
  fc.assert(
    fc.property(text, text, (pattern, path) => {
      fc.pre(faultOfPattern(pattern) === undefined && !path.split("/").includes(""));
      const source = Array.from(
        pattern,
        (character) => ({ "*": "[^/]*", "?": "[^/]", ".": "\\." })[character] ?? character,
      ).join("");
      assert.equal(matches(pattern, path), new RegExp(`^${source}$`, "u").test(path));
    }),
    { numRuns: 5000 },
  );
});
