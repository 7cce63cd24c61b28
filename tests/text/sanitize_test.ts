import assert from "node:assert/strict";
import fc from "fast-check";
import { lastLines, sanitizeLine, TerminalFilter } from "../../lib/text/sanitize.ts";

// deno-lint-ignore no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/;

Deno.test.each([
  ["plain", "plain"],
  ["日本語 😀", "日本語 😀"],
  ["a\u001b[2Jb", "a\\x1b[2Jb"],
  ["a\nb\r\tc", "a\\x0ab\\x0d\\x09c"],
  ["a\u0000b\u007fc\u009bd", "a\\x00b\\x7fc\\x9bd"],
  ["evil\u202etxt.exe", "evil\\u202etxt.exe"],
  ["a\u061cb", "a\\u061cb"],
  ["a\u200bb\ufeffc\u2028d\u2066e", "a\\u200bb\\ufeffc\\u2028d\\u2066e"],
])("sanitizeLine() shows %j as %s", (text, expected) => {
  assert.equal(sanitizeLine(text), expected);
});

Deno.test("sanitizeLine() leaves no control character of any text, and safe text as it is", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const shown = sanitizeLine(text);
    assert.doesNotMatch(shown, control);
    assert.equal(sanitizeLine(shown), shown);
  }));
});

Deno.test.each([
  ["a\n\n \nb\r\nc\rd\n", 2, ["c", "d"]],
  ["one", 3, ["one"]],
  ["", 3, []],
  ["\u001b[31mx\u001b[0m\n", 1, ["\\x1b[31mx\\x1b[0m"]],
])("lastLines() of %j, at most %i", (text, count, expected) => {
  assert.deepEqual(lastLines(text, count), expected);
});

function filtered(chunks: readonly Uint8Array[]): string {
  const filter = new TerminalFilter();
  return chunks.map((chunk) => filter.push(chunk)).join("") + filter.end();
}

const encoder = new TextEncoder();

Deno.test.each([
  ["text, line ends and tabs", "epoch 1\tloss 0.5\r\nepoch 2\n", "epoch 1\tloss 0.5\r\nepoch 2\n"],
  ["a progress bar", "10%\r20%\r\u001b[K30%", "10%\r20%\r\u001b[K30%"],
  [
    "colours",
    "\u001b[1;31mred\u001b[0m \u001b[38;5;12mblue\u001b[m",
    "\u001b[1;31mred\u001b[0m \u001b[38;5;12mblue\u001b[m",
  ],
  ["Japanese", "学習を始めます 😀", "学習を始めます 😀"],
])("TerminalFilter lets %s through", (_what, text, expected) => {
  assert.equal(filtered([encoder.encode(text)]), expected);
});

Deno.test.each([
  ["a clear screen", "\u001b[2J", "\\x1b[2J"],
  ["a cursor", "\u001b[10;10H", "\\x1b[10;10H"],
  ["a cursor up", "\u001b[1A", "\\x1b[1A"],
  ["a title", "\u001b]0;title\u0007", "\\x1b]0;title\\x07"],
  ["a clipboard", "\u001b]52;c;cm0gLXJm\u0007", "\\x1b]52;c;cm0gLXJm\\x07"],
  ["a device query", "\u001b[6n\u001b[c", "\\x1b[6n\\x1b[c"],
  ["a private mode", "\u001b[?1049h", "\\x1b[?1049h"],
  ["a C1 introducer", "\u009b2J", "\\x9b2J"],
  ["a lone escape at the end", "x\u001b", "x\\x1b"],
  ["a cut colour at the end", "x\u001b[31", "x\\x1b[31"],
  ["a colour of endless numbers", `\u001b[${"1;".repeat(40)}m`, `\\x1b[${"1;".repeat(40)}m`],
  ["backspaces and bells", "a\bb\u0007", "a\\x08b\\x07"],
  ["a direction of writing", "\u202e", "\\u202e"],
  ["a colour inside another", "\u001b[3\u001b[31m", "\\x1b[3\u001b[31m"],
])("TerminalFilter shows %s instead of obeying it", (_what, text, expected) => {
  assert.equal(filtered([encoder.encode(text)]), expected);
});

const piece = fc.oneof(
  fc.string({ unit: "binary", maxLength: 10 }),
  fc.constantFrom(
    "\u001b",
    "\u001b[",
    "31",
    ";",
    "m",
    "K",
    "J",
    "\u001b[31m",
    "\u001b]0;x\u0007",
    "日本",
    "\r\n",
    "\u009b",
    "[".repeat(50),
  ),
);
const anyLog = fc.array(piece, { maxLength: 20 }).map((parts) =>
  encoder.encode(parts.join("").toWellFormed())
);

/** `bytes` cut at these places. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...ends, bytes.length].map((end, at) => bytes.subarray(at === 0 ? 0 : ends[at - 1], end));
}

Deno.test("TerminalFilter gives the same whatever the chunks", () => {
  fc.assert(
    fc.property(anyLog, fc.array(fc.nat(), { maxLength: 8 }), (bytes, places) => {
      assert.equal(filtered(cut(bytes, places)), filtered([bytes]));
      assert.equal(filtered([...bytes].map((byte) => Uint8Array.of(byte))), filtered([bytes]));
    }),
    { numRuns: 500 },
  );
});

Deno.test("TerminalFilter lets no other sequence out than colours and erase in line", () => {
  fc.assert(
    fc.property(fc.oneof(anyLog, fc.uint8Array({ maxLength: 60 })), (bytes) => {
      // deno-lint-ignore no-control-regex
      const rest = filtered([bytes]).replaceAll(/\u001b\[[0-9;]*[mK]/g, "").replaceAll(/[\n\r\t]/g, "");
      assert.doesNotMatch(rest, control);
    }),
    { numRuns: 500 },
  );
});

Deno.test("TerminalFilter holds back no more than a sequence's beginning", () => {
  const filter = new TerminalFilter();
  assert.equal(filter.push(encoder.encode("epoch 1\u001b[3")), "epoch 1");
  assert.equal(filter.push(encoder.encode("1mred")), "\u001b[31mred");
  assert.equal(filter.end(), "");
});
