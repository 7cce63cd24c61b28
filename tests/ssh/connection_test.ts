import assert from "node:assert/strict";
import { type CallResult, type RemoteScript, runScript } from "../../lib/ssh/connection.ts";
import type { Transcript } from "../../lib/ssh/framing.ts";
import { UserError } from "../../lib/system/errors.ts";
import { countingRandom, settle, testContext } from "../test_context.ts";
import { FakeProcess } from "./fake_process.ts";

const direct = { jump_host: null, connect_timeout_sec: 15 };
const throughJump = { ...direct, jump_host: "labpc" };
const newton = { user: "hasegawa", address: "192.168.23.14" };
const script: RemoteScript = { text: "echo hello\nmark done\n", values: { job: "exp 1" }, seconds: 30 };

/** A call in the middle: ssh has been started and has got its script. */
async function call(settings: typeof direct | typeof throughJump = direct, what: RemoteScript = script) {
  const processes: FakeProcess[] = [];
  const world = testContext({
    random: countingRandom(),
    start(spec) {
      const process = new FakeProcess(spec);
      processes.push(process);
      return process;
    },
  });
  const result = runScript(world, settings, newton, what);
  // A test that looks at the failure later must not be called careless.
  result.catch(() => {});
  await settle();
  const [process, ...others] = processes;
  assert.ok(process !== undefined);
  assert.deepEqual(others, []);
  return { world, process, result, nonce: process.nonce };
}

function failureOf(result: CallResult<Transcript>): string {
  return result.ok ? "none" : result.failure.kind;
}

Deno.test("runScript() sends nonce, values and script, closes the input, and asks nobody anything", async () => {
  const { process, result, nonce } = await call();
  assert.match(process.received, /^nonce=[0-9a-f]{32}\njob='exp 1'\n/);
  assert.ok(process.received.endsWith("echo hello\nmark done\n"));
  assert.equal(process.inputEnd, "closed");
  assert.equal(process.spec.env?.["SSH_ASKPASS_REQUIRE"], "never");
  assert.equal(process.spec.args.at(-1), `exec sh -c 'eval "$(cat)"'`);
  process.print(`@@${nonce} begin\n\n@@${nonce} done\n`);
  process.exit(0);
  assert.equal((await result).ok, true);
});

Deno.test("runScript() takes what stands between the markers, however it is cut into chunks", async () => {
  const { process, result, nonce } = await call();
  const whole =
    `Welcome to Newton!\n@@${nonce} begin\n\n@@${nonce} section a\n日本語\n\n@@${nonce} end a 3\n\n@@${nonce} done\n`;
  for (const byte of new TextEncoder().encode(whole)) process.print(Uint8Array.of(byte));
  process.exit(0);
  const answer = await result;
  assert.ok(answer.ok);
  assert.deepEqual(answer.value.sections, [{ name: "a", text: "日本語\n", status: 3 }]);
});

Deno.test("runScript() counts a whole answer as success whatever ssh says and however it ends", async () => {
  const { process, result, nonce } = await call();
  process.complain("** WARNING: connection is not using a post-quantum key exchange algorithm.\n");
  process.complain("bash: warning: setlocale: LC_ALL: cannot change locale (ja_JP.UTF-8)\n");
  process.print(`@@${nonce} begin\n\n@@${nonce} done\n`);
  process.exit(255);
  assert.equal((await result).ok, true);
});

Deno.test("runScript() ends an ssh that stays two seconds after the last marker, and takes its answer", async () => {
  const { world, process, result, nonce } = await call();
  process.print(`@@${nonce} begin\n\n@@${nonce} done\n`);
  await world.clock.tick(1999);
  assert.equal(process.kills, 0);
  await world.clock.tick(1);
  assert.equal(process.kills, 1);
  assert.equal((await result).ok, true);
  assert.deepEqual(world.clock.waiting, []);
});

Deno.test.each([
  ["directly", direct, 20],
  ["through a jump host", throughJump, 35],
])(
  "runScript() waits for a beginning no longer than the connection may take, %s",
  async (_way, settings, seconds) => {
    const { world, process, result } = await call(settings);
    await world.clock.tick(seconds * 1000 - 1);
    assert.equal(process.kills, 0);
    await world.clock.tick(1);
    assert.equal(process.kills, 1);
    assert.equal(failureOf(await result), "timeout");
    assert.deepEqual(world.clock.waiting, []);
  },
);

Deno.test("runScript() waits for the end no longer than the script may take", async () => {
  const { world, process, result, nonce } = await call();
  process.print(`@@${nonce} begin\n\n@@${nonce} section a\nwhat came`);
  await world.clock.tick(34_999);
  assert.equal(process.kills, 0);
  await world.clock.tick(1);
  const answer = await result;
  assert.equal(failureOf(answer), "silent");
  assert.deepEqual(!answer.ok && answer.partial?.sections, [{ name: "a", text: "what came", status: null }]);
});

