/** The way through a jump host where `-J` does not work, as with older ssh of Windows. */
import assert from "node:assert/strict";
import { proxyCommand, sshArguments } from "../../lib/ssh/arguments.ts";
import { runScript } from "../../lib/ssh/connection.ts";
import type { ProcessSpec } from "../../lib/system/context.ts";
import { realContext } from "../../lib/system/real.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { onUnix, temporaryFolder, writePrograms } from "../shell.ts";
import { countingRandom, settle, testContext } from "../test_context.ts";
import { FakeProcess } from "./fake_process.ts";

const settings = { jump_host: "labpc", connect_timeout_sec: 15 };
const newton = { user: "hasegawa", address: "192.168.23.14" };
const windowsSsh = "C:\\Windows\\System32\\OpenSSH\\ssh.exe";
/** Made here, because it listens to signals from now on. */
const real = { ...realContext() };
const complaint = "CreateProcessW failed error:2\r\nposix_spawn: No such file or directory\r\n";

Deno.test.each([
  [{ ...settings }, windowsSsh, `${windowsSsh} -o BatchMode=yes -o ConnectTimeout=15 -W [%h]:%p labpc`],
  [
    { ...settings, jump_host: "me@lab.example:2222", ssh_config: "C:\\My files\\100%\\ssh" },
    "C:\\Program Files\\Git\\usr\\bin\\ssh.exe",
    `"C:\\Program Files\\Git\\usr\\bin\\ssh.exe" -F "C:\\My files\\100%%\\ssh" -o BatchMode=yes -o ConnectTimeout=15 -p 2222 -W [%h]:%p me@lab.example`,
  ],
  [{ ...settings, jump_host: null }, windowsSsh, undefined],
  [{ ...settings, jump_host: "one,two" }, windowsSsh, undefined],
  [{ ...settings, jump_host: "labpc;calc" }, windowsSsh, undefined],
  [{ ...settings, jump_host: "$(calc)" }, windowsSsh, undefined],
  [{ ...settings, ssh_config: 'C:\\a"b' }, windowsSsh, undefined],
])("proxyCommand() of %j with %s", (given, program, expected) => {
  assert.equal(proxyCommand(given, program), expected);
});

Deno.test("sshArguments() goes through the jump host by -J or by a command, never by both", () => {
  const args = sshArguments(settings, newton, "exec sh", "windows", { proxyCommand: "ssh -W [%h]:%p labpc" });
  assert.deepEqual(args.slice(0, 3), ["-T", "-o", "ProxyCommand=ssh -W [%h]:%p labpc"]);
  assert.ok(!args.includes("-J") && args.includes("ConnectTimeout=15"));
  assert.ok(
    !sshArguments(settings, newton, "exec sh", "windows").some((word) => word.startsWith("ProxyCommand")),
  );
});

/** A call on a system, with each ssh that it starts. */
async function call(os: string, payload?: ReadableStream<Uint8Array>) {
  const started: FakeProcess[] = [];
  const world = testContext({
    os,
    random: countingRandom(),
    start(spec: ProcessSpec) {
      const process = new FakeProcess(spec);
      started.push(process);
      return process;
    },
  });
  const script = {
    text: "echo hello\n",
    values: {},
    seconds: 30,
    ...(payload === undefined ? {} : { payload }),
  };
  const result = runScript(world, settings, newton, script);
  result.catch(() => {});
  await settle();
  return { started, result };
}

function nth(started: readonly FakeProcess[], index: number): FakeProcess {
  const process = started[index];
  assert.ok(process !== undefined, `ssh was started ${started.length} times`);
  return process;
}

function answer(process: FakeProcess): void {
  process.print(`@@${process.nonce} begin\n\n@@${process.nonce} done\n`);
}

Deno.test("runScript() starts ssh once more by a command where it cannot start itself for the jump host", async () => {
  const { started, result } = await call("windows");
  const first = nth(started, 0);
  assert.ok(first.spec.args.includes("-J"));
  first.complain(complaint);
  first.exit(255);
  await settle();
  const second = nth(started, 1);
  assert.ok(
    second.spec.args.includes(
      `ProxyCommand=${windowsSsh} -o BatchMode=yes -o ConnectTimeout=15 -W [%h]:%p labpc`,
    ),
  );
  assert.equal(second.received, first.received, "the whole script again");
  assert.equal(second.inputEnd, "closed");
  answer(second);
  second.exit(0);
  assert.equal((await result).ok, true);
  assert.equal(started.length, 2);
});

