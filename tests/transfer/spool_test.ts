import assert from "node:assert/strict";
import { join } from "node:path";
import { realDisk } from "../../lib/transfer/disk.ts";
import { Spool } from "../../lib/transfer/spool.ts";
import type { Member } from "../../lib/transfer/tar_reader.ts";

const random = (length: number) => crypto.getRandomValues(new Uint8Array(length));
const curve: Member = { path: "figures/curve.png", size: 3, executable: false };
const script: Member = { path: "figures/deep/draw.png", size: 2, executable: true };

async function withSpool(test: (spool: Spool, runs: string) => void): Promise<void> {
  const folder = await Deno.makeTempDir();
  const runs = join(folder, "runs");
  await Deno.mkdir(runs);
  const spool = new Spool({ disk: realDisk, runs, random });
  try {
    test(spool, runs);
  } finally {
    spool.remove();
    assert.deepEqual(realDisk.list(runs), [], "nothing is left");
    await Deno.remove(folder, { recursive: true });
  }
}

function fill(spool: Spool): void {
  spool.member(curve);
  spool.body(Uint8Array.of(1));
  spool.body(Uint8Array.of(2, 3));
  spool.member(script);
  spool.body(Uint8Array.of(4, 5));
}

const modeOf = (path: string) => Deno.build.os === "windows" ? null : Deno.statSync(path).mode! & 0o777;

function assertStaged(tree: string): void {
  assert.deepEqual(Deno.readFileSync(join(tree, curve.path)), Uint8Array.of(1, 2, 3));
  assert.deepEqual(Deno.readFileSync(join(tree, script.path)), Uint8Array.of(4, 5));
  if (Deno.build.os === "windows") return;
  const umask = Deno.umask();
  assert.equal(modeOf(join(tree, curve.path)), 0o644 & ~umask);
  assert.equal(modeOf(join(tree, script.path)), 0o755 & ~umask);
}

Deno.test("Spool touches no disk with a small archive before it is accepted", () =>
  withSpool((spool, runs) => {
    fill(spool);
    assert.deepEqual(realDisk.list(runs), []);
    assertStaged(spool.stage());
  }));

Deno.test("Spool keeps a large archive in private files until it is accepted", () =>
  withSpool((spool, runs) => {
    spool.useFiles();
    fill(spool);
    const [staging = ""] = realDisk.list(runs);
    const early = join(runs, staging, "tree", curve.path);
    if (Deno.build.os !== "windows") {
      assert.equal(modeOf(join(runs, staging)), 0o700);
      assert.equal(modeOf(early), 0o600);
    }
    const tree = spool.stage();
    assert.equal(join(tree, curve.path), early);
    assertStaged(tree);
  }));

Deno.test("Spool writes a body of many pieces in whole blocks, and puts them together again", () =>
  withSpool((spool) => {
    const body = crypto.getRandomValues(new Uint8Array(60_000));
    const times = 5;
    spool.useFiles();
    spool.member({ path: "figures/large.png", size: body.length * times, executable: false });
    for (let time = 0; time < times; time++) spool.body(body);
    const written = Deno.readFileSync(join(spool.stage(), "figures/large.png"));
    assert.equal(written.length, body.length * times);
    for (let time = 0; time < times; time++) {
      assert.deepEqual(written.subarray(time * body.length, (time + 1) * body.length), body);
    }
  }));

Deno.test("Spool makes a folder even of an archive without files", () =>
  withSpool((spool) => assert.equal(realDisk.kind(spool.stage()), "directory")));

Deno.test("Spool takes no body that comes before its member", () =>
  withSpool((spool) => {
    assert.throws(() => spool.body(Uint8Array.of(1)), /before its member/);
    spool.useFiles();
    assert.throws(() => spool.body(Uint8Array.of(1)), /before its member/);
  }));
