import assert from "node:assert/strict";
import { onlyJob } from "../../lib/cli/job.ts";
import { observeServers, requireAnswer } from "../../lib/cli/survey.ts";
import type { LocatedJob, Location } from "../../lib/job/locate.ts";
import { JobStream } from "../../lib/job/stream.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, judged, reachedServer, server, unreachableServer } from "../gpu/reports.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { FakeProcess } from "../ssh/fake_process.ts";
import { BufferOutput, countingRandom, settle, testContext } from "../test_context.ts";

const newton = server("Newton");
const archimedes = server("Archimedes");
const en = textsIn("en");

/** A survey whose servers answer when the test says so. */
async function observe(seconds: number, err = new BufferOutput()) {
  const processes: FakeProcess[] = [];
  const world = testContext({
    err,
    random: countingRandom(),
    start(spec) {
      const process = new FakeProcess(spec);
      processes.push(process);
      return process;
    },
  });
  const config = configOf([newton, archimedes], { jump_host: null });
  const result = observeServers(world, en, config, () => ({ seconds, intervalMs: 500 }));
  result.catch(() => {});
  await settle();
  return { world, processes, result };
}

function answer(process: FakeProcess, lineEnd = "\n") {
  const mark = (text: string) => `\n@@${process.nonce} ${text}\n`;
  process.print(
    `@@${process.nonce} begin\n${mark("section facts")}user=h\nnow=1790000000\n${mark("end facts 0")}${
      mark("done")
    }`
      .replaceAll("\n", lineEnd),
  );
  process.exit(0);
}

Deno.test.each([
  [0, "Asking 2 server(s)\n"],
  [10, "Observing 2 server(s) for 10 s\n"],
])("observeServers() for %i s asks all servers at once and says so in one line", async (seconds, line) => {
  const { world, processes, result } = await observe(seconds);
  assert.equal(processes.length, 2);
  processes.forEach((process) => answer(process));
  const reports = await result;
  assert.deepEqual(reports.map(({ server, reachable }) => `${server.name} ${reachable}`), [
    "Newton true",
    "Archimedes true",
  ]);
  assert.equal(world.err.text, line);
});

Deno.test("observeServers() reports a server that cannot be reached, and the others go on", async () => {
  const { processes: [first, second], result } = await observe(0);
  first?.complain("ssh: connect to host 192.168.23.14 port 22: Connection refused\n");
  first?.exit(255);
  if (second !== undefined) answer(second);
  const [refused, reached] = await result;
  assert.deepEqual(refused?.reachable === false && refused.failure.kind, "refused");
  assert.equal(reached?.reachable, true);
});

Deno.test("observeServers() keeps what a server said before it fell silent", async () => {
  const { world, processes: [first, second], result } = await observe(0);
  first?.print(
    `@@${first.nonce} begin\n\n@@${first.nonce} section facts\nuser=h\n\n@@${first.nonce} end facts 0\n\n@@${first.nonce} section gpu_list\n`,
  );
  if (second !== undefined) answer(second);
  await world.clock.tick(600_000);
  const [silent] = await result;
  assert.ok(silent?.reachable);
  assert.deepEqual(silent.gpus, []);
  assert.equal(silent.fault?.kind, "no_answer");
});

Deno.test("observeServers() warns of a server that forces a terminal", async () => {
  const { world, processes: [first, second], result } = await observe(0);
  if (first !== undefined) answer(first, "\r\n");
  if (second !== undefined) answer(second);
  await result;
  assert.equal(
    world.err.text,
    "Asking 2 server(s)\nwarning: Newton forces a terminal on connections (CR LF line ends); results cannot be pulled from it unaltered\n",
  );
});

Deno.test("observeServers() ends when it is interrupted", async () => {
  const { world, result } = await observe(10);
  world.interrupt();
  await assert.rejects(result, { name: "AbortError" });
});

Deno.test("requireAnswer() is content with one server", () => {
  requireAnswer(en, [unreachableServer(newton), reachedServer(archimedes, [judged(0, "busy")])]);
});

