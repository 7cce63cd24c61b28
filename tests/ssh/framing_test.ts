import assert from "node:assert/strict";
import fc from "fast-check";
import {
  findBegin,
  framingScript,
  parseTranscript,
  sectionOf,
  type Transcript,
} from "../../lib/ssh/framing.ts";
import { runShell, shells } from "../shell.ts";

const nonce = "0123456789abcdef".repeat(2);
const other = "fedcba9876543210".repeat(2);

interface Part {
  readonly name: string;
  readonly text: string;
  readonly status: number;
}

/** What a script prints behind `begin` for these sections. */
function frame(parts: readonly Part[], done = true): string {
  return parts.map(({ name, text, status }) =>
    `\n@@${nonce} section ${name}\n${text}\n@@${nonce} end ${name} ${status}\n`
  )
    .join("") + (done ? `\n@@${nonce} done\n` : "");
}

const imitation = fc.constantFrom(
  `\n@@${other} section x\n`,
  `\n@@${other} end gpu_list 0\n`,
  `\n@@${other} done\n`,
  `@@${nonce}`,
  `\n@@${nonce} `,
  `\n@@${nonce} sectio`,
  ` @@${nonce} done\n`,
  "\n@@",
);
const anyText = fc.array(
  fc.oneof(fc.string({ unit: "binary", maxLength: 40 }), imitation, fc.constant("\n")),
  {
    maxLength: 8,
  },
).map((parts) => parts.join("").replaceAll(/\r/g, ""))
  // Its own nonce in a whole marker is the one thing that a server's program cannot know.
  .filter((text) => !/\n@@0123456789abcdef0123456789abcdef (section|end|done)[^\n]*\n/.test(`\n${text}\n`));
const anyParts = fc.array(
  fc.record({
    name: fc.constantFrom("facts", "gpu_list", "ps:1", "a"),
    text: anyText,
    status: fc.integer({ min: 0, max: 255 }),
  }, { noNullPrototype: true }),
  { maxLength: 5 },
);

Deno.test("parseTranscript() gives back every section, whatever it holds", () => {
  fc.assert(fc.property(anyParts, (parts) => {
    assert.deepEqual(parseTranscript(frame(parts), nonce), {
      sections: parts,
      complete: true,
      terminalForced: false,
    });
  }));
});

Deno.test("parseTranscript() of an answer cut anywhere gives whole sections and at most one cut one", () => {
  fc.assert(fc.property(anyParts, fc.nat(), (parts, at) => {
    const whole = frame(parts);
    const { sections, complete } = parseTranscript(whole.slice(0, at % whole.length), nonce);
    assert.equal(complete, false);
    sections.forEach((section, index) => {
      const original = parts[index];
      assert.ok(original !== undefined);
      assert.equal(section.name, original.name);
      if (section.status === null) {
        assert.equal(index, sections.length - 1);
        // The line feed and the beginning of a marker may have come along.
        const rest = `${original.text}\n@@${nonce} end ${original.name} ${original.status}\n`;
        assert.ok(rest.startsWith(section.text));
      } else assert.deepEqual(section, original);
    });
  }));
});

Deno.test("parseTranscript() reads the line ends of a forced terminal as plain ones, and tells", () => {
  fc.assert(fc.property(anyParts, (parts) => {
    const { sections, complete, terminalForced } = parseTranscript(
      frame(parts).replaceAll("\n", "\r\n"),
      nonce,
    );
    assert.deepEqual(sections, parts);
    assert.equal(complete, true);
    assert.equal(terminalForced, true);
  }));
});

