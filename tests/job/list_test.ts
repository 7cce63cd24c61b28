import assert from "node:assert/strict";
import fc from "fast-check";
import { isJobName, parseJobs, readFields, readJob } from "../../lib/job/list.ts";

const id = "0123456789abcdef0123456789abcdef";
const block =
  `job=exp1\nstate=ended\nid=${id}\npid=4242\ngpu=1\nuuid=GPU-a\nbegan=1790000000\nkeeper=setsid\nended=1790000060\ncode=3\n`;

Deno.test("parseJobs() reads every job of the section", () => {
  const running =
    `job=exp2\nstate=running\nid=${id}\npid=7\ngpu=0\nuuid=\nbegan=1790000000\nkeeper=tmux\nended=\ncode=\n`;
  assert.deepEqual(parseJobs(block + running), [
    {
      name: "exp1",
      state: "ended",
      id,
      pid: 4242,
      gpu: 1,
      uuid: "GPU-a",
      began: new Date(1_790_000_000_000),
      ended: new Date(1_790_000_060_000),
      exitCode: 3,
      keeper: "setsid",
    },
    {
      name: "exp2",
      state: "running",
      id,
      pid: 7,
      gpu: 0,
      uuid: null,
      began: new Date(1_790_000_000_000),
      ended: null,
      exitCode: null,
      keeper: "tmux",
    },
  ]);
});

Deno.test.each([
  ["nothing", "", []],
  ["noise before the first job", `motd\nstate=running\n${block}`, ["exp1 ended"]],
  ["CR LF", block.replaceAll("\n", "\r\n"), ["exp1 ended"]],
  ["a job of another host with the same home", block.replace("ended", "elsewhere"), []],
  ["a state that nobody knows", block.replace("ended", "paused"), []],
  ["a name that no job can have", block.replace("exp1", "../x"), []],
  ["a job cut in the middle", block.slice(0, 30), ["exp1 ended"]],
  ["a job cut before its state", "job=exp1\nsta", []],
])("parseJobs() reads %s", (_what, text, expected) => {
  assert.deepEqual(parseJobs(text).map(({ name, state }) => `${name} ${state}`), expected);
});

Deno.test.each(
  [
    ["id", "short", "id", ""],
    ["id", "0123456789ABCDEF0123456789ABCDEF", "id", ""],
    ["pid", "-1", "pid", null],
    ["pid", "12x", "pid", null],
    ["gpu", "", "gpu", null],
    ["gpu", "1.5", "gpu", null],
    ["began", "soon", "began", null],
    ["began", "9999999999999", "began", null],
    ["code", "", "exitCode", null],
    ["code", "x", "exitCode", null],
    ["keeper", "nobody", "keeper", "tmux"],
  ] as const,
)("readJob() with %s=%s has no %s", (field, value, key, expected) => {
  const job = readJob({ ...readFields(block), [field]: value });
  assert.equal(job?.[key], expected);
});

Deno.test("parseJobs() makes something of any text, and no job without a proper name", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "job=",
      "state=running\n",
      "state=ended\n",
      "\n",
      "exp1",
      "ended=",
      "began=",
      "99999999999999",
    ),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  fc.assert(
    fc.property(fc.array(piece).map((parts) => parts.join("")), (text) => {
      for (const { name, began, ended } of parseJobs(text)) {
        assert.ok(isJobName(name));
        // What a Date cannot hold would only fail when it is shown.
        for (const time of [began, ended]) if (time !== null) time.toISOString();
      }
    }),
    { numRuns: 500 },
  );
});

Deno.test("readFields() takes the first `=` of a line for the sign, and the last of two equal keys", () => {
  assert.deepEqual(readFields("a=1=2\n=x\nrubbish\na b=3\na=4\r\nempty="), { a: "4", "a b": "3", empty: "" });
});

Deno.test.each([
  ["a", true],
  ["0", true],
  ["exp-1_B", true],
  ["x".repeat(64), true],
  ["x".repeat(65), false],
  ["", false],
  ["-a", false],
  ["_a", false],
  ["a.b", false],
  ["a:b", false],
  ["a b", false],
  ["job?2", false],
  ["a\n", false],
  ["実験", false],
])("isJobName(%j) is %s", (name, expected) => {
  assert.equal(isJobName(name), expected);
});