Deno.test("requireAnswer() names every server when none can be reached", async () => {
  const fault = await userErrorOf(() =>
    requireAnswer(en, [
      unreachableServer(newton, { kind: "timeout", detail: "" }),
      unreachableServer(archimedes, { kind: "refused", detail: "port 22" }),
    ])
  );
  assert.deepEqual(await spoken(fault), {
    en: "error: None of the servers can be reached\n" +
      "  Newton: unreachable: no answer in time\n" +
      "  Archimedes: unreachable: the connection was refused (port 22)\n" +
      "hint: Is it switched on? Outside the laboratory `jump_host` is needed; inside, TIAS_REMOTE_JUMP= (empty) connects directly\n",
    ja: "エラー: どのサーバにも接続できません\n" +
      "  Newton: unreachable: no answer in time\n" +
      "  Archimedes: unreachable: the connection was refused (port 22)\n" +
      "ヒント: 電源が入っていますか。研究室の外からは `jump_host` が要り，中からは TIAS_REMOTE_JUMP=（空）で直接つながります\n",
    exit: 1,
  });
});

Deno.test("requireAnswer() tells a cause on this machine only once", async () => {
  const failure = { kind: "ssh_config", detail: "Bad owner or permissions on x" } as const;
  const { en: text } = await spoken(
    await userErrorOf(() =>
      requireAnswer(en, [unreachableServer(newton, failure), unreachableServer(archimedes, failure)])
    ),
  );
  assert.equal(text.match(/Bad owner/g)?.length, 1);
});

/** A connection that still stands. */
function standing(name: string): { located: LocatedJob; process: FakeProcess } {
  const process = new FakeProcess();
  const world = testContext({ random: countingRandom(), start: () => process });
  const target = server(name);
  const stream = new JobStream(world, configOf([target]), target, { text: "", values: {}, seconds: null });
  return { located: { server: target, stream, events: stream.events(), fields: {} }, process };
}

async function only(location: Location) {
  const world = testContext();
  const found = await onlyJob(world, en, "exp1", location);
  return { found, err: world.err.text };
}

Deno.test("onlyJob() gives the one server that has it, and warns of those not asked", async () => {
  const { located, process } = standing("Newton");
  const { found, err } = await only({ found: [located], unreachable: [unreachableServer(archimedes)] });
  assert.equal(found, located);
  assert.equal(
    err,
    "warning: Archimedes could not be asked for its jobs: unreachable: the connection was refused\n",
  );
  process.exit(0);
  await located.stream.close();
});

Deno.test("onlyJob() names all servers that have it, and closes their connections", async () => {
  const both = [standing("Newton"), standing("Archimedes")];
  both.forEach(({ process }) => process.exit(0));
  const location = { found: both.map(({ located }) => located), unreachable: [] };
  assert.deepEqual(await spoken(await userErrorOf(() => only(location))), {
    en:
      "error: Newton, Archimedes each have a job named exp1\nhint: Say which one is meant with --server NAME\n",
    ja:
      "エラー: exp1 というジョブが Newton, Archimedes にあります\nヒント: --server サーバ名 でどちらかを指定してください\n",
    exit: 2,
  });
});

Deno.test("onlyJob() says that none has it", async () => {
  assert.deepEqual(await spoken(await userErrorOf(() => only({ found: [], unreachable: [] }))), {
    en: "error: No server has a job named exp1\nhint: `tias-remote status` lists the jobs\n",
    ja:
      "エラー: exp1 というジョブはどのサーバにもありません\nヒント: ジョブの一覧は `tias-remote status` で表示できます\n",
    exit: 1,
  });
});

Deno.test("onlyJob() says that some could not be asked", async () => {
  const { en: text } = await spoken(
    await userErrorOf(() => only({ found: [], unreachable: [unreachableServer(archimedes)] })),
  );
  assert.equal(
    text,
    "error: No server that answered has a job named exp1, but Archimedes could not be asked\n" +
      "  Archimedes: unreachable: the connection was refused\n" +
      "hint: Is sshd running there, and is the port right?\n",
  );
});