Deno.test("runScript() lets a script without a limit run on", async () => {
  const { world, process, result, nonce } = await call(direct, { ...script, seconds: null });
  process.print(`@@${nonce} begin\n`);
  await world.clock.tick(24 * 3600 * 1000);
  assert.equal(process.kills, 0);
  process.print(`\n@@${nonce} done\n`);
  process.exit(0);
  assert.equal((await result).ok, true);
});

Deno.test("runScript() ends ssh when the program is interrupted", async () => {
  const { world, process, result } = await call();
  world.interrupt();
  assert.equal(process.kills, 1);
  assert.equal(failureOf(await result), "interrupted");
});

Deno.test("runScript() starts nothing that outlives an interruption before it", async () => {
  const world = testContext({ random: countingRandom(), start: (spec) => new FakeProcess(spec) });
  world.interrupt();
  assert.equal(failureOf(await runScript(world, direct, newton, script)), "interrupted");
});

Deno.test.each([
  ["resolve", "ssh: Could not resolve hostname gpu01: Name or service not known\n", "", 255],
  ["login_refused", "", "This account is currently not available.\n", 1],
  ["unknown", "", "", 255],
])("runScript() tells %s when no beginning came", async (kind, stderr, stdout, code) => {
  const { process, result } = await call();
  process.complain(stderr);
  process.print(stdout);
  process.exit(code);
  assert.equal(failureOf(await result), kind);
});

Deno.test("runScript() takes a connection that breaks behind the beginning for cut", async () => {
  const { process, result, nonce } = await call();
  process.print(`@@${nonce} begin\n\n@@${nonce} section a\nx\n@@${nonce} end a 0\n`);
  process.complain("client_loop: send disconnect: Broken pipe\r\n");
  process.exit(255);
  const answer = await result;
  assert.deepEqual(!answer.ok && answer.failure, {
    kind: "cut",
    detail: "client_loop: send disconnect: Broken pipe",
  });
});

Deno.test("runScript() judges no answer with the markers of another call", async () => {
  const { process, result } = await call();
  const other = "f".repeat(32);
  process.print(`@@${other} begin\n\n@@${other} section gpu_list\n\n@@${other} done\n`);
  process.exit(0);
  assert.equal(failureOf(await result), "login_refused");
});

Deno.test.each(
  [
    // The second ssh, for the jump host, hangs in its own connection and holds standard error.
    ["standard error", "stderr"],
    // A program in ssh's place has started another one.
    ["all of its output", "both"],
  ] as const,
)("runScript() waits for nothing that a killed ssh has left running with %s", async (_what, keepsOpen) => {
  const { world, process, result } = await call(throughJump);
  process.keepsOpen = keepsOpen;
  process.complain("channel 0: open failed: connect failed: No route to host\n");
  await world.clock.tick(37_000);
  assert.equal(failureOf(await result), "no_route");
  assert.deepEqual(world.clock.waiting, []);
});

Deno.test("runScript() keeps what came before it was ended, whoever holds the output open", async () => {
  const { world, process, result, nonce } = await call();
  process.keepsOpen = "both";
  process.print(`@@${nonce} begin\n\n@@${nonce} section a\nx\n@@${nonce} end a 0\n`);
  await world.clock.tick(40_000);
  const answer = await result;
  assert.deepEqual(!answer.ok && answer.partial?.sections, [{ name: "a", text: "x", status: 0 }]);
});

Deno.test.each([
  ["there is no ssh", new Deno.errors.NotFound(), "ssh.missing", 1],
  ["the sandbox forbids it", new Deno.errors.NotCapable(), "ssh.not_permitted", 2],
  ["the system forbids it", new Deno.errors.PermissionDenied(), "ssh.not_permitted", 2],
])("runScript() tells at once that %s", async (_what, fault, id, exit) => {
  const world = testContext({
    random: countingRandom(),
    env: { TIAS_REMOTE_SSH: "/opt/ssh" },
    start() {
      throw fault;
    },
  });
  await assert.rejects(
    runScript(world, direct, newton, script),
    (error) => {
      assert.ok(error instanceof UserError);
      assert.equal(error.text.id, id);
      assert.deepEqual(error.text.params, { program: "/opt/ssh" });
      assert.equal(error.exit, exit);
      return true;
    },
  );
});

Deno.test("runScript() lets a failure that nobody expected through", async () => {
  const world = testContext({
    random: countingRandom(),
    start() {
      throw new TypeError("a bug");
    },
  });
  await assert.rejects(runScript(world, direct, newton, script), TypeError);
});
