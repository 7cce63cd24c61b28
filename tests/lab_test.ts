/** What both laboratories promise: the simulated one, and the one of real OpenSSH servers. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { parse } from "yaml";
import { startLaboratory } from "./lab/laboratory.ts";
import { startOpenSshLaboratory } from "./lab/openssh.ts";
import { HIDING, needing } from "./lab/requirements.ts";
import { runSsh, spawnSsh } from "./lab/run_ssh.ts";
import { busy } from "./lab/scenarios.ts";
import type { Laboratory, LaboratoryOptions } from "./lab/types.ts";
import { fileText, firstLine, waitUntil } from "./lab/waiting.ts";

const KINDS: readonly {
  readonly kind: string;
  readonly programs: readonly string[];
  readonly start: (options: LaboratoryOptions) => Promise<Laboratory>;
}[] = [
  { kind: "simulated", programs: ["ssh"], start: startLaboratory },
  { kind: "OpenSSH", programs: ["ssh", "sshd"], start: startOpenSshLaboratory },
];

const NEWTON: LaboratoryOptions = { servers: [{ name: "Newton" }] };
const TWO: LaboratoryOptions = {
  servers: [{ name: "Newton" }, { name: "Archimedes", scenario: busy }],
  jump: true,
};

for (const { kind, programs, start } of KINDS) {
  const test = (name: string, fn: () => Promise<void>, more: readonly string[] = []) =>
    Deno.test({ ...needing([...programs, ...more], `${kind} laboratory: ${name}`), fn });

  test("a command's stdout, stderr and exit status arrive", async () => {
    await using lab = await start(NEWTON);
    const result = await runSsh(lab, lab.server("Newton"), "echo out; echo err >&2; exit 7");
    assert.deepEqual([result.code, result.stdout, result.stderr], [7, "out\n", "err\n"]);
  });

  test("a command that a signal ended is ssh's failure", async () => {
    await using lab = await start(NEWTON);
    const result = await runSsh(lab, lab.server("Newton"), "echo out; kill -KILL $$");
    assert.deepEqual([result.code, result.stdout], [255, "out\n"]);
  });

  test("a command sees the home of its server and a clean environment", async () => {
    await using lab = await start(NEWTON);
    const newton = lab.server("Newton");
    const result = await runSsh(lab, newton, "pwd; env");
    const [folder, ...variables] = result.stdout.trimEnd().split("\n");
    assert.equal(folder, newton.home);
    const seen = Object.fromEntries(variables.map((line) => line.split(/=(.*)/s, 2)));
    assert.deepEqual(seen, { ...newton.env, PWD: newton.home });
    assert.ok(newton.home.startsWith(`${lab.root}/`));
  });

  test("5 MB go to a command and come back through the jump host, byte for byte", async () => {
    await using lab = await start(TWO);
    const sent = randomBytes(5_000_000);
    const result = await runSsh(lab, lab.server("Archimedes"), "cat", { stdin: sent });
    assert.equal(result.code, 0, result.stderr);
    assert.ok(equal(result.bytes, sent));
    assert.equal((await lab.jump?.events("forward"))?.length, 1);
  });

  test("a command meets the end of its stdin, and need not read it", async () => {
    await using lab = await start(NEWTON);
    const newton = lab.server("Newton");
    const counted = await runSsh(lab, newton, "wc -c; echo end", { stdin: new Uint8Array(1000) });
    assert.match(counted.stdout, /^ *1000\nend\n$/);
    const unread = await runSsh(lab, newton, "exit 3", { stdin: new Uint8Array(5_000_000) });
    assert.equal(unread.code, 3);
  });

  test("a session lasts as long as a process that the command left behind holds its stdout", async () => {
    await using lab = await start(NEWTON);
    const result = await runSsh(lab, lab.server("Newton"), "(sleep 0.3; echo late) & echo early");
    assert.equal(result.stdout, "early\nlate\n");
  });

  test("connections and commands are counted", async () => {
    await using lab = await start(TWO);
    const [newton, archimedes] = [lab.server("Newton"), lab.server("Archimedes")];
    await Promise.all([
      runSsh(lab, newton, "true"),
      runSsh(lab, archimedes, "echo 'a\"b\\'"),
      runSsh(lab, archimedes, "false"),
    ]);
    const counts = [newton, archimedes, lab.jump].map((host) => host?.connections());
    assert.deepEqual(await Promise.all(counts), [1, 2, 3]);
    assert.equal(await lab.connections(), 6);
    const commands = (await archimedes.events("exec")).map(({ detail }) => detail).sort();
    assert.deepEqual(commands, ["echo 'a\"b\\'", "false"]);
    assert.equal((await newton.events("auth"))[0]?.detail, newton.user);
  });

  test("a user that is not listed is refused", async () => {
    await using lab = await start(NEWTON);
    const result = await runSsh(lab, lab.server("Newton"), "true", { user: "nobody-here" });
    assert.equal(result.code, 255);
    assert.match(result.stderr, /Permission denied \(publickey\)/);
  });

  test("drop breaks a running command, which gets no signal but the end of its stdin", async () => {
    await using lab = await start(TWO);
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, WAITS_FOR_EOF);
    await firstLine(client.stdout);
    await newton.drop();
    await client.stdin.abort();
    await client.stderr.cancel();
    assert.equal((await client.status).code, 255);
    assert.equal(await fileText(join(newton.home, "log")), "end\n");
    // Only that connection: the server is still there.
    assert.equal((await runSsh(lab, newton, "true")).code, 0);
  });

  test("a client that disappears leaves the same behind", async () => {
    await using lab = await start(NEWTON);
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, WAITS_FOR_EOF);
    await firstLine(client.stdout);
    client.kill("SIGKILL");
    await Promise.all([client.stdin.abort(), client.stderr.cancel(), client.status]);
    assert.equal(await fileText(join(newton.home, "log")), "end\n");
  });

  test("a command that writes on after its client has gone ends by SIGPIPE", async () => {
    await using lab = await start(NEWTON);
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, "sh -c 'echo ready; exec yes'; echo $? >$HOME/log");
    await firstLine(client.stdout);
    client.kill("SIGKILL");
    await Promise.all([client.stdin.abort(), client.stderr.cancel(), client.status]);
    assert.equal(await fileText(join(newton.home, "log")), `${128 + 13}\n`);
  });

  test("a stopped server refuses connections until it is started again", async () => {
    await using lab = await start(NEWTON);
    const newton = lab.server("Newton");
    await newton.stop();
    const refused = await runSsh(lab, newton, "true");
    assert.equal(refused.code, 255);
    assert.match(refused.stderr, /Connection refused/);
    await newton.start();
    assert.equal((await runSsh(lab, newton, "true")).code, 0);
  });

  test("a dead server refuses connections while the others live", async () => {
    await using lab = await start({
      ...TWO,
      servers: [{ name: "Newton", behaviour: { dead: true } }, { name: "Archimedes" }],
    });
    assert.equal((await runSsh(lab, lab.server("Newton"), "true")).code, 255);
    assert.equal((await runSsh(lab, lab.server("Archimedes"), "true")).code, 0);
    assert.equal(await lab.server("Newton").connections(), 0);
    await lab.server("Newton").setBehaviour({});
    assert.equal((await runSsh(lab, lab.server("Newton"), "true")).code, 0);
  });

  test("a server that refuses keys does so until told otherwise", async () => {
    await using lab = await start({
      servers: [{ name: "Newton", behaviour: { refuseAuthentication: true } }],
    });
    const newton = lab.server("Newton");
    const refused = await runSsh(lab, newton, "true");
    assert.deepEqual([refused.code, /Permission denied/.test(refused.stderr)], [255, true]);
    assert.deepEqual(await newton.events("auth"), []);
    await newton.setBehaviour({});
    assert.equal((await runSsh(lab, newton, "true")).code, 0);
  });

  test("a noisy login prints its text before the command's output", async () => {
    const noise = "\x1b[1mWelcome\x1b[0m\r\n日本語 'quoted' %s \\n";
    await using lab = await start({ servers: [{ name: "Newton", behaviour: { noise } }] });
    const result = await runSsh(lab, lab.server("Newton"), "echo data");
    assert.equal(result.stdout, `${noise}data\n`);
  });

  test("a closed account says so and exits 1", async () => {
    await using lab = await start({ servers: [{ name: "Newton", behaviour: { accountClosed: true } }] });
    const result = await runSsh(lab, lab.server("Newton"), "echo data");
    assert.deepEqual([result.code, result.stdout], [1, "This account is currently not available.\n"]);
  });

  test(
    "one tmux socket name is two sockets on two servers, and disposal ends them with all else",
    async () => {
      const lab = await start(TWO);
      const pids: number[] = [];
      {
        await using _ = lab;
        for (const server of lab.servers) {
          const started = await runSsh(
            lab,
            server,
            `tmux -L ${lab.tmuxSocket} new-session -d -s job 'exec sleep 1000'; sleep 1000 >/dev/null 2>&1 & echo $!
           tmux -L ${lab.tmuxSocket} list-panes -a -F '#{pid} #{pane_pid}'`,
          );
          assert.match(started.stdout, /^[0-9]+\n[0-9]+ [0-9]+\n$/, started.stderr);
          pids.push(...started.stdout.trim().split(/\s/).map(Number));
        }
        assert.ok(pids.every(isRunning));
      }
      await waitUntil(() => !pids.some(isRunning));
      await assert.rejects(Deno.stat(lab.root), Deno.errors.NotFound);
    },
    ["tmux"],
  );

  test("a program is hidden on one server alone, whatever is in PATH", async () => {
    await using lab = await start({ servers: [{ name: "Newton", tmux: false }, { name: "Archimedes" }] });
    const command = "PATH=$PATH:/usr/local/bin:/usr/bin:/bin; command -v tmux >/dev/null; echo $?; pwd";
    const seen = await Promise.all(
      lab.servers.map(async (server) => (await runSsh(lab, server, command)).stdout),
    );
    assert.deepEqual(seen, lab.servers.map(({ home }, place) => `${place === 0 ? 127 : 0}\n${home}\n`));
  }, ["tmux", HIDING]);

  test("a project has the configuration of its laboratory, but for what is asked", async () => {
    await using lab = await start(TWO);
    const folder = await lab.project({ config: { gpu_free: { observe_sec: 0 }, connect_timeout_sec: 5 } });
    const config = parse(await Deno.readTextFile(join(folder, "configs/remote.yaml")));
    assert.equal(config.ssh_config, lab.sshConfig);
    assert.equal(config.jump_host, "labpc");
    assert.equal(config.connect_timeout_sec, 5);
    assert.deepEqual([config.gpu_free.observe_sec, config.gpu_free.sample_interval_ms], [0, 100]);
    assert.equal(config.jobs.tmux_socket, lab.tmuxSocket);
    assert.deepEqual(
      config.servers.map((
        server: Record<string, unknown>,
      ) => [server["name"], server["address"], server["user"]]),
      lab.servers.map(({ name, address, user }) => [name, address, user]),
    );
    const [first] = config.servers;
    assert.deepEqual([first.priority, first.data_ready, first.uv], [1, true, "~/.local/bin/uv"]);
  });
}

const WAITS_FOR_EOF = "trap 'echo signal >>$HOME/log' HUP INT TERM; echo ready; cat; echo end >>$HOME/log";

function randomBytes(count: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(count);
  // At most 65536 at once.
  for (let at = 0; at < count; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
  return bytes;
}

function equal(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, place) => byte === right[place]);
}

/** A zombie, which waits for its parent, runs no more. */
function isRunning(pid: number): boolean {
  const { stdout } = new Deno.Command("/bin/ps", { args: ["-o", "stat=", "-p", String(pid)] }).outputSync();
  return /^[^Z\s]/.test(new TextDecoder().decode(stdout));
}
