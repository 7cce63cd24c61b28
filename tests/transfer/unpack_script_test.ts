/** The server's side of a push, in real shells: whole, cut anywhere, on a full disk, without tar. */

import assert from "node:assert/strict";
import { shellAssignments } from "../../lib/ssh/quote.ts";
import { packProject } from "../../lib/transfer/pack.ts";
import { pushFault } from "../../lib/transfer/push.ts";
import { selectForPush } from "../../lib/transfer/selection.ts";
import { unpackShell } from "../../lib/transfer/unpack_script.ts";
import { runShell, shells, temporaryFolder, writePrograms } from "../shell.ts";
import { bytesOf, type Content, folderWith, listTree } from "./project_folder.ts";

const unixOnly = { ignore: Deno.build.os === "windows" };
const token = "0123456789abcdef".repeat(2);
const seal = `.tias-remote-seal-${token}`;

async function archiveOf(contents: Readonly<Record<string, Content>>): Promise<Uint8Array> {
  await using folder = await folderWith(contents);
  const { entries } = await selectForPush(folder.path, { max_file_mib: 50, data_suffixes: [], exclude: [] });
  return await bytesOf(packProject(entries, token, new Date("2026-01-02T03:04:05Z")));
}

/** Unpacks over `remoteDir` and tells how it ended. */
async function unpack(
  remoteDir: string,
  archive: Uint8Array,
  { shell = ["sh"], path = Deno.env.get("PATH") ?? "" }: { shell?: readonly string[]; path?: string } = {},
) {
  const { stdout } = await runShell(
    `${shellAssignments({ remote_dir: remoteDir, seal })}${unpackShell}unpack 2>&1; printf '\\nstatus=%s' $?`,
    { shell, stdin: archive, env: { PATH: path } },
  );
  const [, said = "", status = ""] = /^([\s\S]*)\nstatus=(\d+)$/.exec(stdout) ?? [];
  return { status: Number(status), said };
}

const code: Record<string, Content> = {
  "train.py": "new\n",
  "src/model.py": "new model\n",
  "src/deep/ 前の 空白/x.py": "x\n",
  "-n": "a name like a flag\n",
  "src/-rf": "another\n",
  "run.sh": { text: "#!/bin/sh\necho ran\n", mode: 0o755 },
  "latest": { link: "src/deep" },
  "empty": null,
};
const unpacked = [
  "-n: a name like a flag\n",
  "empty/",
  "latest -> src/deep",
  "run.sh: #!/bin/sh\necho ran\n",
  "src/",
  "src/-rf: another\n",
  "src/deep/",
  "src/deep/ 前の 空白/",
  "src/deep/ 前の 空白/x.py: x\n",
  "src/model.py: new model\n",
  "train.py: new\n",
];

for (const shell of shells) {
  Deno.test(`unpack() puts every file in its place in ${shell.join(" ")}`, unixOnly, async () => {
    await using server = await temporaryFolder();
    const remote = `${server.path}/work dir/プロジェクト`;
    assert.deepEqual(await unpack(remote, await archiveOf(code), { shell }), { status: 0, said: "" });
    assert.deepEqual(await listTree(remote), unpacked);
    const { stdout } = await runShell(`"${remote}/run.sh"`);
    assert.equal(stdout, "ran\n");
  });
}

Deno.test(
  "unpack() replaces what is there, a second time as well, and leaves everything else alone",
  unixOnly,
  async () => {
    await using server = await folderWith({
      "train.py": "old\n",
      "src/model.py": "old\n",
      "src/extra.py": "the server's own\n",
      "data/scan.dcm": "data\n",
      "runs/exp1/metrics.json": "{}\n",
      "latest": { link: "src" },
    });
    const archive = await archiveOf(code);
    for (let turn = 0; turn < 2; turn++) {
      assert.deepEqual(await unpack(server.path, archive), { status: 0, said: "" });
      assert.deepEqual(
        await listTree(server.path),
        [
          ...unpacked,
          "data/",
          "data/scan.dcm: data\n",
          "runs/",
          "runs/exp1/",
          "runs/exp1/metrics.json: {}\n",
          "src/extra.py: the server's own\n",
        ].sort(),
      );
    }
  },
);

Deno.test(
  "unpack() replaces nothing, and leaves nothing, when the stream is cut anywhere",
  unixOnly,
  async () => {
    const archive = await archiveOf({ "a.py": "new\n", "src/b.py": "new\n".repeat(300), "z.py": "new\n" });
    const old = ["a.py: old\n", "src/", "src/b.py: old\n"];
    await using server = await folderWith({ "a.py": "old\n", "src/b.py": "old\n" });
    // The seal's header is the last block but two; behind it tar has everything that it needs.
    const sealAt = archive.length - 3 * 512;
    const ends = [
      0,
      1,
      511,
      512,
      513,
      600,
      1024,
      1536,
      2048,
      2500,
      3072,
      sealAt - 1,
      sealAt,
      sealAt + 1,
      sealAt + 511,
    ];
    for (const end of ends.filter((end) => end < sealAt + 512)) {
      const { status, said } = await unpack(server.path, archive.subarray(0, end));
      assert.ok(status === 3 || status === 4, `cut at ${end}: status ${status}`);
      assert.equal(pushFault(status, said).kind, "stream", `cut at ${end}: ${said}`);
      assert.deepEqual(await listTree(server.path), old, `cut at ${end}`);
    }
  },
);

