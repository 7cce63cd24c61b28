/** No text whatever makes a busy or unreadable GPU unused, and no reader ever throws. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { parseComputeApps, parseGpuList, parseOwner, parsePmon, parseSamples } from "../../lib/gpu/parse.ts";
import { readServer } from "../../lib/gpu/reading.ts";
import { parseTranscript } from "../../lib/ssh/framing.ts";
import { judgeLook, type Look, pmonHeader, row, uuidA, uuidB } from "./look.ts";

const words = fc.constantFrom(
  "0",
  "1",
  "9",
  "10",
  "1023",
  "1024",
  "60321",
  "-1",
  "077",
  "1,024",
  "[N/A]",
  "[GPU is lost]",
  "[Unknown Error]",
  "-",
  "C",
  "G",
  "C+G",
  uuidA,
  uuidA.toLowerCase(),
  uuidB,
  "NVIDIA A100",
  "#",
  "gpu",
  "pid",
  "type",
  "sm",
  "WARNING: infoROM is corrupted",
  "",
  "\u0000",
  "\ufeff",
  "\u001b[2J",
  "٣",
);
const joint = fc.constantFrom(", ", ",", " ", "\n", "\r\n", "\t", "");
/** Text that looks much like the programs', and text that does not. */
const anyText = fc.oneof(
  fc.string({ unit: "binary", maxLength: 200 }),
  fc.array(fc.tuple(words, joint), { maxLength: 40 }).map((parts) => parts.flat().join("")),
);
const anyStatus = fc.oneof(fc.constant(null), fc.integer({ min: 0, max: 255 }));
const hours = { numRuns: 1000 };

Deno.test("the readers of nvidia-smi's and ps's text never throw", () => {
  fc.assert(
    fc.property(anyText, anyStatus, (text, status) => {
      parseGpuList(text, status);
      parseSamples(text);
      parsePmon(text);
      parseComputeApps(text, status);
      parseOwner(text, status);
    }),
    hours,
  );
});

Deno.test("readServer() makes a reading of any transcript", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.tuple(
          fc.constantFrom(
            "facts",
            "jobs",
            "gpu_list",
            "samples",
            "pmon",
            "apps",
            "ps:1",
            "ps:x",
            "ages",
            "claims",
          ),
          anyText,
          anyStatus,
        ),
      ),
      fc.boolean(),
      (parts, instant) => {
        const sections = parts.map(([name, text, status]) => ({ name, text, status }));
        readServer({ sections, complete: true, terminalForced: false }, instant);
        readServer(parseTranscript(parts.flat().join("\n"), "0".repeat(32)), instant);
      },
    ),
    hours,
  );
});

const anyUnused = (look: Look) => judgeLook(look).some(({ verdict }) => verdict.state === "unused");

Deno.test("no text of the samples beside a busy one makes its GPU unused", () => {
  fc.assert(
    fc.property(anyText, anyText, (before, after) => {
      const samples = `${before}\n0, 74, 3\n${after}`;
      assert.equal(anyUnused({ list: row(0), samples }), false);
    }),
    hours,
  );
});

Deno.test("no text of the samples beside an unreadable one makes its GPU unused", () => {
  const unreadable = fc.constantFrom("0, [GPU is lost], [GPU is lost]", "0, 5", "0, 0, 1,024", "0, [N/A], 3");
  fc.assert(
    fc.property(anyText, unreadable, anyText, (before, line, after) => {
      assert.equal(anyUnused({ list: row(0), samples: `${before}\n${line}\n${after}` }), false);
    }),
    hours,
  );
});

Deno.test("no text of the list beside a busy row makes its GPU unused", () => {
  fc.assert(
    fc.property(anyText, anyText, (before, after) => {
      const list = `${before}\n${row(0, { used: 60321, utilization: 97 })}${after}`;
      const gpu = judgeLook({ list }).find(({ index }) => index === 0);
      assert.notEqual(gpu?.verdict.state, "unused");
    }),
    hours,
  );
});

Deno.test("no text in place of a reading makes a GPU unused unless it is a small number", () => {
  const notSmall = anyText.filter((text) => !/^\s*0*\d{1,4}\s*$/.test(text) && !/[\n,]/.test(text));
  fc.assert(
    fc.property(notSmall, fc.boolean(), (field, isMemory) => {
      const list = row(0, isMemory ? { used: field } : { utilization: field });
      assert.equal(anyUnused({ list }), false);
    }),
    hours,
  );
});

Deno.test("no text of the two process lists beside a compute process makes its GPU unused", () => {
  fc.assert(
    fc.property(anyText, anyText, fc.boolean(), (before, after, fromPmon) => {
      // What stands before the header might be a header that turns the columns round.
      const look: Look = fromPmon
        ? { list: row(0), pmon: `${pmonHeader}${before}\n    0  77  C  5  -  -  -  -  -  python\n${after}` }
        : { list: row(0), apps: `${before}\n${uuidA}, 77, 5\n${after}` };
      assert.equal(anyUnused(look), false);
    }),
    hours,
  );
});

Deno.test("no text in place of the compute list makes a GPU unused unless it is empty or a warning", () => {
  fc.assert(
    fc.property(anyText, fc.integer({ min: 0, max: 255 }), (apps, appsStatus) => {
      const isEmpty = apps.split(/\r?\n/).every((line) => /^\s*(WARNING:.*)?$/i.test(line));
      if ((appsStatus === 0 || appsStatus === 14) && isEmpty) return;
      assert.equal(anyUnused({ list: row(0), apps, appsStatus }), false);
    }),
    hours,
  );
});

Deno.test("no cut of the samples changes an idle GPU into a busy one or takes back a whole sample", () => {
  const text = "0, 0, 3\n1, 97, 60321\n0, 9, 1023\n1, 98, 60321\n";
  for (let end = 0; end <= text.length; end++) {
    const whole = text.slice(0, end).split("\n").slice(0, -1).filter((line) => line.startsWith("0")).length;
    const [gpu] = judgeLook({ list: row(0) + row(1, { uuid: uuidB }), samples: text.slice(0, end) });
    assert.equal(gpu?.verdict.state, whole === 0 ? "unknown" : "unused", `cut at ${end}`);
    assert.equal(gpu?.verdict.samples, whole);
  }
});
