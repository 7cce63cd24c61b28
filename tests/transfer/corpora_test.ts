/** Public archives, hostile and odd, where a copy of them lies beside the project; the test passes without. */

import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { Refusal } from "../../lib/transfer/refusal.ts";
import { accept } from "./accepting.ts";
import { judgedArchives } from "./judged_archives.ts";
import { MemoryDisk } from "./memory_disk.ts";
import { hasProgram, readWithGnuTar, readWithPython, witnessed } from "./other_readers.ts";
import { read } from "./reading.ts";
import { concat, entry, longName, pax, tar } from "./tar_builder.ts";

const shared = new URL("../../../shared/", import.meta.url);

interface Known {
  readonly name: string;
  readonly archive: Uint8Array;
}

async function corpora(): Promise<Known[]> {
  const found: Known[] = [];
  const folder = new URL("corpora/tar/", shared);
  if (!await exists(folder)) return [];
  for await (const corpus of Deno.readDir(folder)) {
    const inside = new URL(`${corpus.name}/`, folder);
    for await (const { name } of Deno.readDir(inside)) {
      found.push({ name: `${corpus.name}/${name}`, archive: await Deno.readFile(new URL(name, inside)) });
    }
  }
  return found;
}

async function cases(): Promise<Known[]> {
  const file = new URL("cases/cases.jsonl", shared);
  if (!await exists(file)) return [];
  const lines = (await Deno.readTextFile(file)).split("\n").filter((line) => line !== "");
  return lines.map((line) => JSON.parse(line) as { id: string; input: string }).flatMap(({ id, input }) => {
    const packed = /^GZB64 (\S+)/m.exec(input)?.[1];
    if (packed === undefined) return [];
    const bytes = Uint8Array.from(atob(packed), (character) => character.charCodeAt(0));
    return [{ name: id, archive: new Uint8Array(gunzipSync(bytes)) }];
  });
}

async function exists(url: URL): Promise<boolean> {
  try {
    await Deno.stat(url);
    return true;
  } catch {
    return false;
  }
}

Deno.test("every public archive is accepted whole or changes nothing", async (t) => {
  const known = [...await corpora(), ...await cases()];
  for (const { name, archive } of known) {
    await t.step(name, () => {
      const disk = new MemoryDisk();
      try {
        accept(disk, archive);
      } catch (error) {
        assert.ok(error instanceof Refusal, String(error));
        assert.deepEqual(disk.tree(), {});
        return;
      }
      const reading = read(archive);
      assert.ok("files" in reading);
      for (const { path, size } of reading.files) assert.equal(disk.content(`/runs/r/${path}`).length, size);
    });
  }
});

// What our own script makes a server's tar write, and what others write.
const sound: Known[] = [
  {
    name: "long names",
    archive: tar(longName(`d/${"n".repeat(150)}`), { name: "cut", body: "1", format: "gnu" }),
  },
  { name: "Japanese names", archive: tar({ name: "図/表.png", body: "x".repeat(1500), format: "gnu" }) },
  {
    name: "pax names",
    archive: tar(pax([["path", `${"長".repeat(60)}/b`], ["mtime", "1.5"]]), { name: "c", body: "2" }),
  },
  { name: "a record filled up", archive: concat(tar({ name: "a", body: "3" }), new Uint8Array(8192)) },
  { name: "nothing in a file", archive: tar({ name: "a" }, { name: "b", body: "" }) },
  {
    name: "the run itself",
    archive: concat(entry({ name: "./", type: "5" }), tar({ name: "./a", body: "4" })),
  },
];

Deno.test("GNU tar and Python find in every accepted archive what was found", async (t) => {
  const judged = judgedArchives.map(([name, archive]) => ({ name, archive }));
  const all = [...sound, ...judged, ...await corpora(), ...await cases()];
  const accepted = all.flatMap(({ name, archive }) => {
    const reading = read(archive);
    return "files" in reading ? [{ name, archive, files: witnessed(reading.files) }] : [];
  });
  assert.ok(accepted.length > sound.length);
  await t.step({
    name: "GNU tar",
    ignore: !await hasProgram("tar"),
    async fn() {
      for (const { name, archive, files } of accepted) {
        // An archive without entries is one to tar as well, but it complains of names that no file system has.
        assert.deepEqual(await readWithGnuTar(archive), files, name);
      }
    },
  });
  await t.step({
    name: "Python",
    ignore: !await hasProgram("python3"),
    async fn() {
      const lists = await readWithPython(accepted.map(({ archive }) => archive));
      for (const [index, { name, files }] of accepted.entries()) assert.deepEqual(lists[index], files, name);
    },
  });
});
