import assert from "node:assert/strict";
import { join } from "node:path";
import { realDisk } from "../../lib/transfer/disk.ts";
import { removeLeftovers, Staging } from "../../lib/transfer/staging.ts";

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));

async function withRuns(test: (runs: string) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await test(join(folder, "runs"));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("Staging makes a folder for its owner alone, and leaves nothing, not even runs/", () =>
  withRuns(async (runs) => {
    const staging = new Staging(realDisk, runs, random);
    const [name = ""] = realDisk.list(runs);
    assert.match(name, /^\.tias-remote-pull-[0-9a-f]{16}$/);
    if (Deno.build.os !== "windows") {
      assert.equal((await Deno.stat(join(runs, name))).mode! & 0o777, 0o700);
      assert.equal(staging.umask & ~0o077, 0);
    }
    staging.remove();
    assert.equal(realDisk.kind(runs), undefined);
  }));

Deno.test("Staging leaves a runs/ that was there, and what is in it", () =>
  withRuns(async (runs) => {
    await Deno.mkdir(join(runs, "r"), { recursive: true });
    new Staging(realDisk, runs, random).remove();
    assert.deepEqual(realDisk.list(runs), ["r"]);
  }));

Deno.test("removeLeftovers() waits for a pull that is alive, and takes what a dead one left", () =>
  withRuns(async (runs) => {
    const staging = new Staging(realDisk, runs, random);
    const dead = join(runs, ".tias-remote-pull-0000000000000000");
    await Deno.mkdir(dead);
    await Deno.writeTextFile(join(dead, "lock"), "");
    await Deno.writeTextFile(join(dead, "0"), "half");
    let over = false;
    const cleaning = removeLeftovers(realDisk, runs).then(() => over = true);
    // Long enough to be over, if it did not wait.
    await new Promise((resolve) => setTimeout(resolve, 100));
    assert.equal(over, false);
    await Deno.writeTextFile(staging.tree, "still mine");
    staging.remove();
    await cleaning;
    assert.equal(realDisk.kind(dead), undefined);
  }));

Deno.test({
  name: "realDisk tells a link from what it leads to",
  // Making a link takes a privilege there.
  ignore: Deno.build.os === "windows",
  fn: () =>
    withRuns(async (runs) => {
      await Deno.mkdir(join(runs, "folder"), { recursive: true });
      await Deno.writeTextFile(join(runs, "file"), "");
      await Deno.symlink(join(runs, "folder"), join(runs, "link"), { type: "dir" });
      await Deno.symlink(join(runs, "nowhere"), join(runs, "dangling"), { type: "file" });
      const kinds = ["folder", "file", "link", "dangling", "none"].map((name) =>
        realDisk.kind(join(runs, name))
      );
      assert.deepEqual(kinds, ["directory", "file", "link", "link", undefined]);
      assert.throws(() => realDisk.create(join(runs, "dangling"), 0o600), Deno.errors.AlreadyExists);
    }),
});