Deno.test("unpack() replaces nothing when the disk is full while it unpacks", unixOnly, async () => {
  await using server = await folderWith({ "project/train.py": "old\n" });
  await writePrograms(`${server.path}/bin`, {
    tar: `head -c 100 >/dev/null
case $LC_ALL in C) echo 'tar: train.py: Cannot write: No space left on device' ;; *) echo 'tar: 書き込めません' ;; esac >&2
exit 2`,
  });
  const { status, said } = await unpack(`${server.path}/project`, await archiveOf(code), {
    path: `${server.path}/bin:${Deno.env.get("PATH")}`,
  });
  assert.deepEqual(pushFault(status, said), {
    kind: "disk_full",
    detail: "tar: train.py: Cannot write: No space left on device",
  });
  assert.deepEqual(await listTree(`${server.path}/project`), ["train.py: old\n"]);
});

Deno.test(
  "unpack() tells that it cannot move a file to its place, and leaves no file half written",
  unixOnly,
  async () => {
    await using server = await folderWith({ "project/train.py": "old\n" });
    await writePrograms(`${server.path}/bin`, {
      mv: "echo \"mv: cannot move '$2': Permission denied\" >&2; exit 1",
    });
    const { status, said } = await unpack(
      `${server.path}/project`,
      await archiveOf({ "train.py": "new\n" }),
      {
        path: `${server.path}/bin:${Deno.env.get("PATH")}`,
      },
    );
    assert.equal(status, 3);
    assert.equal(pushFault(status, said).kind, "unwritable");
    assert.deepEqual(await listTree(`${server.path}/project`), ["train.py: old\n"]);
  },
);

for (const shell of shells) {
  Deno.test(
    `unpack() leaves nothing behind when its client was killed, in ${shell.join(" ")}`,
    unixOnly,
    async () => {
      await using server = await temporaryFolder();
      const archive = await archiveOf(code);
      const script = `${
        shellAssignments({ remote_dir: server.path, seal })
      }${unpackShell}sleep 1; unpack 2>&1; echo told`;
      await runShell('"$@" | :', {
        args: ["sh", ...shell, "-c", script],
        stdin: archive.subarray(0, archive.length / 2),
      });
      assert.deepEqual(await listTree(server.path), []);
    },
  );
}

Deno.test("unpack() tells that there is no tar", unixOnly, async () => {
  await using server = await temporaryFolder();
  const bin = `${server.path}/bin`;
  await Deno.mkdir(bin);
  const { stdout } = await runShell("command -v sh cat mkdir find");
  for (const program of stdout.trim().split("\n")) {
    await Deno.symlink(program, `${bin}/${program.split("/").at(-1)}`);
  }
  const sh = stdout.trim().split("\n")[0] ?? "sh";
  const { status, said } = await unpack(`${server.path}/project`, await archiveOf(code), {
    shell: [sh],
    path: bin,
  });
  assert.deepEqual({ status, said }, { status: 127, said: "tar: not found\n" });
  assert.equal(pushFault(status, said).kind, "no_tar");
});

Deno.test.each([
  ["where a file stands in place of the folder", { "project": "a file\n" }, "project"],
  ["where a file stands in place of a folder inside", { "project/src": "a file\n" }, "project"],
  ["where a folder stands in place of a file", { "project/train.py/x": "x\n" }, "project"],
])("unpack() tells that it cannot write %s", unixOnly, async (_what, contents, remote) => {
  await using server = await folderWith(contents as Record<string, Content>);
  const { status, said } = await unpack(`${server.path}/${remote}`, await archiveOf(code));
  const fault = pushFault(status, said);
  assert.equal(fault.kind, "unwritable");
  assert.notEqual(fault.kind === "unwritable" && fault.detail, "");
  const left = await listTree(server.path);
  assert.deepEqual(left.filter((line) => line.includes(".tias-remote-incoming")), []);
});

Deno.test(
  "unpack() clears away what a push left that died long ago, and nothing younger",
  unixOnly,
  async () => {
    await using server = await folderWith({
      ".tias-remote-incoming.old": null,
      ".tias-remote-incoming.new": null,
      "src/.tias-remote-incoming.deep": null,
    });
    const longAgo = new Date(Date.now() - 3 * 3600 * 1000);
    await Deno.utime(`${server.path}/.tias-remote-incoming.old`, longAgo, longAgo);
    await Deno.utime(`${server.path}/src/.tias-remote-incoming.deep`, longAgo, longAgo);
    await unpack(server.path, await archiveOf({ "a.py": "a\n" }));
    assert.deepEqual(await listTree(server.path), [
      ".tias-remote-incoming.new/",
      "a.py: a\n",
      "src/",
      "src/.tias-remote-incoming.deep/",
    ]);
  },
);

Deno.test("pushFault() quotes what went wrong, not that tar gives up", () => {
  const said =
    "tar: a.py: Cannot open: Permission denied\ntar: Exiting with failure status due to previous errors\n";
  assert.deepEqual(pushFault(3, said), {
    kind: "unwritable",
    detail: "tar: a.py: Cannot open: Permission denied",
  });
});

Deno.test.each([
  [3, "mkdir: x: Permission denied\n", "unwritable"],
  [3, "mkdir: x: No space left on device\n", "disk_full"],
  [2, "tar: write error: Disk quota exceeded\n", "disk_full"],
  [127, "tar: not found\n", "no_tar"],
  [4, "", "stream"],
  [2, "tar: Unexpected EOF in archive\n", "stream"],
  [null, "", "stream"],
])("pushFault() of status %s and %j is %s", (status, text, kind) => {
  assert.equal(pushFault(status, text).kind, kind);
});