Deno.test("parseTranscript() makes something of any text", () => {
  const own = fc.constantFrom(
    "section",
    "end",
    "done",
    " ",
    "x",
    "\n",
    `@@${nonce}`,
    "\r\n",
    "0",
    "999",
    "-1",
  );
  fc.assert(
    fc.property(
      fc.array(fc.oneof(own, fc.string()), { maxLength: 40 }).map((parts) => parts.join("")),
      (text) => {
        for (const { status } of parseTranscript(text, nonce).sections) {
          assert.ok(status === null || status >= 0 && status <= 999);
        }
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("parseTranscript() keeps a last line without line feed apart from a whole one", () => {
  const texts = (text: string) =>
    parseTranscript(frame([{ name: "a", text, status: 0 }]), nonce).sections[0]?.text;
  assert.equal(texts("0, 0, 4\n0, 0, 4"), "0, 0, 4\n0, 0, 4");
  assert.equal(texts("0, 0, 4\n0, 0, 4\n"), "0, 0, 4\n0, 0, 4\n");
});

Deno.test("parseTranscript() reads markers that share a line feed", () => {
  const body =
    `@@${nonce} section a\n@@${nonce} end a 0\n@@${nonce} section b\nx\n@@${nonce} end b 1\n@@${nonce} done\n`;
  assert.deepEqual(parseTranscript(body, nonce), {
    sections: [{ name: "a", text: "", status: 0 }, { name: "b", text: "x", status: 1 }],
    complete: true,
    terminalForced: false,
  });
});

Deno.test("parseTranscript() ignores the end of a section that is not open, and what follows `done`", () => {
  const body = `\n@@${nonce} end a 0\n${
    frame([{ name: "b", text: "x", status: 3 }])
  }\n@@${nonce} section late\nx`;
  assert.deepEqual(parseTranscript(body, nonce).sections, [{ name: "b", text: "x", status: 3 }]);
});

Deno.test("parseTranscript() takes a status that is none for a section without one", () => {
  const body = `\n@@${nonce} section a\nx\n@@${nonce} end a what\n\n@@${nonce} done\n`;
  assert.deepEqual(parseTranscript(body, nonce).sections, [{ name: "a", text: "x", status: null }]);
});

Deno.test("sectionOf() finds a section by name, or nothing", () => {
  const transcript: Transcript = parseTranscript(frame([{ name: "a", text: "x", status: 0 }]), nonce);
  assert.equal(sectionOf(transcript, "a")?.text, "x");
  assert.equal(sectionOf(transcript, "b"), undefined);
});

Deno.test.each([
  ["at the start", `@@${nonce} begin\nrest`, "rest"],
  ["behind a motd without line feed", `Welcome!@@${nonce} begin\nrest`, "rest"],
  [
    "behind escape sequences",
    `\u001b[?2004h\u001b]0;user@gpu01: ~\u0007(base) @@${nonce} begin\r\nrest`,
    "rest",
  ],
  ["behind another's", `@@${other} begin\n@@${nonce} begin\nrest`, "rest"],
])("findBegin() finds the marker %s", (_where, text, rest) => {
  assert.equal(text.slice(findBegin(text, nonce)), rest);
});

Deno.test.each([
  ["nothing", ""],
  ["another nonce", `@@${other} begin\n`],
  ["a marker that is cut", `@@${nonce} begin`],
  ["another word", `@@${nonce} beginning\n`],
])("findBegin() waits on while there is %s", (_what, text) => {
  assert.equal(findBegin(text, nonce), -1);
});

Deno.test.each(shells.map((shell) => ({ shell, name: shell.join(" ") })))(
  "framingScript prints what parseTranscript() reads, in $name",
  async ({ shell }) => {
    const script = `nonce=${nonce}\n${framingScript}
cut() { printf '0, 0, 4\\n0, 9'; return 124; }
quiet() { cat; }
section cut cut
section quiet quiet
section missing no-such-program-anywhere 2>/dev/null
mark section own; echo text; mark end own 7
mark done
`;
    const { stdout } = await runShell(script, { shell, stdin: "must not be read" });
    const body = stdout.slice(findBegin(stdout, nonce));
    assert.deepEqual(parseTranscript(body, nonce), {
      sections: [
        { name: "cut", text: "0, 0, 4\n0, 9", status: 124 },
        { name: "quiet", text: "", status: 0 },
        { name: "missing", text: "", status: 127 },
        { name: "own", text: "text\n", status: 7 },
      ],
      complete: true,
      terminalForced: false,
    });
  },
);