Deno.test("runScript() keeps the payload for the ssh that works", async () => {
  const { started, result } = await call(
    "windows",
    ReadableStream.from([new TextEncoder().encode("payload")]),
  );
  const first = nth(started, 0);
  assert.ok(!first.received.includes("payload"));
  first.complain(complaint);
  first.exit(255);
  await settle();
  const second = nth(started, 1);
  assert.ok(second.received.endsWith("echo hello\npayload"));
  assert.equal(second.inputEnd, "closed");
  answer(second);
  second.exit(0);
  assert.equal((await result).ok, true);
});

Deno.test("runScript() sends the payload when -J has worked", async () => {
  const { started, result } = await call(
    "windows",
    ReadableStream.from([new TextEncoder().encode("payload")]),
  );
  const first = nth(started, 0);
  first.print(`@@${first.nonce} begin\n`);
  await settle();
  assert.ok(first.received.endsWith("echo hello\npayload"));
  first.print(`\n@@${first.nonce} done\n`);
  first.exit(0);
  assert.equal((await result).ok, true);
  assert.equal(started.length, 1);
});

Deno.test("runScript() tries the other way once, and tells its failure", async () => {
  const { started, result } = await call("windows");
  nth(started, 0).complain(complaint);
  nth(started, 0).exit(255);
  await settle();
  nth(started, 1).complain("ssh: connect to host labpc port 22: Connection refused\r\n");
  nth(started, 1).exit(255);
  const end = await result;
  assert.equal(end.ok ? "" : end.failure.kind, "refused");
  assert.equal(started.length, 2);
});

Deno.test.each([
  ["another failure", "windows", "Host key verification failed.\r\n", "host_key_unknown"],
  ["another system", "linux", complaint, "proxy_jump_broken"],
])("runScript() tries no other way for %s", async (_what, os, words, kind) => {
  const { started, result } = await call(os);
  nth(started, 0).complain(words);
  nth(started, 0).exit(255);
  const end = await result;
  assert.equal(end.ok ? "" : end.failure.kind, kind);
  assert.equal(started.length, 1);
});

Deno.test("runScript() gets its answer from a program that cannot -J, payload and all", onUnix, async () => {
  await using folder = await temporaryFolder();
  // It plays both sshs: with -J it fails as Windows' does, with a command it is the server's shell.
  await writePrograms(folder.path, {
    ssh: `#!/bin/sh
for word; do case $word in -J) echo 'posix_spawnp: No such file or directory' >&2; exit 255 ;; esac; done
case "$*" in *'ProxyCommand='*' -W [%h]:%p labpc'*) ;; *) exit 9 ;; esac
for word; do last=$word; done
exec sh -c "$last"
`,
  });
  const world = { ...real, os: "windows", env: () => `${folder.path}/ssh` };
  const result = await runScript(world, settings, newton, {
    text: 'got=$(wc -c)\nsection got echo "$got"\nmark done\n',
    values: {},
    seconds: 30,
    payload: ReadableStream.from(Array.from({ length: 50 }, () => new Uint8Array(100_000).fill(65))),
  });
  assert.ok(result.ok, JSON.stringify(result));
  assert.equal(result.value.sections[0]?.text.trim(), "5000000");
});

Deno.test({
  ...needing(["ssh"], "runScript() reaches a server behind a jump host by the command alone"),
  async fn() {
    await using lab = await startLaboratory({ jump: true, servers: [{ name: "Newton" }] });
    await using folder = await temporaryFolder();
    // An ssh that fails at -J as Windows' does, and else is the system's.
    await writePrograms(folder.path, {
      ssh: `#!/bin/sh
for word; do case $word in -J) echo 'posix_spawnp: No such file or directory' >&2; exit 255 ;; esac; done
exec ${lab.ssh} "$@"
`,
    });
    const world = { ...real, os: "windows", env: () => `${folder.path}/ssh` };
    const { user, address } = lab.server("Newton");
    const result = await runScript(
      world,
      { jump_host: "labpc", connect_timeout_sec: 15, ssh_config: lab.sshConfig },
      { user, address },
      { text: "section home echo $HOME\nmark done\n", values: {}, seconds: 30 },
    );
    assert.ok(result.ok, JSON.stringify(result));
    assert.equal(result.value.sections[0]?.text.trim(), lab.server("Newton").home);
    assert.equal(await lab.jump?.connections(), 1);
  },
});
