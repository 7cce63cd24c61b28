/** What only the laboratory of real OpenSSH servers promises. */

import assert from "node:assert/strict";
import { basename } from "node:path";
import { type OpenSshLaboratory, type OpenSshOptions, startOpenSshLaboratory } from "./openssh.ts";
import { needing } from "./requirements.ts";
import { runSsh } from "./run_ssh.ts";

const TWO: OpenSshOptions = { servers: [{ name: "Newton" }, { name: "Archimedes" }], jump: true };

Deno.test({
  ...needing(
    ["ssh", "sshd"],
    "startOpenSshLaboratory() lets the client reach the servers through the bastion alone",
  ),
  async fn(t) {
    await using lab = await startOpenSshLaboratory(TWO);
    await t.step({
      name: "in a network of its own",
      ignore: !lab.isolated,
      fn: () => reachableThroughTheBastionAlone(lab),
    });
  },
});

async function reachableThroughTheBastionAlone(lab: OpenSshLaboratory): Promise<void> {
  assert.deepEqual(lab.servers.map(({ address }) => address), ["192.168.23.14", "192.168.23.15"]);
  for (const server of lab.servers) {
    const direct = await runSsh(lab, server, "true", { jump: false });
    assert.equal(direct.code, 255);
    assert.match(direct.stderr, /Network is unreachable/);
    assert.equal((await runSsh(lab, server, "true")).code, 0);
    assert.equal(await server.connections(), 1);
  }
  const forwards = await lab.jump?.events("forward");
  assert.deepEqual(forwards?.map(({ detail }) => detail), ["192.168.23.14:22", "192.168.23.15:22"]);
  // One server is not a way to the other either.
  const onward = await runSsh(lab, lab.server("Newton"), "timeout 5 bash -c ': </dev/tcp/192.168.23.15/22'");
  assert.notEqual(onward.code, 0);
}

Deno.test({
  ...needing(["ssh", "sshd"], "startOpenSshLaboratory() does without a network of its own"),
  async fn() {
    await using lab = await startOpenSshLaboratory({ ...TWO, loopback: true });
    assert.equal(lab.isolated, false);
    for (const jump of [true, false]) {
      const result = await runSsh(lab, lab.server("Archimedes"), "echo $HOME", { jump });
      assert.equal(result.stdout, `${lab.server("Archimedes").home}\n`);
    }
  },
});

Deno.test({
  ...needing(["ssh", "sshd"], "startOpenSshLaboratory() needs no bastion"),
  async fn() {
    await using lab = await startOpenSshLaboratory({ servers: TWO.servers });
    assert.equal((await runSsh(lab, lab.server("Archimedes"), "exit 3")).code, 3);
  },
});

Deno.test({
  ...needing(["ssh", "sshd"], "startOpenSshLaboratory() takes its namespaces and processes with it"),
  async fn() {
    const lab = await startOpenSshLaboratory(TWO);
    const traces = () => tracesOf(lab.root);
    assert.notEqual(await traces(), "");
    await runSsh(lab, lab.server("Newton"), "sleep 1000 </dev/null >/dev/null 2>&1 &");
    await lab[Symbol.asyncDispose]();
    assert.equal(await traces(), "");
  },
});

/** Processes and namespaces that have the laboratory's name in theirs. */
async function tracesOf(root: string): Promise<string> {
  const command =
    '{ ps -A -o args=; ls /run/netns 2>/dev/null; } | grep -F -e "$0" | grep -v -e grep -e " -c "';
  const { stdout } = await new Deno.Command("sh", { args: ["-c", command, basename(root)] }).output();
  return new TextDecoder().decode(stdout);
}

Deno.test({
  ...needing(
    ["sshd"],
    "startOpenSshLaboratory() refuses what only the simulated servers can do, and leaves nothing",
  ),
  async fn() {
    const start = () =>
      startOpenSshLaboratory({ servers: [{ name: "Newton", behaviour: { silent: true } }] });
    await assert.rejects(start, /Cannot make a real sshd misbehave by 'silent'/);
  },
});
