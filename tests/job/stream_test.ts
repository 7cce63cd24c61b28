import assert from "node:assert/strict";
import fc from "fast-check";
import { type JobEvent, JobStream } from "../../lib/job/stream.ts";
import { FakeProcess } from "../ssh/fake_process.ts";
import { countingRandom, testContext } from "../test_context.ts";

const settings = { jump_host: null, connect_timeout_sec: 15 };
const newton = { user: "hasegawa", address: "192.168.23.14" };
const encoder = new TextEncoder();

/** The nonce of the first connection of a world whose random bytes count up from 0. */
const nonce = "000102030405060708090a0b0c0d0e0f";

/** What comes of an answer in these chunks, data joined where it hangs together. */
async function eventsOf(chunks: readonly Uint8Array[], exit = 0): Promise<string[]> {
  const process = new FakeProcess();
  const world = testContext({ random: countingRandom(), start: () => process });
  const stream = new JobStream(world, settings, newton, { text: "", values: {}, seconds: null });
  for (const chunk of chunks) process.print(chunk);
  process.exit(exit);
  const shown: string[] = [];
  let data: { offset: number; bytes: number[] } | undefined;
  const flush = () => {
    if (data !== undefined) {
      shown.push(`data ${data.offset} ${new TextDecoder().decode(Uint8Array.from(data.bytes))}`);
    }
    data = undefined;
  };
  for await (const event of stream.events()) {
    if (event.kind === "data") {
      if (data !== undefined && event.offset === data.offset + data.bytes.length) {
        data.bytes.push(...event.bytes);
      } else {
        flush();
        data = { offset: event.offset, bytes: [...event.bytes] };
      }
    } else {
      flush();
      shown.push(describe(event));
    }
  }
  flush();
  await stream.close();
  return shown;
}

function describe(event: Exclude<JobEvent, { kind: "data" }>): string {
  return event.kind === "section" ? `${event.name} ${JSON.stringify(event.fields)}` : event.kind;
}

function mark(text: string): string {
  return `\n@@${nonce} ${text}\n`;
}

const log = `=== start\n@@${nonce} done\n学習 50%\r\n\n@@${nonce} section job\n`;
const answer = encoder.encode(
  `motd\n@@${nonce} begin\n` + mark("section job") + "found=1\nstate=running\n" + mark("end job 0") +
    mark(`data 100 ${encoder.encode(log).length}`) + log +
    mark("beat") + mark("truncated") + mark("data 0 3") + "abc" +
    mark("section ended") + "state=ended\ncode=3\n" + mark("end ended 0") + mark("done"),
);
const expected = [
  'job {"found":"1","state":"running"}',
  `data 100 ${log}`,
  "truncated",
  "data 0 abc",
  'ended {"state":"ended","code":"3"}',
  "done",
];

Deno.test("JobStream tells sections, raw bytes of the log and the end, whatever the log holds", async () => {
  assert.deepEqual(await eventsOf([answer]), expected);
});

Deno.test("JobStream tells the same whatever the chunks", async () => {
  assert.deepEqual(await eventsOf([...answer].map((byte) => Uint8Array.of(byte))), expected);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(answer.length), { maxLength: 6 }), async (places) => {
      const ends = [...places.sort((a, b) => a - b), answer.length];
      const chunks = ends.map((end, at) => answer.subarray(at === 0 ? 0 : ends[at - 1], end));
      assert.deepEqual(await eventsOf(chunks), expected);
    }),
    { numRuns: 50 },
  );
});

Deno.test("JobStream delivers of a broken connection what came before, and no byte twice", async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(answer.length), async (end) => {
      const shown = await eventsOf([answer.subarray(0, end)], 255);
      const whole = shown.slice(0, -1);
      assert.deepEqual(whole, expected.slice(0, whole.length));
      const last = shown.at(-1);
      if (last === undefined || last === expected[whole.length]) return;
      // Bytes of the log may have been cut, also inside a character.
      assert.ok(last.startsWith("data "), last);
      assert.ok(expected[whole.length]?.startsWith(last.replace(/\ufffd$/, "")), last);
    }),
    { numRuns: 100 },
  );
});

Deno.test.each([
  ["a length that is none", mark("data 0 many") + "abc" + mark("done"), ["done"]],
  ["a marker that nobody knows", mark("surprise 1") + mark("done"), ["done"]],
  ["the end of a section that is not open", mark("end job 0") + mark("done"), ["done"]],
  ["lines outside of sections", `noise\n${mark("done")}`, ["done"]],
  ["an empty section", mark("section job") + mark("end job 0") + mark("done"), ["job {}", "done"]],
  [
    "CR LF around it",
    (mark("section job") + "found=1\n" + mark("end job 0") + mark("done")).replaceAll("\n", "\r\n"),
    [
      'job {"found":"1"}',
      "done",
    ],
  ],
  ["nothing", "", []],
])("JobStream makes something of %s", async (_what, body, events) => {
  assert.deepEqual(await eventsOf([encoder.encode(`@@${nonce} begin\n${body}`)]), events);
});

Deno.test("JobStream gives up on a line without end", async () => {
  const endless = encoder.encode(`@@${nonce} begin\n${"x".repeat(2 * 1024 * 1024)}`);
  assert.deepEqual(await eventsOf([endless]), []);
});
