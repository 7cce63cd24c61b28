import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import type { LaboratoryServer } from "../lab/types.ts";
import { tell } from "./story.ts";

async function files(server: LaboratoryServer): Promise<string[]> {
  const found: string[] = [];
  const visit = async (folder: string, prefix: string) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) await visit(`${folder}/${name}`, `${prefix}${name}/`);
      else found.push(prefix + name);
    }
  };
  await visit(`${server.home}/work/TIASJudgeModel`, "").catch(() => {});
  return found.sort();
}

Deno.test({
  ...needing(["ssh"], "push sends the code to every server that can be reached, and never data/ or runs/"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton" }, { name: "Archimedes" }, { name: "Dead", behaviour: { dead: true } }],
    });
    const project = await lab.project();
    for (const folder of [".git", "src/__pycache__", "src/data", "data", "runs/x", ".venv/bin"]) {
      await Deno.mkdir(`${project}/${folder}`, { recursive: true });
      await Deno.writeTextFile(`${project}/${folder}/file.py`, "x\n");
    }
    await Deno.writeTextFile(`${project}/-rf`, "leading dash\n");
    const push = await tell(lab, project, ["push"]);
    assert.equal(push.code, 0);
    assert.equal(push.connections, 2, "the dead one refuses");
    assert.match(push.out, /^Newton: 3 file\(s\) \(\d.*\) are in ~\/work\/TIASJudgeModel$/m);
    assert.match(push.err, /^warning: Dead: unreachable: /m);
    for (const server of lab.servers.slice(0, 2)) {
      assert.deepEqual(await files(server), ["-rf", "configs/remote.yaml", "src/data/file.py"]);
    }
    const dry = await tell(lab, project, ["push", "--dry-run"], { language: "ja" });
    assert.equal(dry.out, "-rf\nconfigs/remote.yaml\nsrc/data/file.py\n");
    assert.equal(dry.connections, 0);
    const only = await tell(lab, project, ["push", "--server", "Dead"]);
    assert.equal(only.code, 1);
    assert.match(only.err, /error: Dead: unreachable: the connection was refused/);
    const nobody = await tell(lab, project, ["push", "--server", "newton"]);
    assert.equal(nobody.code, 2);
    assert.match(
      nobody.err,
      /error: There is no server `newton` in the configuration; there are: Newton, Archimedes, Dead\n/,
    );
  },
});

Deno.test({
  ...needing(["ssh"], "push stops with a list when data would slip out with the code"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project({ config: { push: { max_file_mib: 1 } } });
    await Deno.mkdir(`${project}/src/data`, { recursive: true });
    await Deno.writeTextFile(`${project}/src/data/Scan.NII.gz`, "x");
    await Deno.writeTextFile(`${project}/notes.DCM`, "x");
    await Deno.symlink("/etc/passwd", `${project}/link`);
    await Deno.symlink("src/data", `${project}/inside`);
    await Deno.writeFile(`${project}/model.bin`, new Uint8Array(1024 * 1024 + 1));
    for (const command of [["push"], ["run", "--name", "j", "--", "x"]]) {
      const refused = await tell(lab, project, command);
      assert.equal(refused.code, 1);
      assert.equal(refused.connections, 0);
      assert.match(refused.err, /error: 4 file\(s\) must not leave this machine; nothing was sent\n/);
      assert.match(refused.err, /^ {2}link: a link that leads out of the project$/m);
      assert.match(refused.err, /^ {2}model\.bin: larger than 1 MiB$/m);
      assert.match(refused.err, /^ {2}notes\.DCM: has the ending of a data format$/m);
      assert.match(refused.err, /^ {2}src\/data\/Scan\.NII\.gz: has the ending of a data format$/m);
    }
    assert.deepEqual(await files(lab.server("Newton")), []);
  },
});

Deno.test({
  ...needing(["ssh"], "push leaves every file as it was when the connection breaks or the disk is full"),
  async fn() {
    const fullTar =
      "#!/bin/sh\ncat >/dev/null\necho 'tar: big: Wrote only 512 of 10240 bytes: No space left on device' >&2\nexit 2\n";
    await using lab = await startLaboratory({
      servers: [{ name: "Newton" }, { name: "Full", programs: { tar: fullTar } }],
    });
    const newton = lab.server("Newton");
    const project = await lab.project();
    await Deno.writeTextFile(`${project}/old.py`, "old\n");
    assert.equal((await tell(lab, project, ["push", "--server", "Newton"])).code, 0);
    const before = await files(newton);

    await Deno.writeTextFile(`${project}/old.py`, "new\n");
    await Deno.writeFile(`${project}/big.bin`, crypto.getRandomValues(new Uint8Array(60_000)));
    await newton.setBehaviour({ dropAfter: { bytes: 30_000, stream: "stdin" } });
    const cut = await tell(lab, project, ["push", "--server", "Newton"]);
    assert.equal(cut.code, 1);
    assert.match(
      cut.err,
      /Newton: (the connection broke while sending|not all of it arrived); no file there was replaced/,
    );
    assert.deepEqual(await files(newton), before);
    assert.equal(await Deno.readTextFile(`${newton.home}/work/TIASJudgeModel/old.py`), "old\n");

    const full = await tell(lab, project, ["push", "--server", "Full"], { language: "ja" });
    assert.equal(full.code, 1);
    assert.match(full.err, /警告: Full：ディスクがいっぱいです。サーバ側のファイルは置き換わっていません\n/);

    await newton.setBehaviour({});
    assert.equal((await tell(lab, project, ["push", "--server", "Newton"])).code, 0);
    assert.equal(await Deno.readTextFile(`${newton.home}/work/TIASJudgeModel/old.py`), "new\n");
  },
});

Deno.test({
  ...needing(["ssh"], "push stops at Ctrl-C and blames no server"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton", behaviour: { silent: true } }, {
        name: "Archimedes",
        behaviour: { silent: true },
      }],
    });
    const project = await lab.project();
    let stopped = false;
    const push = await tell(lab, project, ["push"], {
      onText(text, child) {
        if (stopped || !text.includes("Sending")) return;
        stopped = true;
        child.kill("SIGINT");
      },
    });
    assert.equal(push.code, 130);
    assert.match(push.err, /^Sending .* to Newton, Archimedes\nInterrupted\n$/);
  },
});
