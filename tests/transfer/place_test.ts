import assert from "node:assert/strict";
import { Obstacle, PlacingFailed } from "../../lib/transfer/place.ts";
import { Refusal } from "../../lib/transfer/refusal.ts";
import { removeLeftovers } from "../../lib/transfer/staging.ts";
import { accept } from "./accepting.ts";
import { file, judgedArchives } from "./judged_archives.ts";
import { MemoryDisk, type Operation, systemError } from "./memory_disk.ts";
import { tar } from "./tar_builder.ts";

const archive = tar(
  file("figures/a.png", "new a".repeat(100)),
  file("config.yaml", "new config"),
  file("figures/b.png", "new b".repeat(100)),
  { name: "run.sh", body: "#!", mode: 0o4755 },
);

const placed = {
  "/runs/r/config.yaml": "new config",
  "/runs/r/figures/a.png": "new a".repeat(100),
  "/runs/r/figures/b.png": "new b".repeat(100),
  "/runs/r/run.sh": "#!",
};

/** Only files and links, which is what counts. */
function filesOf(disk: MemoryDisk): Record<string, string> {
  return Object.fromEntries(Object.entries(disk.tree()).filter(([, content]) => content !== "/"));
}

for (const memory of [300, 10_000_000]) {
  const how = memory === 300 ? "through files of the spool" : "through memory";

  Deno.test(`a new run is placed ${how}, with plain modes`, () => {
    const disk = new MemoryDisk();
    accept(disk, archive, { memory });
    assert.deepEqual(filesOf(disk), placed);
    assert.equal(disk.mode("/runs/r/run.sh"), 0o755);
    assert.equal(disk.mode("/runs/r/figures/a.png"), 0o644);
    assert.deepEqual(Object.keys(disk.tree()).filter((path) => path.includes("tias")), []);
  });

  Deno.test(`files of the same names are replaced and others stay, ${how}`, () => {
    const disk = new MemoryDisk();
    disk.plant("/runs/r/figures/a.png", { file: "old a" });
    disk.plant("/runs/r/figures/old.png", { file: "old" });
    disk.plant("/runs/other/config.yaml", { file: "other" });
    accept(disk, archive, { memory });
    assert.deepEqual(filesOf(disk), {
      ...placed,
      "/runs/r/figures/old.png": "old",
      "/runs/other/config.yaml": "other",
    });
  });

  Deno.test(`whatever fails at whatever moment leaves whole files and no staging folder, ${how}`, () => {
    const old = { "/runs/r/config.yaml": "old config", "/runs/r/figures/a.png": "old a" };
    const fresh = () => {
      const disk = new MemoryDisk({ before: (operation) => moment(operation) });
      for (const [path, content] of Object.entries(old)) disk.plant(path, { file: content });
      return disk;
    };
    let moment: (operation: Operation) => void = () => {};
    for (let failing = 1;; failing++) {
      let count = 0;
      moment = (operation) => {
        // Cleaning up is not made to fail here: what remains then is for the next pull.
        if (!operation.startsWith("remove") && ++count === failing) throw systemError("EIO");
      };
      const disk = fresh();
      try {
        accept(disk, archive, { memory });
        assert.ok(failing > 10);
        break;
      } catch (error) {
        assert.ok(error instanceof PlacingFailed || (error as { code?: string }).code === "EIO");
        for (const [path, content] of Object.entries(filesOf(disk))) {
          const allowed: Record<string, string[]> = {};
          for (const [name, text] of [...Object.entries(old), ...Object.entries(placed)]) {
            (allowed[name] ??= []).push(text);
          }
          assert.ok(allowed[path]?.includes(content), path);
        }
        if (!(error instanceof PlacingFailed && error.begun)) assert.deepEqual(filesOf(disk), old);
      }
    }
  });

  Deno.test(`a kill at whatever moment leaves no partial file, and the next pull cleans up, ${how}`, async () => {
    for (let moment = 1;; moment++) {
      let count = 0;
      let dead = false;
      const disk = new MemoryDisk({
        before() {
          // From then on nothing happens any more, not even cleaning up.
          if (++count >= moment) dead = true;
          if (dead) throw systemError("EIO");
        },
      });
      disk.plant("/runs/r/config.yaml", { file: "old config" });
      try {
        accept(disk, archive, { memory });
      } catch {
        dead = false;
        for (const [path, content] of Object.entries(filesOf(disk))) {
          if (!path.startsWith("/runs/r/")) continue;
          assert.ok(content === placed[path as keyof typeof placed] || content === "old config", path);
        }
        count = -Infinity;
        await removeLeftovers(disk, "/runs");
        assert.ok(Object.keys(disk.tree()).every((path) => !path.includes("tias")));
        accept(disk, archive, { memory });
        assert.deepEqual(filesOf(disk), placed);
        continue;
      }
      break;
    }
  });

  Deno.test(`a full disk changes nothing, ${how}`, () => {
    for (const capacity of [0, 50, 400, 900]) {
      const disk = new MemoryDisk({ capacity });
      disk.plant("/runs/r/config.yaml", { file: "" });
      assert.throws(() => accept(disk, archive, { memory }), { code: "ENOSPC" });
      assert.deepEqual(disk.tree(), { "/runs": "/", "/runs/r": "/", "/runs/r/config.yaml": "" });
    }
  });

  Deno.test(`a refused archive changes nothing, not even for a moment, ${how}`, () => {
    for (const [name, hostile, judgement] of judgedArchives) {
      if (judgement.startsWith("accepted")) continue;
      const touched: string[] = [];
      const disk = new MemoryDisk({ before: (operation, path) => void touched.push(`${operation} ${path}`) });
      assert.throws(() => accept(disk, hostile, { memory }), Refusal, name);
      assert.deepEqual(disk.tree(), {}, name);
      // A spool that is full writes into its own folder only.
      const outside = touched.filter((each) =>
        !/^\w+ \/runs(\/\.tias-remote-pull-[0-9a-f]{16}(\/(lock|tree(\/(?!.*\.\.).*)?))?)?$/.test(each)
      );
      assert.deepEqual(outside, [], name);
      if (memory > 300) assert.deepEqual(touched, [], name);
    }
  });
}

