import assert from "node:assert/strict";
import { join } from "node:path";
import { pullShape } from "../../lib/cli/pull_json.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { startOpenSshLaboratory } from "../lab/openssh.ts";
import { needing } from "../lab/requirements.ts";
import type { Laboratory } from "../lab/types.ts";
import { file } from "../transfer/judged_archives.ts";
import { tar } from "../transfer/tar_builder.ts";
import { tell, verbArguments } from "./story.ts";

/** Puts files into a run on a server. */
async function fill(
  lab: Laboratory,
  server: string,
  run: string,
  files: Record<string, string>,
): Promise<string> {
  const folder = join(lab.server(server).home, "work/TIASJudgeModel/runs", run);
  for (const [name, content] of Object.entries(files)) {
    await Deno.mkdir(join(folder, name, ".."), { recursive: true });
    await Deno.writeTextFile(join(folder, name), content);
  }
  return folder;
}

const results = {
  "figures/a.png": "png",
  "figures/sub/b.png": "deeper",
  "config.yaml": "x: 1\n",
  "checkpoints/last.pt": "weights",
  "Yamada-Taro.dcm": "patient",
};

/** Path → content below a folder; directories and links are told as such. */
async function tree(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  const visit = async (path: string) => {
    for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(folder, path))) {
      const inner = join(path, name);
      if (isDirectory) await visit(inner);
      else found[inner] = isSymlink ? "->" : await Deno.readTextFile(join(folder, inner));
    }
  };
  await visit("").catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  return found;
}

Deno.test({
  ...needing(
    ["ssh"],
    "pull finds the run's server, brings what is on the whitelist, and tells how much stayed",
  ),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton" }, { name: "Archimedes" }, { name: "Dead", behaviour: { dead: true } }],
    });
    const project = await lab.project();
    const runs = join(project, "runs");
    await fill(lab, "Archimedes", "exp-1", results);

    const dry = await tell(lab, project, ["pull", "exp-1", "--dry-run", "--server", "Archimedes"]);
    assert.equal(dry.code, 0, dry.err);
    assert.match(
      dry.out,
      /^2 file\(s\) \(8 B\) of exp-1 would come from Archimedes into .*runs\/exp-1\nWould be left behind on Archimedes: 3\n$/,
    );
    assert.equal(dry.connections, 1);
    assert.deepEqual(await tree(runs), {});

    const found = await tell(lab, project, ["pull", "exp-1"]);
    assert.equal(found.code, 0, found.err);
    assert.equal(found.connections, 3, "one for each server that answers, and one for the pull");
    assert.match(
      found.out,
      /^2 file\(s\) \(8 B\) of exp-1 came from Archimedes and are in .*\nLeft behind on Archimedes: 3\n$/,
    );
    assert.match(found.err, /warning: Dead could not be searched: unreachable/);
    assert.deepEqual(await tree(runs), { "exp-1/figures/a.png": "png", "exp-1/config.yaml": "x: 1\n" });

    const named = ["pull", "exp-1", "--server", "Archimedes", "--with-checkpoints", "--json"];
    const more = await tell(lab, project, named, { language: "ja" });
    assert.equal(more.connections, 1);
    const json = pullShape.parse(JSON.parse(more.out));
    assert.deepEqual([json.files, json.left_behind, json.dry_run], [3, 2, false]);
    assert.equal((await tree(runs))["exp-1/checkpoints/last.pt"], "weights");
    for (const { out, err } of [dry, found, more]) assert.doesNotMatch(out + err, /Yamada|sub\/b|last\.pt/);
  },
});

