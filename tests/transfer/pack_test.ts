import assert from "node:assert/strict";
import { UserError } from "../../lib/system/errors.ts";
import { packProject, type PushArchive } from "../../lib/transfer/pack.ts";
import { type PushEntry, selectForPush } from "../../lib/transfer/selection.ts";
import { runShell, temporaryFolder } from "../shell.ts";
import { spoken } from "../spoken.ts";
import { bytesOf, type Content, folderWith, listTree } from "./project_folder.ts";

const rules = { max_file_mib: 50, data_suffixes: [".dcm"], exclude: [] };
const token = "0123456789abcdef".repeat(2);
const now = new Date("2026-01-02T03:04:05Z");
const unixOnly = { ignore: Deno.build.os === "windows" };

async function pack(
  contents: Readonly<Record<string, Content>>,
): Promise<{ bytes: Uint8Array; archive: PushArchive }> {
  await using folder = await folderWith(contents);
  const { entries } = await selectForPush(folder.path, rules);
  const archive = packProject(entries, token, now);
  return { bytes: await bytesOf(archive), archive };
}

/** Mode and name of every member as the system's tar lists them. */
async function listed(bytes: Uint8Array): Promise<string[]> {
  const { code, stdout, stderr } = await runShell("LC_ALL=C tar -tvf -", { stdin: bytes });
  assert.equal(code, 0, stderr);
  return stdout.split("\n").filter((line) => line !== "").map((line) => {
    const [mode, , , , , ...name] = line.split(/ +/);
    return `${mode} ${name.join(" ")}`;
  });
}

const mixed: Record<string, Content> = {
  "run.sh": { text: "#!/bin/sh\n", mode: 0o777 },
  "train.py": { text: "import torch\n", mode: 0o600 },
  "src/empty.py": { text: "", mode: 0o664 },
  "src/deep/x y.txt": "blank\n",
  "latest": { link: "src/deep" },
};

Deno.test(
  "packProject() writes what the system's tar lists: plain modes, folders, links, and the seal last",
  unixOnly,
  async () => {
    const { bytes, archive } = await pack(mixed);
    assert.deepEqual(await listed(bytes), [
      "lrwxrwxrwx latest -> src/deep",
      "-rwxr-xr-x run.sh",
      "drwxr-xr-x src/",
      "drwxr-xr-x src/deep/",
      "-rw-r--r-- src/deep/x y.txt",
      "-rw-r--r-- src/empty.py",
      "-rw-r--r-- train.py",
      `-rw------- ${archive.seal}`,
    ]);
    assert.equal(archive.seal, `.tias-remote-seal-${token}`);
    assert.equal(archive.bytes, "#!/bin/sh\nimport torch\nblank\n".length);
  },
);

Deno.test("packProject() writes what the system's tar unpacks, byte by byte", unixOnly, async () => {
  const long = `${"長い名前の".repeat(12)}/${"フォルダの中の".repeat(10)}/${"ファイル".repeat(15)}.py`;
  const { bytes, archive } = await pack({
    ...mixed,
    [long]: "日本語\n",
    "binary.bin": { text: Uint8Array.from({ length: 70_000 }, (_, at) => at % 251), mode: 0o644 },
    "big/exact.bin": { text: new Uint8Array(512 * 8).fill(7), mode: 0o644 },
    [`${"a".repeat(100)}`]: "hundred",
    [`${"b".repeat(99)}/${"c".repeat(155)}`]: "prefix",
  });
  await using folder = await temporaryFolder();
  const { code, stderr } = await runShell("tar -xf -", { stdin: bytes, cwd: folder.path });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  const tree = await listTree(folder.path);
  assert.ok(tree.includes(`${long}: 日本語\n`));
  assert.ok(tree.includes(`${"a".repeat(100)}: hundred`));
  assert.ok(tree.includes(`${"b".repeat(99)}/${"c".repeat(155)}: prefix`));
  assert.ok(tree.includes(`${archive.seal}: `));
  const unpacked = await Deno.readFile(`${folder.path}/binary.bin`);
  assert.deepEqual(unpacked, Uint8Array.from({ length: 70_000 }, (_, at) => at % 251));
});

