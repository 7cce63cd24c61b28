import assert from "node:assert/strict";
import { join } from "node:path";
import { beginRun } from "../../lib/rent/begin.ts";
import { allLedgers, fileStore, loadLedger, runFolder, writeDurably } from "../../lib/rent/ledger_file.ts";
import { lockRun } from "../../lib/rent/lock.ts";
import { UserError } from "../../lib/system/errors.ts";
import { exampleRecipe } from "./recipe.ts";

async function inFolder(work: (root: string) => Promise<void>): Promise<void> {
  const root = await Deno.makeTempDir({ prefix: "ledger-" });
  try {
    await work(root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function example(log = "night") {
  const world = {
    clock: { now: () => new Date("2026-11-30T22:00:00Z"), sleep: () => Promise.resolve() },
    random: (length: number) => crypto.getRandomValues(new Uint8Array(length)),
  };
  return beginRun(world, await exampleRecipe(), log, { fallback: true });
}

Deno.test("fileStore() keeps a ledger that loadLedger() gives back whole", () =>
  inFolder(async (root) => {
    const ledger = await example();
    const folder = runFolder(root, "night");
    assert.equal(await loadLedger(folder), undefined);
    await fileStore(folder).save(ledger);
    assert.deepEqual(await loadLedger(folder), ledger);
    assert.deepEqual([...(await allLedgers(root)).keys()], ["night"]);
    const { mode } = await Deno.stat(join(folder, "lab_pod.json"));
    if (mode !== null && Deno.build.os !== "windows") assert.equal(mode & 0o077, 0);
  }));

Deno.test("writeDurably() leaves the old text when it cannot write the new one", () =>
  inFolder(async (root) => {
    const file = join(root, "x.json");
    await writeDurably(file, "old");
    // In the place of the part that is to become the file.
    await Deno.mkdir(`${file}.new`);
    await assert.rejects(writeDurably(file, "new"));
    assert.equal(await Deno.readTextFile(file), "old");
  }));

Deno.test("loadLedger() refuses a record that makes no sense instead of forgetting a Pod", () =>
  inFolder(async (root) => {
    const folder = runFolder(root, "night");
    const ledger = await example();
    for (const text of ["", "{", "[]", "{}", JSON.stringify({ ...ledger, pod: { id: "../x" } })]) {
      await writeDurably(join(folder, "lab_pod.json"), text);
      await assert.rejects(
        loadLedger(folder),
        (error) =>
          error instanceof UserError && error.text.id === "rent.ledger.broken" && error.hint !== undefined,
      );
    }
  }));

const clock = { now: () => new Date(), sleep: () => Promise.resolve() };

Deno.test("lockRun() lets one train of a run at a time, and the next one afterwards", () =>
  inFolder(async (root) => {
    {
      using _lock = await lockRun(clock, root, "night");
      await assert.rejects(lockRun(clock, root, "night"), UserError);
    }
    using _again = await lockRun(clock, root, "night");
  }));
