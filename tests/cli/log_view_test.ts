import assert from "node:assert/strict";
import { followLog, pauseBefore } from "../../lib/cli/log_view.ts";
import { locateJob } from "../../lib/job/locate.ts";
import { logsScript } from "../../lib/job/logs.ts";
import type { FailureKind } from "../../lib/ssh/failure.ts";
import type { ExitCode } from "../../lib/system/errors.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, server } from "../gpu/reports.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { FakeProcess } from "../ssh/fake_process.ts";
import { BufferOutput, countingRandom, settle, testContext } from "../test_context.ts";

Deno.test("pauseBefore() waits longer before each further try, and then as long again", () => {
  const pauses = Array.from({ length: 8 }, (_, attempt) => pauseBefore(attempt, { kind: "cut", detail: "" }));
  assert.deepEqual(pauses, [1, 2, 4, 8, 15, 30, 30, 30]);
});

Deno.test.each([
  ["timeout", 1],
  ["refused", 1],
  ["silent", 1],
  ["blocked", 60],
  ["authentication", undefined],
  ["host_key_changed", undefined],
  ["host_key_unknown", undefined],
  ["ssh_config", undefined],
  ["slurm", undefined],
  ["password_expired", undefined],
  ["login_refused", undefined],
] as [FailureKind, number | undefined][])("pauseBefore() a try after %s is %s", (kind, expected) => {
  assert.equal(pauseBefore(0, { kind, detail: "" }), expected);
});

const newton = server("Newton");
const config = configOf([newton], { jump_host: null });

/** `logs exp1 -f` with its first connection standing; each connection is the next of `processes`. */
async function follow({ out = new BufferOutput(), follow = true, language = "en" as "en" | "ja" } = {}) {
  const processes: FakeProcess[] = [];
  const world = testContext({
    out,
    random: countingRandom(),
    start(spec) {
      const process = new FakeProcess(spec);
      processes.push(process);
      return process;
    },
  });
  const locating = locateJob(
    world,
    config,
    [newton],
    () => logsScript("~/work", "exp1", { lines: 100 }, follow),
    ({ found }) => found === "1",
  );
  await settle();
  const marked = (process: FakeProcess, text: string) => process.print(`\n@@${process.nonce} ${text}\n`);
  const nth = (at: number): FakeProcess => {
    const process = processes[at];
    assert.ok(process !== undefined, `connection ${at}`);
    return process;
  };
  const begin = (process: FakeProcess) => {
    process.print(`@@${process.nonce} begin\n`);
    marked(process, "section job");
    process.print("found=1\nstate=running\n");
    marked(process, "end job 0");
  };
  begin(nth(0));
  const [target] = (await locating).found;
  assert.ok(target !== undefined);
  const result: Promise<ExitCode> = followLog(world, textsIn(language), config, "exp1", target, follow);
  result.catch(() => {});
  const data = (process: FakeProcess, offset: number, text: string) => {
    marked(process, `data ${offset} ${new TextEncoder().encode(text).length}`);
    process.print(text);
  };
  const end = (process: FakeProcess, fields: string) => {
    marked(process, "section ended");
    process.print(fields);
    marked(process, "end ended 0");
    marked(process, "done");
    process.exit(0);
  };
  return { world, nth, begin, data, end, result, processes };
}

Deno.test("followLog() goes on at the byte where a lost connection stopped", async () => {
  const { world, nth, begin, data, end, result } = await follow();
  data(nth(0), 40, "epoch 1\n学");
  await settle();
  nth(0).complain("client_loop: send disconnect: Broken pipe\n");
  nth(0).exit(255);
  await world.clock.tick(1000);
  assert.match(nth(1).received, /^offset=51$/m);
  begin(nth(1));
  data(nth(1), 51, "習\n");
  end(nth(1), "state=ended\ncode=0\n");
  assert.equal(await result, 0);
  assert.equal(world.out.text, "epoch 1\n学習\n");
  assert.equal(
    world.err.text,
    "The connection to Newton was lost (the connection broke in the middle (client_loop: send disconnect: Broken pipe)); trying again in 1 s\n" +
      "exp1 has ended on Newton: exit 0\n",
  );
});

Deno.test("followLog() asks for the last lines again when nothing had come", async () => {
  const { world, nth, begin, end, result } = await follow();
  nth(0).exit(255);
  await world.clock.tick(1000);
  assert.match(nth(1).received, /^lines=100$/m);
  nth(1).exit(255);
  await world.clock.tick(2000);
  begin(nth(2));
  end(nth(2), "state=ended\ncode=0\n");
  assert.equal(await result, 0);
});