Deno.test({
  ...needing(["ssh"], "pull asks for --server when several have the run, and says when none has it"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }, { name: "Archimedes" }] });
    const project = await lab.project();
    for (const server of ["Newton", "Archimedes"]) await fill(lab, server, "exp-1", results);
    await fill(lab, "Newton", "empty", { "notes.txt": "" });
    const logs = await fill(lab, "Newton", "_remote_logs", { "j.log": "log" });

    const several = await tell(lab, project, ["pull", "exp-1"], { language: "ja" });
    assert.equal(several.code, 2);
    assert.match(
      several.err,
      /エラー: 実験 exp-1 が複数のサーバにあります：Newton, Archimedes\nヒント: --server/,
    );
    const none = await tell(lab, project, ["pull", "exp-2"]);
    assert.equal(none.code, 1);
    assert.match(none.err, /error: No server has the run exp-2\nhint: /);
    const nothing = await tell(lab, project, ["pull", "empty"]);
    assert.equal(nothing.code, 1);
    assert.match(
      nothing.err,
      /error: The run empty on Newton has no file that may come; left behind: 1/,
    );
    for (const id of ["_remote_logs", "../exp-1", "a/b", "", " exp-1"]) {
      const refused = await tell(lab, project, ["pull", id]);
      assert.equal(refused.code, 2, id);
      assert.equal(refused.connections, 0, id);
      assert.match(refused.err, /^error: A run cannot be called that: /);
    }
    assert.deepEqual(await tree(join(project, "runs")), {});
    assert.ok(await Deno.stat(logs));
    for (const server of lab.servers) await server.stop();
    const unreachable = await tell(lab, project, ["pull", "exp-1", "--server", "Newton"]);
    assert.equal(unreachable.code, 1);
    assert.match(unreachable.err, /error: Cannot pull from Newton: unreachable: the connection was refused/);
  },
});

Deno.test({
  ...needing(["ssh"], "pull refuses what a hostile tar on the server sends, and never shows a member's name"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Newton", programs: { tar: "#!/bin/sh\nexec cat ~/hostile.tar\n" } }],
    });
    const project = await lab.project();
    await fill(lab, "Newton", "exp-1", { "config.yaml": "x" });
    const pull = async (archive: Uint8Array, ...flags: string[]) => {
      await Deno.writeFile(join(lab.server("Newton").home, "hostile.tar"), archive);
      return await tell(lab, project, ["pull", "exp-1", "--server", "Newton", ...flags]);
    };
    const escape = await pull(tar(file("../../Yamada.png")));
    assert.equal(escape.code, 1);
    assert.match(
      escape.err,
      /error: What Newton sent was refused, so nothing was placed; files here are as they were: a name has the segment `\.\.`\n/,
    );
    const foreign = await pull(tar(file("config.yaml"), file("patients/Yamada.dcm")), "--verbose");
    assert.match(foreign.err, /a file is not on the whitelist\n {2}name, masked: \*{8}\/\*{6}\.dcm\nhint: /);
    const link = await pull(tar({ name: "config.yaml", type: "2", link: "/etc/passwd" }), "--lang", "ja");
    assert.match(link.err, /シンボリックリンクがあります\nヒント: /);
    assert.deepEqual(await tree(join(project, "runs")), {});
    for (const { out, err } of [escape, foreign, link]) {
      assert.doesNotMatch(err, /Yamada/);
      assert.equal(out, "");
    }
  },
});

Deno.test({
  ...needing(["ssh"], "pull that is cut, interrupted or blocked leaves everything here as it was"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project({ config: { pull: { whitelist: ["*.bin", "config.yaml"] } } });
    const runs = join(project, "runs");
    const folder = await fill(lab, "Newton", "exp-1", { "config.yaml": "new" });
    await Deno.writeFile(join(folder, "large.bin"), new Uint8Array(30_000_000));
    await Deno.mkdir(join(runs, "exp-1"), { recursive: true });
    await Deno.writeTextFile(join(runs, "exp-1/config.yaml"), "old");
    const old = { "exp-1/config.yaml": "old" };
    const pull = ["pull", "exp-1", "--server", "Newton"];
    const newton = lab.server("Newton");

    for (const bytes of [300, 200_000, 20_000_000]) {
      await newton.setBehaviour({ dropAfter: { bytes } });
      const cut = await tell(lab, project, pull);
      assert.equal(cut.code, 1);
      assert.match(
        cut.err,
        /error: (The connection to Newton ended before everything had come|Cannot pull from)/,
      );
      assert.deepEqual(await tree(runs), old);
    }
    await newton.setBehaviour({});

    const stopped = await tell(lab, project, pull, {
      onText: (text, child) => void (text.includes("Pulling exp-1") && child.kill("SIGINT")),
    });
    assert.equal(stopped.code, 130, stopped.err);
    assert.deepEqual(await tree(runs), old);

    await Deno.remove(runs, { recursive: true });
    await Deno.mkdir(runs);
    await Deno.symlink("/etc", join(runs, "exp-1"));
    const link = await tell(lab, project, pull);
    assert.match(
      link.err,
      /error: A link is in the way inside runs\/exp-1; nothing is written through links/,
    );
    assert.deepEqual(await tree(runs), { "exp-1": "->" });
  },
});

