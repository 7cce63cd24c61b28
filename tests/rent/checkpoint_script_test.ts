import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { listScript, readListing, sendFileScript } from "../../lib/rent/checkpoint_script.ts";
import { needing } from "../lab/requirements.ts";
import { nonce, outputOf, transcriptOf } from "./remote.ts";

async function makeCheckpoint(files: Readonly<Record<string, string>>): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "checkpoint-" });
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  return root;
}

function expected(path: string, text: string) {
  const bytes = new TextEncoder().encode(text);
  return {
    path,
    size: bytes.length,
    sha256: createHash("sha256").update(bytes).digest("hex"),
    gitSha1: createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex"),
  };
}

const files = {
  "_CHECKPOINT_METADATA": "{}",
  "params/manifest.ocdbt": "m",
  'params/d/it\'s a 日本 "file"': "x".repeat(100_000),
  "params/empty": "",
  ".hidden/a": "h",
};

for (const shell of ["sh", "dash", "bash"]) {
  Deno.test({
    ...needing(
      [shell, "sha256sum", "sha1sum"],
      `listScript() lists names, sizes and both hashes under ${shell}`,
    ),
    async fn() {
      const plain = Object.fromEntries(
        Object.entries(files).map(([path, text]) => [path.replaceAll('"', ""), text]),
      );
      const root = await makeCheckpoint({ ...plain, "train_state/d/1": "big", "wandb_id.txt": "w" });
      try {
        const listing = readListing(
          await transcriptOf(listScript(root, ["train_state", "wandb_id.txt"]), { shell }),
        );
        assert(listing.ok);
        const order = (a: { path: string }, b: { path: string }) => a.path < b.path ? -1 : 1;
        assert.deepEqual(
          [...listing.files].sort(order),
          Object.entries(plain).map(([path, text]) => expected(path, text)).sort(order),
        );
      } finally {
        await Deno.remove(root, { recursive: true });
      }
    },
  });
}

Deno.test.each(
  [
    ["a link", (root: string) => Deno.symlink("/etc/hostname", join(root, "params/l")), "type", "params/l"],
    [
      "a name with a line feed",
      (root: string) => Deno.writeTextFile(join(root, "a\nfile 1 2 3 b"), ""),
      "name",
      "",
    ],
    [
      "a name that Windows cannot hold",
      (root: string) => Deno.writeTextFile(join(root, "a:b"), ""),
      "name",
      "a:b",
    ],
    [
      "two names that differ in case",
      (root: string) => Deno.writeTextFile(join(root, "params/EMPTY"), ""),
      "name",
      "",
    ],
  ] as const,
)("listScript() refuses a checkpoint with %s", async (_what, spoil, problem, path) => {
  const root = await makeCheckpoint({ "params/empty": "" });
  try {
    await spoil(root);
    const listing = readListing(await transcriptOf(listScript(root, [])));
    assert(!listing.ok);
    assert.equal(listing.problem, problem);
    if (path !== "") assert.equal(listing.path, path);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("listScript() tells a missing folder from an empty one", async () => {
  const root = await makeCheckpoint({ "train_state/x": "1" });
  try {
    const problem = async (path: string) => {
      const listing = readListing(await transcriptOf(listScript(path, ["train_state"])));
      return listing.ok ? "ok" : listing.problem;
    };
    assert.equal(await problem(join(root, "none")), "missing");
    assert.equal(await problem(root), "empty");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("readListing() takes nothing from an answer that was cut off or makes no sense", () => {
  const line = `file 1 ${"a".repeat(64)} ${"b".repeat(40)} ./x\n`;
  const reading = (text: string, complete = true, status: number | null = 0) =>
    readListing({ sections: [{ name: "files", text, status }], complete, terminalForced: false });
  assert.equal(reading(line).ok, true);
  assert.deepEqual(reading(line, false), { ok: false, problem: "not_understood", path: "" });
  assert.deepEqual(reading(line, true, 1), { ok: false, problem: "unreadable", path: "" });
  assert.deepEqual(reading(line + "file 1 2 3 ./y\n"), { ok: false, problem: "not_understood", path: "" });
  assert.deepEqual(reading(line.replace("./x", "./../x")), { ok: false, problem: "name", path: "../x" });
  assert.deepEqual(reading("problem no_hash\n"), { ok: false, problem: "no_hash", path: "" });
  assert.deepEqual(reading("problem sudden ./x\n"), { ok: false, problem: "not_understood", path: "x" });
  fc.assert(fc.property(fc.string(), fc.boolean(), (text, complete) => void reading(text, complete)));
});

Deno.test("sendFileScript() sends a file's bytes from an offset on, announced to the byte", async () => {
  const root = await makeCheckpoint({ "log": "abc\ndef\n@@x done\n" });
  try {
    const text = new TextDecoder().decode(await outputOf(sendFileScript(join(root, "log"), 4)));
    const head = `\n@@${nonce} section job\nfound=1\nsize=17\n\n@@${nonce} end job 0\n`;
    assert.equal(text, `${head}\n@@${nonce} data 4 13\ndef\n@@x done\n\n@@${nonce} done\n`);
    const missing = new TextDecoder().decode(await outputOf(sendFileScript(join(root, "none"), 0)));
    assert.match(missing, /found=0/);
    assert.match(missing, /done\n$/);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