Deno.test("followLog() begins with short pauses again after anything came", async () => {
  const { world, nth, begin, data, end, result } = await follow();
  nth(0).exit(255);
  await world.clock.tick(1000);
  begin(nth(1));
  data(nth(1), 0, "x");
  await settle();
  nth(1).exit(255);
  await world.clock.tick(1000);
  begin(nth(2));
  end(nth(2), "state=ended\ncode=0\n");
  assert.equal(await result, 0);
});

Deno.test.each([
  ["0", 0],
  ["3", 1],
  ["137", 1],
])("followLog() ends with the job: exit %s", async (code, exit) => {
  const { world, nth, end, result } = await follow();
  end(nth(0), `state=ended\ncode=${code}\n`);
  assert.equal(await result, exit);
  assert.equal(world.err.text, `exp1 has ended on Newton: exit ${code}\n`);
});

Deno.test("followLog() says that a job is lost", async () => {
  const { nth, end, result } = await follow();
  end(nth(0), "state=lost\n");
  assert.deepEqual(await spoken(await userErrorOf(() => result)), {
    en: "error: exp1 is gone from Newton: it was killed from outside, or the server restarted\n",
    ja: "エラー: exp1 は Newton から消えました（外部から停止されたか，サーバが再起動）\n",
    exit: 1,
  });
});

Deno.test("followLog() does not try again where that cannot help", async () => {
  const { world, nth, result, processes } = await follow();
  nth(0).exit(255);
  await world.clock.tick(1000);
  nth(1).complain("hasegawa@192.168.23.14: Permission denied (publickey).\n");
  nth(1).exit(255);
  assert.equal((await userErrorOf(() => result)).text.id, "logs.gave_up");
  assert.equal(processes.length, 2);
});

Deno.test("followLog() without -f prints what there is, says nothing, and gives up at once", async () => {
  const whole = await follow({ follow: false });
  whole.data(whole.nth(0), 0, "epoch 1\n");
  whole.end(whole.nth(0), "state=running\n");
  assert.equal(await whole.result, 0);
  assert.equal(whole.world.out.text, "epoch 1\n");
  assert.equal(whole.world.err.text, "");

  const cut = await follow({ follow: false });
  cut.nth(0).exit(255);
  assert.deepEqual(await spoken(await userErrorOf(() => cut.result)), {
    en: "error: Cannot follow exp1 any further: the connection broke in the middle\n" +
      "hint: The job goes on by itself; follow it again when the server can be reached\n",
    ja: "エラー: exp1 のログをこれ以上追えません：the connection broke in the middle\n" +
      "ヒント: ジョブは動き続けています。サーバにつながるようになったらもう一度追ってください\n",
    exit: 1,
  });
});

Deno.test("followLog() tells how to go on when it is interrupted", async () => {
  const { world, nth, data, result } = await follow({ language: "ja" });
  data(nth(0), 0, "epoch 1\n");
  await settle();
  world.interrupt();
  assert.equal(await result, 130);
  assert.equal(world.err.text, "\nジョブは動き続けています。もう一度追うには：tias-remote logs exp1 -f\n");
});

Deno.test("followLog() ends when nobody reads any more, and leaves the job alone", async () => {
  class LeavingReader extends BufferOutput {
    get isClosed() {
      return this.text !== "";
    }
  }
  const { world, nth, data, result, processes } = await follow({ out: new LeavingReader() });
  data(nth(0), 0, "epoch 1\n");
  await settle();
  nth(0).exit(255);
  assert.equal(await result, 0);
  assert.equal(processes.length, 1, "it did not connect again");
  assert.equal(world.err.text, "");
});

Deno.test("followLog() passes bytes to a pipe as they are, and filters them on a terminal", async () => {
  const text = "\u001b[31mred\u001b[0m \u001b[2J\u0007 50%\r\n";
  for (const isTerminal of [false, true]) {
    const { world, nth, data, end, result } = await follow({ out: new BufferOutput({ isTerminal }) });
    data(nth(0), 0, text);
    end(nth(0), "state=ended\ncode=0\n");
    await result;
    assert.equal(world.out.text, isTerminal ? "\u001b[31mred\u001b[0m \\x1b[2J\\x07 50%\r\n" : text);
  }
});

Deno.test("followLog() says that the log was replaced", async () => {
  const { world, nth, data, end, result } = await follow();
  data(nth(0), 100, "old\n");
  nth(0).print(`\n@@${nth(0).nonce} truncated\n`);
  data(nth(0), 0, "new\n");
  end(nth(0), "state=ended\ncode=0\n");
  await result;
  assert.equal(world.out.text, "old\nnew\n");
  assert.match(world.err.text, /^The log was replaced on the server; reading it from its head\n/);
});
