/** How the simulated servers misbehave, and how their shells start. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { startLaboratory } from "./laboratory.ts";
import { needing } from "./requirements.ts";
import { runSsh, spawnSsh, sshArgs } from "./run_ssh.ts";
import type { Behaviour } from "./spec.ts";
import { fileText, firstLine, waitUntil } from "./waiting.ts";

const oneServer = (behaviour: Behaviour) => startLaboratory({ servers: [{ name: "Newton", behaviour }] });

Deno.test({
  ...needing(["ssh"], "a silent server accepts TCP and leaves the client waiting"),
  async fn() {
    await using lab = await oneServer({ silent: true });
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, "true");
    await waitUntil(async () => await newton.connections() > 0);
    // The only way out is its own time limit, or ours.
    client.kill("SIGTERM");
    await Promise.all([client.stdin.abort(), client.stdout.cancel(), client.stderr.cancel(), client.status]);
    assert.deepEqual((await newton.events()).map(({ event }) => event), ["connect"]);
  },
});

Deno.test({
  ...needing(["ssh"], "a silent server is what ConnectTimeout is for"),
  async fn() {
    await using lab = await oneServer({ silent: true });
    const args = ["-o", "ConnectTimeout=1", ...sshArgs(lab, lab.server("Newton"), "true")];
    const { code, stderr } = await new Deno.Command(lab.ssh, { args, stdin: "null" }).output();
    assert.equal(code, 255);
    assert.match(new TextDecoder().decode(stderr), /timed out/);
  },
});

Deno.test({
  ...needing(["ssh"], "a slow login comes later"),
  async fn() {
    await using lab = await oneServer({ loginDelaySec: 0.5 });
    const newton = lab.server("Newton");
    await runSsh(lab, newton, "true");
    const [auth] = await newton.events("auth");
    const [exec] = await newton.events("exec");
    assert.ok(Date.parse(exec?.time ?? "") - Date.parse(auth?.time ?? "") >= 499);
  },
});

Deno.test({
  ...needing(["ssh"], "a jump host misbehaves as well"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton" }],
      jump: { behaviour: { refuseAuthentication: true } },
    });
    const newton = lab.server("Newton");
    assert.equal((await runSsh(lab, newton, "true")).code, 255);
    assert.equal((await runSsh(lab, newton, "true", { jump: false })).code, 0);
  },
});

Deno.test({
  ...needing(["ssh"], "a jump host that drops its connections breaks those behind it"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }], jump: true });
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, "echo ready; cat; echo end >log");
    await firstLine(client.stdout);
    await lab.jump?.drop();
    await Promise.all([client.stdin.abort(), client.stderr.cancel()]);
    assert.equal((await client.status).code, 255);
    assert.equal(await fileText(join(newton.home, "log")), "end\n");
  },
});

Deno.test({
  ...needing(["ssh"], "dropAfter breaks each connection after so many bytes of stdout"),
  async fn() {
    await using lab = await oneServer({ dropAfter: { bytes: 100_000 } });
    const newton = lab.server("Newton");
    for (const _ of [1, 2]) {
      const { code, bytes } = await runSsh(lab, newton, "yes");
      assert.equal(code, 255);
      assert.ok(bytes.length > 0 && bytes.length <= 100_000);
    }
    // Less than that is no reason to break.
    assert.deepEqual((await runSsh(lab, newton, "echo data")).stdout, "data\n");
  },
});

Deno.test({
  ...needing(["ssh"], "dropAfter breaks the second connection alone"),
  async fn() {
    await using lab = await oneServer({ dropAfter: { bytes: 3, connection: 2 } });
    const codes: number[] = [];
    for (const _ of [1, 2, 3]) codes.push((await runSsh(lab, lab.server("Newton"), "echo data")).code);
    assert.deepEqual(codes, [0, 255, 0]);
  },
});

Deno.test({
  ...needing(["ssh"], "dropAfter breaks an upload, of which the command gets the beginning"),
  async fn() {
    await using lab = await oneServer({ dropAfter: { bytes: 100_000, stream: "stdin" } });
    const newton = lab.server("Newton");
    const { code } = await runSsh(lab, newton, "cat >part; echo done >done", {
      stdin: new Uint8Array(500_000),
    });
    assert.equal(code, 255);
    assert.equal(await fileText(join(newton.home, "done")), "done\n");
    assert.equal((await Deno.stat(join(newton.home, "part"))).size, 100_000);
  },
});

Deno.test({
  ...needing(["ssh"], "setBehaviour leaves running connections as they are"),
  async fn() {
    await using lab = await oneServer({});
    const newton = lab.server("Newton");
    await using client = spawnSsh(lab, newton, "echo ready; cat >/dev/null; exit 5");
    await firstLine(client.stdout);
    await newton.setBehaviour({ refuseAuthentication: true });
    await client.stdin.close();
    await client.stderr.cancel();
    assert.equal((await client.status).code, 5);
  },
});

const SHELLS = [
  { shell: "bash", file: ".bashrc" },
  { shell: "zsh", file: ".zshenv" },
  { shell: "fish", file: ".config/fish/config.fish" },
];

for (const { shell, file } of SHELLS) {
  Deno.test({
    ...needing(["ssh", shell], `the login shell ${shell} runs the command, after its own ${file}`),
    async fn() {
      await using lab = await startLaboratory({ servers: [{ name: "Newton", shell }] });
      const newton = lab.server("Newton");
      await Deno.mkdir(join(newton.home, ".config/fish"), { recursive: true });
      await Deno.writeTextFile(join(newton.home, file), "echo noise\n");
      const { stdout } = await runSsh(lab, newton, "echo data; basename $SHELL");
      assert.equal(stdout, `noise\ndata\n${shell}\n`);
    },
  });
}
