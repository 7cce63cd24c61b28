import assert from "node:assert/strict";
import { logsScript, type LogStart } from "../../lib/job/logs.ts";
import { nonce, runRemotely } from "../remote_shell.ts";
import { shells, temporaryFolder } from "../shell.ts";

const encoder = new TextEncoder();

/** The frames that the script prints for this log, data put together: `data OFFSET text`. */
async function framesOf(
  log: string | null,
  from: LogStart,
  shell: readonly string[] = ["sh"],
  state = "",
): Promise<string[]> {
  await using folder = await temporaryFolder();
  const logs = `${folder.path}/work/runs/_remote_logs`;
  await Deno.mkdir(`${logs}/.jobs`, { recursive: true });
  if (log !== null) await Deno.writeTextFile(`${logs}/exp1.log`, log);
  if (state !== "") await Deno.writeTextFile(`${logs}/.jobs/exp1.state`, state);
  const { body } = await runRemotely(logsScript("~/work", "exp1", from, false), folder.path, { shell });
  const bytes = encoder.encode(body);
  const frames: string[] = [];
  const text = (from: number, to: number) => new TextDecoder().decode(bytes.subarray(from, to));
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf(10, at);
    const line = text(at, end === -1 ? bytes.length : end);
    at = end === -1 ? bytes.length : end + 1;
    const [, words] = line.split(`@@${nonce} `);
    if (words === undefined) continue;
    const [, offset, length] = /^data (\d+) (\d+)$/.exec(words) ?? [];
    if (length === undefined) frames.push(words);
    else {
      frames.push(`data ${offset} ${text(at, at + Number(length))}`);
      at += Number(length);
    }
  }
  return frames;
}

const around = (
  ...frames: string[]
) => ["section job", "end job 0", ...frames, "section ended", "end ended 0", "done"];

for (const shell of shells) {
  Deno.test(`logsScript() sends the last lines with their offset in ${shell.join(" ")}`, async () => {
    const log = "one\n二\nthree\nfour\n";
    assert.deepEqual(await framesOf(log, { lines: 2 }, shell), around("data 8 three\nfour\n"));
    assert.deepEqual(await framesOf(log, { lines: 3 }, shell), around("data 4 二\nthree\nfour\n"));
  });
}

Deno.test.each([
  ["all lines", "one\ntwo\n", { lines: 100 }, around("data 0 one\ntwo\n")],
  ["no line", "one\ntwo\n", { lines: 0 }, around()],
  ["a last line without line feed", "one\ntwo", { lines: 1 }, around("data 4 two")],
  ["an empty log", "", { lines: 10 }, around()],
  ["what follows a byte", "one\ntwo\n", { offset: 5 }, around("data 5 wo\n")],
  ["nothing new", "one\n", { offset: 4 }, around()],
  ["a log that became shorter", "new\n", { offset: 100 }, around("truncated", "data 0 new\n")],
  ["no log", null, { lines: 10 }, ["section job", "end job 0", "done"]],
  ["a log that looks like frames", `@@${nonce} done\n`, { lines: 10 }, around(`data 0 @@${nonce} done\n`)],
] as [string, string | null, LogStart, string[]][])(
  "logsScript() sends %s",
  async (_what, log, from, expected) => {
    assert.deepEqual(await framesOf(log, from), expected);
  },
);

Deno.test("logsScript() sends a large log in frames that hang together", async () => {
  const log = "0123456789abcde\n".repeat(150_000);
  const frames = (await framesOf(log, { offset: 7 })).filter((frame) => frame.startsWith("data "));
  let at = 7;
  for (const frame of frames) {
    const [, offset = "", text = ""] = /^data (\d+) ([\s\S]*)$/.exec(frame) ?? [];
    assert.equal(Number(offset), at);
    at += text.length;
  }
  assert.equal(at, log.length);
  assert.ok(frames.length > 1);
});

Deno.test("logsScript() does not show the log of another host with the same home", async () => {
  const state = "id=x\npid=1\nstart=1\nboot=x\nhost=elsewhere-for-sure\n";
  assert.deepEqual(await framesOf("one\n", { lines: 10 }, ["sh"], state), [
    "section job",
    "end job 0",
    "done",
  ]);
});
