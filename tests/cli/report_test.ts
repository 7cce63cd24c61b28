import assert from "node:assert/strict";
import type { Command } from "@stricli/core";
import { buildCommand } from "@stricli/core";
import {
  action,
  buildCommandApplication,
  type CliContext,
  runProgram,
  version,
} from "../../lib/cli/program.ts";
import { reportError, warn } from "../../lib/cli/report.ts";
import { ExitCode, message, UserError } from "../../lib/system/errors.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { BufferOutput, type TestContext, testContext } from "../test_context.ts";

const en = textsIn("en");

Deno.test("reportError() prints sentence, details and hint, and nothing that a terminal would obey", async () => {
  const world = testContext();
  const fault = new UserError(message("run.no_gpu"), {
    hint: message("run.no_gpu.hint"),
    exit: ExitCode.NothingSuitable,
    details: ["Newton: busy", "evil\u001b[2J"],
  });
  assert.equal(await reportError(world, en, fault), 3);
  assert.equal(
    world.err.text,
    "error: There is no free GPU on the candidate servers; nothing was started\n" +
      "  Newton: busy\n  evil\\x1b[2J\n" +
      "hint: Try again later, or name one with --server NAME --gpu I --force if you may\n",
  );
  assert.equal(world.out.text, "");
});

Deno.test("reportError() needs neither hint nor details, and counts as failed work", async () => {
  const world = testContext();
  assert.equal(
    await reportError(world, textsIn("ja"), new UserError(message("logs.lost", { job: "a", server: "N" }))),
    1,
  );
  assert.equal(world.err.text, "エラー: a は N から消えました（外部から停止されたか，サーバが再起動）\n");
});

Deno.test("reportError() takes everything else for a bug and keeps its stack", async () => {
  const world = testContext();
  assert.equal(await reportError(world, en, new TypeError("x is undefined")), 70);
  assert.match(world.err.text, /^TypeError: x is undefined\n {4}at /);
  assert.ok(world.err.text.endsWith(
    "error: Something went wrong inside tias-remote; this is a bug\n" +
      "hint: Please report the lines above together with the command\n",
  ));
  const thrown = testContext();
  assert.equal(await reportError(thrown, en, "a word"), 70);
  assert.ok(thrown.err.text.startsWith("a word\n"));
});

Deno.test("reportError() calls what fails behind an interruption interrupted", async () => {
  const world = testContext();
  world.interrupt();
  assert.equal(await reportError(world, en, new Error("aborted")), 130);
  assert.equal(world.err.text, "Interrupted\n");
});

Deno.test(
  "reportError() and warn() colour their labels on a terminal only",
  { ignore: Deno.noColor },
  async () => {
    const world = testContext({ err: new BufferOutput({ isTerminal: true }) });
    await warn(world, en, "careful");
    await reportError(world, en, new UserError(message("run.no_gpu"), { hint: message("run.no_gpu.hint") }));
    const labels = world.err.text.split("\n").map((line) => line.split(" ")[0]);
    assert.deepEqual(labels, [
      "\u001b[33mwarning:\u001b[0m",
      "\u001b[31merror:\u001b[0m",
      "\u001b[36mhint:\u001b[0m",
      "",
    ]);
  },
);

/** The exit code of a program whose one command does `work`. */
async function exitOf(work: (world: TestContext) => Promise<ExitCode>, ...words: string[]) {
  const world = testContext({ env: { TIAS_REMOTE_LANG: "en" } });
  const maker = (): Command<CliContext> =>
    buildCommand<Record<never, never>, [], CliContext>({
      docs: { brief: "test" },
      parameters: {},
      func: action(() => work(world)),
    });
  const exit = await runProgram(world, words, (texts) => buildCommandApplication("test", maker, texts));
  return { exit, out: world.out.text, err: world.err.text };
}

Deno.test.each([[0], [1], [3], [124]] as [ExitCode][])(
  "runProgram() passes the work's own code %i on",
  async (code) => {
    assert.deepEqual(await exitOf(() => Promise.resolve(code)), { exit: code, out: "", err: "" });
  },
);

Deno.test.each(
  [
    [2, ExitCode.Usage],
    [3, ExitCode.NothingSuitable],
    [4, ExitCode.NotAuthorised],
    [130, ExitCode.Interrupted],
  ] as const,
)("runProgram() ends with %i as the error says", async (expected, exit) => {
  const { exit: code, err } = await exitOf(() =>
    Promise.reject(new UserError(message("run.no_gpu"), { exit }))
  );
  assert.equal(code, expected);
  assert.match(err, /^error: There is no free GPU/);
});

Deno.test("runProgram() ends with 70 on a bug, whether thrown at once or later", async () => {
  const later = await exitOf(() => Promise.reject(new TypeError("x")));
  const atOnce = await exitOf(() => {
    throw new TypeError("x");
  });
  assert.deepEqual([later.exit, atOnce.exit], [70, 70]);
});

Deno.test("runProgram() ends with 130 when it was interrupted, also when the work ended well", async () => {
  const { exit } = await exitOf((world) => {
    world.interrupt();
    return Promise.resolve(ExitCode.Done);
  });
  assert.equal(exit, 130);
});

Deno.test("runProgram() ends with 2 on a wrong command line and 0 on help, without any work", async () => {
  const never = () => Promise.reject(new Error("must not be called"));
  assert.equal((await exitOf(never, "--frobnicate")).exit, 2);
  assert.equal((await exitOf(never, "--help")).exit, 0);
  assert.deepEqual(await exitOf(never, "--version"), { exit: 0, out: `${version}\n`, err: "" });
});