Deno.test.each<[string, (disk: MemoryDisk) => void, string]>([
  ["a link as the run's folder", (disk) => disk.plant("/runs/r", { link: "/etc" }), "link"],
  ["a link as a folder of the run", (disk) => disk.plant("/runs/r/figures", { link: "/etc" }), "link"],
  ["a link as a file", (disk) => disk.plant("/runs/r/config.yaml", { link: "/etc/passwd" }), "link"],
  ["a file as the run's folder", (disk) => disk.plant("/runs/r", { file: "x" }), "file"],
  ["a file as a folder of the run", (disk) => disk.plant("/runs/r/figures", { file: "x" }), "file"],
  ["a folder as a file", (disk) => disk.plant("/runs/r/config.yaml", "directory"), "directory"],
])("placeTree() places nothing with %s in the way", (_name, plant, kind) => {
  const disk = new MemoryDisk();
  disk.plant("/runs/r2", "directory");
  plant(disk);
  const before = disk.tree();
  assert.throws(() => accept(disk, archive), (error) => error instanceof Obstacle && error.kind === kind);
  assert.deepEqual(disk.tree(), before);
});

Deno.test("placeTree() never writes through a link that was planted while the archive was staged", () => {
  for (const target of ["/runs/r", "/runs/r/figures", "/runs/r/config.yaml", "/runs/r/figures/b.png"]) {
    for (let moment = 1; moment <= 30; moment++) {
      let count = 0;
      const disk = new MemoryDisk({
        before(operation, _path, disk) {
          // Not between the look and its rename: that moment cannot be closed without a call that Deno lacks.
          if (operation.startsWith("remove") || operation === "rename" || ++count !== moment) return;
          if (disk.kind(target) === "directory") disk.removeTree(target);
          disk.plant(target, { link: "/outside" });
        },
      });
      disk.plant("/runs/r/figures/a.png", { file: "old a" });
      try {
        accept(disk, archive);
      } catch (error) {
        // The disk itself complains of anything that goes through a link.
        assert.doesNotMatch(String((error as Error).cause ?? error), /written through/);
      }
      assert.ok(Object.keys(disk.tree()).every((path) => path.startsWith("/runs")));
    }
  }
});

Deno.test("on a file system that ignores case, a planted link of another case is in the way as well", () => {
  for (const path of ["/runs/r/FIGURES", "/runs/R", "/runs/r/Config.YAML"]) {
    const disk = new MemoryDisk({ ignoreCase: true });
    disk.plant(path, { link: "/etc" });
    const before = disk.tree();
    assert.throws(() => accept(disk, archive), Obstacle);
    assert.deepEqual(disk.tree(), before);
  }
});

Deno.test("on a file system that ignores case, names that meet are refused before anything is written", () => {
  const disk = new MemoryDisk({ ignoreCase: true });
  assert.throws(() => accept(disk, tar(file("figures/A.png"), file("figures/a.png"))), { rule: "collision" });
  assert.deepEqual(disk.tree(), {});
});

Deno.test("removeLeftovers() takes what killed pulls left and nothing else", async () => {
  const disk = new MemoryDisk();
  disk.plant("/runs/.tias-remote-pull-0123456789abcdef/lock", { file: "" });
  disk.plant("/runs/.tias-remote-pull-0123456789abcdef/0", { file: "half" });
  disk.plant("/runs/.tias-remote-pull-0000000000000000", "directory");
  disk.plant("/runs/.tias-remote-pull-1111111111111111", { link: "/elsewhere" });
  disk.plant("/runs/.tias-remote-pull-mine/keep", { file: "keep" });
  disk.plant("/runs/r/config.yaml", { file: "keep" });
  await removeLeftovers(disk, "/runs");
  assert.deepEqual(filesOf(disk), {
    "/runs/.tias-remote-pull-1111111111111111": "-> /elsewhere",
    "/runs/.tias-remote-pull-mine/keep": "keep",
    "/runs/r/config.yaml": "keep",
  });
  await removeLeftovers(disk, "/nowhere");
});