Deno.test({
  ...needing(
    ["ssh"],
    "pull that is killed at random instants leaves whole files only, and the next one cleans up",
  ),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }] });
    const whole = "w".repeat(1_000_000);
    const project = await lab.project({ config: { pull: { whitelist: ["*.bin"] } } });
    const runs = join(project, "runs");
    // More than is held in memory, so that the spool's files are there to be left behind.
    const files = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`${index}.bin`, whole]));
    await fill(lab, "Newton", "exp-1", files);
    await Deno.mkdir(join(runs, "exp-1"), { recursive: true });
    await Deno.writeTextFile(join(runs, "exp-1/0.bin"), "old");

    const args = [...verbArguments("pull", project, lab.ssh), "exp-1", "--server", "Newton"];
    let left = 0;
    for (let round = 0; round < 8; round++) {
      const child = new Deno.Command(Deno.execPath(), {
        args,
        cwd: project,
        env: { NO_COLOR: "1", ...(lab.ssh === "ssh" ? {} : { TIAS_REMOTE_SSH: lab.ssh }) },
        stdin: "null",
        stdout: "null",
        stderr: "null",
      }).spawn();
      const timer = setTimeout(() => child.kill("SIGKILL"), 400 + Math.random() * 2000);
      await child.status;
      clearTimeout(timer);
      for await (const { name } of Deno.readDir(runs)) if (name !== "exp-1") left++;
      for (const [path, content] of Object.entries(await tree(join(runs, "exp-1")))) {
        assert.ok(content === whole || (path === "0.bin" && content === "old"), path);
      }
    }
    const last = await tell(lab, project, ["pull", "exp-1", "--server", "Newton"]);
    assert.equal(last.code, 0, last.err);
    assert.deepEqual(
      await tree(runs),
      Object.fromEntries(Object.keys(files).map((name) => [`exp-1/${name}`, whole])),
    );
    assert.deepEqual(
      Array.from(Deno.readDirSync(runs), ({ name }) => name),
      ["exp-1"],
      `${left} folders were left before`,
    );
  },
});

Deno.test({
  ...needing(
    ["ssh", "sshd"],
    "pull brings 10,000 small files and a checkpoint of 2 GiB from a real OpenSSH server",
  ),
  async fn() {
    await using lab = await startOpenSshLaboratory({ servers: [{ name: "Newton" }] });
    const project = await lab.project();
    const folder = await fill(lab, "Newton", "many", { "figures/0.png": "0" });
    for (let index = 1; index < 10_000; index++) {
      await Deno.writeTextFile(join(folder, `figures/${index}.png`), String(index));
    }
    const many = await tell(lab, project, ["pull", "many", "--server", "Newton"]);
    assert.equal(many.code, 0, many.err);
    assert.match(many.out, /^10000 file\(s\)/);
    assert.equal(await Deno.readTextFile(join(project, "runs/many/figures/9999.png")), "9999");

    // Holes take no space there; they are sent as what they read as.
    const large = await fill(lab, "Newton", "large", { "checkpoints/last.pt": "begin" });
    const size = 2 * 2 ** 30;
    await Deno.truncate(join(large, "checkpoints/last.pt"), size);
    const one = await tell(lab, project, ["pull", "large", "--server", "Newton", "--with-checkpoints"]);
    assert.equal(one.code, 0, one.err);
    assert.match(one.out, /^1 file\(s\) \(2\.0 GiB\)/);
    assert.equal((await Deno.stat(join(project, "runs/large/checkpoints/last.pt"))).size, size);
  },
});
