import assert from "node:assert/strict";
import fc from "fast-check";
import { shellAssignments, shellQuote } from "../../lib/ssh/quote.ts";
import { onUnix, runShell, shells } from "../shell.ts";

Deno.test.each([
  ["", "''"],
  ["train.py", "train.py"],
  ["--lr=1e-3", "--lr=1e-3"],
  ["a b", "'a b'"],
  ["$HOME", "'$HOME'"],
  ["it's", "'it'\\''s'"],
  ["~/data", "'~/data'"],
  ["*", "'*'"],
  ["日本語", "'日本語'"],
  ["a\nb", "'a\nb'"],
])("shellQuote() writes %j as %s", (text, expected) => {
  assert.equal(shellQuote(text), expected);
});

Deno.test("shellQuote() refuses a NUL, which no argument can hold", () => {
  assert.throws(() => shellQuote("a\u0000b"), TypeError);
});

Deno.test("shellAssignments() writes one assignment a line", () => {
  assert.equal(shellAssignments({ job: "exp 1", gpu: 2 }), "job='exp 1'\ngpu=2\n");
});

const anyWords = fc.array(
  fc.oneof(
    fc.string({ unit: "binary", maxLength: 30 }),
    fc.string({
      unit: fc.constantFrom("'", '"', "\\", "$", "`", "\n", " ", "!", "*", "~", "#", "-", "=", "あ", "😀"),
      maxLength: 30,
    }),
  ).map((text) => text.replaceAll("\u0000", "").toWellFormed()),
  { maxLength: 20 },
);

Deno.test.each(shells.map((shell) => ({ shell, name: shell.join(" ") })))(
  "shellQuote() brings any words unchanged through $name",
  async ({ shell }) => {
    await fc.assert(
      fc.asyncProperty(anyWords, async (words) => {
        const { stdout } = await runShell(`printf '%s\\0' x ${words.map(shellQuote).join(" ")}`, { shell });
        assert.deepEqual(stdout.split("\u0000").slice(1, -1), words);
      }),
      { numRuns: 40 },
    );
  },
);

Deno.test("shellAssignments() brings any text unchanged into a variable", onUnix, async () => {
  await fc.assert(
    fc.asyncProperty(anyWords, async (words) => {
      const text = words.join("");
      const { stdout } = await runShell(`${shellAssignments({ value: text })}printf '%s' "$value"`);
      assert.equal(stdout, text);
    }),
    { numRuns: 40 },
  );
});
