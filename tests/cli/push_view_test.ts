import assert from "node:assert/strict";
import { listForPush, pushFaultMessage, withProgress } from "../../lib/cli/push_view.ts";
import type { Project } from "../../lib/config/project.ts";
import type { PushFailure } from "../../lib/transfer/push.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, server } from "../gpu/reports.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { BufferOutput, testContext } from "../test_context.ts";
import { type Content, folderWith } from "../transfer/project_folder.ts";
import { onUnix } from "../shell.ts";

const en = textsIn("en");

function projectAt(root: string): Project {
  const config = configOf([server("Newton")]);
  return {
    root,
    configFile: `${root}/configs/remote.yaml`,
    config: { ...config, push: { ...config.push, max_file_mib: 1 } },
  };
}

async function refusalOf(contents: Readonly<Record<string, Content>>) {
  await using folder = await folderWith(contents);
  return await spoken(await userErrorOf(() => listForPush(en, projectAt(folder.path))));
}

Deno.test("listForPush() counts files and links, and their bytes", onUnix, async () => {
  await using folder = await folderWith({
    "a.py": "x".repeat(1536),
    "src/b.py": "",
    "latest": { link: "src" },
  });
  const { entries, files, size } = await listForPush(en, projectAt(folder.path));
  assert.equal(entries.length, 4);
  assert.equal(files, 3);
  assert.equal(size, "1.5 KiB");
});

Deno.test(
  "listForPush() names everything that must stay, and why",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const { en: text, exit } = await refusalOf({
      "scan.dcm": "x",
      "big.bin": { text: new Uint8Array(1024 * 1024 + 1), mode: 0o644 },
      "out": { link: "/etc/passwd" },
      "a\u001b[2J.py": "x",
    });
    assert.equal(
      text,
      "error: 4 file(s) must not leave this machine; nothing was sent\n" +
        "  a\\x1b[2J.py: has a control character in its name\n" +
        "  big.bin: larger than 1 MiB\n" +
        "  out: a link that leads out of the project\n" +
        "  scan.dcm: has the ending of a data format\n" +
        "hint: Move data out of the project or below data/, leave folders out with push.exclude, or change push.max_file_mib or push.data_suffixes\n",
    );
    assert.equal(exit, 1);
  },
);

Deno.test("listForPush() shows twenty of many, and tells how many more there are", async () => {
  const names = Array.from({ length: 23 }, (_, at) => `${String(at).padStart(2, "0")}.dcm`);
  const { en: text } = await refusalOf(Object.fromEntries(names.map((name) => [name, "x"])));
  assert.ok(text.startsWith("error: 23 file(s) must not leave this machine"));
  assert.equal(text.match(/\.dcm: /g)?.length, 20);
  assert.ok(text.includes("\n  and 3 more\n"));
});

Deno.test("listForPush() refuses an empty project", async () => {
  await using folder = await folderWith({ "data/x": "x" });
  assert.deepEqual(await spoken(await userErrorOf(() => listForPush(en, projectAt(folder.path)))), {
    en: `error: There is nothing to send in ${folder.path}\nhint: Is it the right project?\n`,
    ja: `エラー: ${folder.path} に送るものがありません\nヒント: プロジェクトが正しいか確かめてください\n`,
    exit: 2,
  });
});

const refused = { kind: "refused", detail: "" } as const;

Deno.test.each([
  [{ kind: "unreachable", failure: refused }, "Newton: unreachable: the connection was refused"],
  [
    { kind: "cut", failure: { kind: "cut", detail: "" } },
    "Newton: the connection broke while sending; no file there was replaced: the connection broke in the middle",
  ],
  [{ kind: "disk_full", detail: "x" }, "Newton: its disk is full; no file there was replaced"],
  [{ kind: "no_tar", detail: "x" }, "Newton: there is no tar"],
  [{ kind: "stream", detail: "x" }, "Newton: not all of it arrived; no file there was replaced"],
  [{ kind: "unwritable", detail: "mkdir: x" }, "Newton: cannot write there: mkdir: x"],
] as [PushFailure, string][])("pushFaultMessage() of %o", (fault, expected) => {
  assert.equal(en.sentence(pushFaultMessage(en, "Newton", fault)), expected);
});

/** Three chunks of together four bytes, on their way. */
async function send(err: BufferOutput, bytes = 4) {
  const world = testContext({ err });
  const stream = ReadableStream.from([Uint8Array.of(1), Uint8Array.of(2, 3), Uint8Array.of(4)]);
  const shown = withProgress(world, en, "Newton", { stream, seal: "s", bytes });
  const chunks = await Array.fromAsync(shown.stream);
  return { chunks: chunks.map((chunk) => [...chunk]), shown };
}

Deno.test("withProgress() changes no byte, counts on a terminal and leaves no trace", async () => {
  const err = new BufferOutput({ isTerminal: true });
  const { chunks, shown } = await send(err);
  assert.deepEqual(chunks, [[1], [2, 3], [4]]);
  assert.equal(shown.seal, "s");
  const clear = "\r\u001b[K";
  assert.equal(err.text, `${clear}Newton 25%${clear}Newton 75%${clear}Newton 100%${clear}`);
});

Deno.test("withProgress() says nothing where there is no terminal, and never more than 100 %", async () => {
  const plain = new BufferOutput();
  assert.deepEqual((await send(plain)).chunks, [[1], [2, 3], [4]]);
  assert.equal(plain.text, "");
  const headers = new BufferOutput({ isTerminal: true });
  await send(headers, 2);
  assert.ok(headers.text.endsWith("Newton 100%\r\u001b[K"));
});
