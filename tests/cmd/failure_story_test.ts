import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { HIDING, needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";
import { tell } from "./story.ts";

const run = "run --name j --observe 0 --no-push -- sleep 30".split(" ");

Deno.test({
  ...needing(["ssh"], "an unknown and a changed host key are told apart, and neither is accepted"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project();
    const config = await Deno.readTextFile(lab.sshConfig);
    const known = /UserKnownHostsFile +"?([^"\n]+)"?/.exec(config)?.[1] ?? "";
    const keys = await Deno.readTextFile(known);

    await Deno.writeTextFile(known, "");
    const unknown = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.match(unknown.err, /Newton: unreachable: its host key is not known on this machine/);
    assert.match(unknown.err, /hint: Connect once by hand with ssh and compare the key/);

    const other = `${lab.root}/other`;
    await new Deno.Command("ssh-keygen", { args: ["-q", "-t", "ed25519", "-N", "", "-f", other] }).output();
    const [type, key] = (await Deno.readTextFile(`${other}.pub`)).split(" ");
    await Deno.writeTextFile(known, keys.replaceAll(/^(\S+) .*$/gm, `$1 ${type} ${key}`));
    const changed = await tell(lab, project, ["gpus", "--observe", "0"], { language: "ja" });
    assert.match(changed.err, /Newton: 接続不可：ホスト鍵が変わっています/);
    assert.match(changed.err, /ヒント: サーバが入れ直されたのかを管理者に確かめてください/);
  },
});

Deno.test({
  ...needing(["ssh"], "a user who does not exist, and ssh's own complaints, are told once with what to do"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }, { name: "Archimedes" }] });
    const project = await lab.project();
    const file = `${project}/configs/remote.yaml`;
    await Deno.writeTextFile(
      file,
      (await Deno.readTextFile(file)).replaceAll("user: hasegawa", "user: nobody_there"),
    );
    const stranger = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.equal(stranger.code, 1);
    assert.match(stranger.err, /Newton: unreachable: the login was refused \(permission denied\)/);

    await Deno.writeTextFile(lab.sshConfig, "Nonsense yes\n");
    const broken = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.match(broken.err, /Newton: unreachable: ssh refuses its configuration file on this machine/);
    assert.ok(!broken.err.includes("Archimedes:"), "one cause on this machine, told once");
  },
});

Deno.test({
  ...needing(
    ["ssh", HIDING],
    "a server without uv, or where nothing can be written, is told with one sentence",
  ),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton", scenario: quiet(1), uv: false }],
    });
    const project = await lab.project();
    const missing = await tell(lab, project, run);
    assert.equal(missing.code, 1);
    assert.match(
      missing.err,
      /error: There is no uv on Newton at \/.*\/\.local\/bin\/uv\nhint: Install uv there/,
    );

    const { home } = lab.server("Newton");
    await Deno.remove(`${home}/work`, { recursive: true });
    await Deno.mkdir(`${home}/work`);
    await Deno.writeTextFile(`${home}/work/TIASJudgeModel`, "a file in the way");
    const unwritable = await tell(lab, project, run, { language: "ja" });
    assert.equal(unwritable.code, 1);
    assert.match(unwritable.err, /エラー: Newton に書き込めません：mkdir: .*\nヒント: remote_dir/);
  },
});

Deno.test.each([
  ["duplicate session: j", /tmux on Newton could not start j: duplicate session: j/],
  ["protocol version mismatch (client 8, server 7)", /could not start j: protocol version mismatch/],
  ["server exited unexpectedly", /could not start j: server exited unexpectedly/],
  ["open terminal failed: not a terminal", /could not start j: open terminal failed: not a terminal/],
])("run does not take a tmux that says `%s` for a start, nor starts twice", async (words, told) => {
  if (needing(["ssh"], "").ignore) return;
  await using lab = await startLaboratory({
    servers: [{
      name: "Newton",
      programs: { tmux: `#!/bin/sh\necho x >>~/tried\necho '${words}' >&2\nexit 1\n` },
    }],
  });
  const project = await lab.project();
  const outcome = await tell(lab, project, run);
  assert.equal(outcome.code, 1);
  assert.match(outcome.err, told);
  assert.equal(await Deno.readTextFile(`${lab.server("Newton").home}/tried`), "x\n");
  assert.match((await tell(lab, project, ["status", "--observe", "0"])).out, /^No job is running/);
});

Deno.test({
  ...needing(["ssh"], "Ctrl-C ends an observation at once, quietly, with exit code 130"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project();
    const stopped = await tell(lab, project, ["gpus", "--observe", "60"], {
      onText: (_text, child) => child.kill("SIGINT"),
    });
    assert.equal(stopped.code, 130);
    assert.match(stopped.err, /\nInterrupted\n$/);
    assert.equal(stopped.out, "");
  },
});