Deno.test("packProject() says nothing about the person who packs", unixOnly, async () => {
  const { bytes } = await pack(mixed);
  const text = new TextDecoder("latin1").decode(bytes);
  const { stdout } = await runShell("id -un; id -gn; hostname; pwd");
  for (const word of stdout.split("\n").filter((word) => word.length > 3)) {
    assert.equal(text.includes(word), false, word);
  }
});

Deno.test("packProject() of nothing is a seal alone", async () => {
  const { bytes, archive } = await pack({});
  assert.equal(archive.bytes, 0);
  assert.deepEqual(await listed(bytes), [`-rw------- ${archive.seal}`]);
});

/** What an archive's stream fails with when a file is not what was selected. */
async function failure(change: (file: string) => Promise<void>): Promise<unknown> {
  await using folder = await folderWith({ "a.py": "aaaa", "b.py": "bbbb" });
  const { entries } = await selectForPush(folder.path, rules);
  await change(`${folder.path}/b.py`);
  try {
    await bytesOf(packProject(entries, token, now));
  } catch (fault) {
    return fault;
  }
  throw new Error("The archive was whole");
}

Deno.test.each([
  ["grown", (file: string) => Deno.writeTextFile(file, "bbbbb")],
  ["shrunk", (file: string) => Deno.writeTextFile(file, "b")],
  ["gone", (file: string) => Deno.remove(file)],
])("packProject() fails with a sentence when a file has %s since it was selected", async (_what, change) => {
  assert.deepEqual(await spoken(await failure(change)), {
    en:
      "error: b.py changed or became unreadable while it was being sent; nothing was replaced on the server\n" +
      "hint: Try again when nothing writes to it\n",
    ja: "エラー: 送信中に b.py が変わったか読めなくなりました。サーバ側は何も置き換えていません\n" +
      "ヒント: 書き込みが終わってからもう一度実行してください\n",
    exit: 1,
  });
});

Deno.test.each([
  ["grows", (file: string) => Deno.writeFile(file, new Uint8Array(1024), { append: true })],
  ["shrinks", (file: string) => Deno.truncate(file, 1024)],
])(
  "packProject() fails when a file %s while it is sent, and never writes the seal",
  async (_what, change) => {
    await using folder = await folderWith({
      "a.bin": { text: new Uint8Array(8 * 1024 * 1024), mode: 0o644 },
    });
    const { entries } = await selectForPush(folder.path, rules);
    const { stream, seal } = packProject(entries, token, now);
    const reader = stream.getReader();
    let text = "";
    let changed = false;
    await assert.rejects(async () => {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        text = (text + new TextDecoder("latin1").decode(value)).slice(-4096);
        if (!changed) await change(`${folder.path}/a.bin`);
        changed = true;
      }
    }, UserError);
    assert.equal(text.includes(seal), false);
  },
);

Deno.test("packProject() never writes the seal behind a file that failed", async () => {
  await using folder = await folderWith({ "a.py": "aaaa" });
  const { entries } = await selectForPush(folder.path, rules);
  const stale: PushEntry[] = entries.map((entry) => ({ ...entry, size: 99 }));
  const { stream, seal } = packProject(stale, token, now);
  let text = "";
  await assert.rejects(async () => {
    for await (const chunk of stream) text += new TextDecoder("latin1").decode(chunk);
  }, UserError);
  assert.equal(text.includes(seal), false);
});

Deno.test("packProject() closes its files when nobody reads on", async () => {
  await using folder = await folderWith({
    "a.bin": { text: new Uint8Array(4 * 1024 * 1024), mode: 0o644 },
    "b.py": "b",
  });
  const { entries } = await selectForPush(folder.path, rules);
  const reader = packProject(entries, token, now).stream.getReader();
  await reader.read();
  await reader.cancel();
  // The sanitizer of resources sees to the rest.
  assert.equal((await reader.read()).done, true);
});
