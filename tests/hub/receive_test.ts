import assert from "node:assert/strict";
import { join } from "node:path";
import { type CheckpointDisk, realCheckpointDisk } from "../../lib/hub/disk.ts";
import { hubFetch } from "../../lib/hub/http.ts";
import {
  receiveCheckpoint,
  type ReceiveOutcome,
  type ReceivePlan,
  type ReceiveWorld,
} from "../../lib/hub/receive.ts";
import { hubSource } from "../../lib/hub/source.ts";
import type { CheckpointFile } from "../../lib/hub/types.ts";
import { FakeHub, type HubFault } from "../lab/fake_hub.ts";
import { blobId, sha256 } from "../lab/fake_hub_state.ts";

const repo = "hasegawa/checkpoints";
const content: Readonly<Record<string, string>> = {
  "_CHECKPOINT_METADATA": "{}",
  "params/manifest.ocdbt": "m".repeat(20),
  "params/d/one": "1".repeat(50_000) + "end",
  "params/d/日本 #2?%41": "2".repeat(3000),
  "params/empty": "",
};

/** A checkpoint on the Hub, and a disk at home. A minute lasts a few milliseconds. */
class Bench implements AsyncDisposable {
  readonly hub = new FakeHub();
  readonly home: string;
  readonly files: readonly CheckpointFile[];
  readonly interrupted = new AbortController();

  private constructor(home: string) {
    this.home = home;
    const there = this.hub.repo(repo);
    this.files = Object.entries(content).map(([path, text]) => {
      there.put(`run1/1499/${path}`, text, text.length >= 1000);
      const bytes = new TextEncoder().encode(text);
      return { path, size: bytes.length, sha256: sha256(bytes), gitSha1: blobId(bytes) };
    });
  }

  static async make(): Promise<Bench> {
    return new Bench(await Deno.makeTempDir({ prefix: "home-" }));
  }

  get world(): ReceiveWorld {
    return { clock: quickClock, disk: realCheckpointDisk, signal: this.interrupted.signal };
  }

  receive(world: Partial<ReceiveWorld> = {}, plan: Partial<ReceivePlan> = {}): Promise<ReceiveOutcome> {
    const access = { endpoint: this.hub.url, token: this.hub.token };
    const reading = hubFetch({ fetch, clock: quickClock }, access, { tries: 2, headSeconds: 60 });
    const source = hubSource(access, reading, { repo, folder: "run1/1499" }, this.hub.repo(repo).head.oid);
    return receiveCheckpoint({ ...this.world, ...world }, source, {
      files: this.files,
      localDir: this.home,
      name: "1499",
      incoming: ".incoming_1499_ab12cd34",
      ...plan,
    });
  }

  async entries(): Promise<string[]> {
    return (await Array.fromAsync(Deno.readDir(this.home), ({ name }) => name)).sort();
  }

  async assertWhole(folder: string): Promise<void> {
    for (const [path, text] of Object.entries(content)) {
      assert.equal(await Deno.readTextFile(join(this.home, folder, path)), text);
    }
  }

  async [Symbol.asyncDispose]() {
    await this.hub[Symbol.asyncDispose]();
    await Deno.remove(this.home, { recursive: true });
  }
}

const quickClock = {
  now: () => new Date(),
  sleep: (milliseconds: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted) return resolve();
      const timer = setTimeout(done, milliseconds / 1000);
      function done() {
        clearTimeout(timer);
        signal?.removeEventListener("abort", done);
        resolve();
      }
      signal?.addEventListener("abort", done, { once: true });
    }),
};

function failed(outcome: ReceiveOutcome): string {
  return outcome.kind === "failed" ? outcome.why : outcome.kind;
}

Deno.test("receiveCheckpoint() brings everything home, verified, under its name, without a trace", async () => {
  await using bench = await Bench.make();
  const seen: [number, number][] = [];
  const outcome = await bench.receive({ onProgress: (done, total) => void seen.push([done, total]) });
  assert.deepEqual(outcome, { kind: "placed", folder: join(bench.home, "1499") });
  assert.deepEqual(await bench.entries(), ["1499"]);
  await bench.assertWhole("1499");
  const total = bench.files.reduce((sum, { size }) => sum + size, 0);
  assert.deepEqual(seen.at(-1), [total, total]);
});

Deno.test("receiveCheckpoint() never shows the token to the other origin", async () => {
  await using bench = await Bench.make();
  await bench.receive();
  const there = bench.hub.requests.filter(({ origin }) => origin === "cdn");
  assert(there.length > 0);
  assert(there.every(({ authorization }) => authorization === null));
});

Deno.test.each<[string, HubFault]>([
  ["a body that breaks", { path: /object/, method: "GET", times: 4, cutAfter: 20_000 }],
  ["a body that stands still", { path: /object/, method: "GET", times: 3, stallAfter: 20_000 }],
  ["a server that ignores Range", { path: /object/, method: "GET", ignoreRange: true, times: 9 }],
  ["server errors", { path: /resolve/, times: 3, answer: { status: 503 } }],
  ["a limited rate", { path: /resolve/, times: 1, answer: { status: 429, headers: { "retry-after": "2" } } }],
  ["a page of a proxy", { path: /object/, times: 2, answer: { status: 502, body: "<html>" } }],
  ["altered bytes, once", { path: /object/, method: "GET", times: 2, corrupt: true }],
])("receiveCheckpoint() gets over %s", async (_what, fault) => {
  await using bench = await Bench.make();
  bench.hub.fault(fault);
  assert.equal((await bench.receive()).kind, "placed");
  await bench.assertWhole("1499");
});

Deno.test("receiveCheckpoint() goes on where an earlier try ended, and does not fetch again what is whole", async () => {
  await using bench = await Bench.make();
  const incoming = join(bench.home, ".incoming_1499_ab12cd34");
  await Deno.mkdir(join(incoming, "params/d"), { recursive: true });
  await Deno.writeTextFile(join(incoming, "_CHECKPOINT_METADATA"), "{}");
  await Deno.writeTextFile(join(incoming, "params/d/one"), "1".repeat(40_000));
  assert.equal((await bench.receive()).kind, "placed");
  await bench.assertWhole("1499");
  assert.equal(bench.hub.count("GET", /resolve.*_CHECKPOINT_METADATA/), 0);
  assert(bench.hub.requests.some(({ origin, range }) => origin === "cdn" && range === "bytes=40000-"));
});

Deno.test("receiveCheckpoint() does not build upon a beginning that is wrong or too long", async () => {
  for (const start of ["x".repeat(40_000), "1".repeat(60_000), "x".repeat(50_003)]) {
    await using bench = await Bench.make();
    const incoming = join(bench.home, ".incoming_1499_ab12cd34");
    await Deno.mkdir(join(incoming, "params/d"), { recursive: true });
    await Deno.writeTextFile(join(incoming, "params/d/one"), start);
    assert.equal((await bench.receive()).kind, "placed");
    await bench.assertWhole("1499");
  }
});

Deno.test("receiveCheckpoint() only compares a folder that is there, without a request or a change", async () => {
  await using bench = await Bench.make();
  await bench.receive();
  const before = bench.hub.requests.length;
  // What macOS leaves behind is of no one's checkpoint.
  await Deno.writeTextFile(join(bench.home, "1499/.DS_Store"), "x");
  await Deno.writeTextFile(join(bench.home, "1499/params/._empty"), "x");
  assert.deepEqual(await bench.receive(), { kind: "already_there", folder: join(bench.home, "1499") });
  assert.equal(bench.hub.requests.length, before);
  assert.deepEqual(await bench.entries(), ["1499"]);
});

Deno.test("receiveCheckpoint() never touches a folder that differs, and keeps the checkpoint beside it", async () => {
  await using bench = await Bench.make();
  const mine = join(bench.home, "1499");
  await Deno.mkdir(join(mine, "params"), { recursive: true });
  await Deno.writeTextFile(join(mine, "params/empty"), "mine");
  await Deno.writeTextFile(join(mine, "notes.txt"), "mine");
  const outcome = await bench.receive();
  assert(outcome.kind === "beside");
  assert.deepEqual(outcome.differences.different, ["params/empty"]);
  assert.deepEqual(outcome.differences.extra, ["notes.txt"]);
  assert.equal(outcome.differences.missing.length, 4);
  assert.deepEqual(
    await Array.fromAsync(Deno.readDir(mine), ({ name }) => name).then((names) => names.sort()),
    [
      "notes.txt",
      "params",
    ],
  );
  await bench.assertWhole(".incoming_1499_ab12cd34");
});

Deno.test("receiveCheckpoint() takes a file or a link under the name for something that differs", async () => {
  await using bench = await Bench.make();
  const target = await Deno.makeTempDir();
  try {
    await Deno.symlink(target, join(bench.home, "1499"));
    assert.equal((await bench.receive()).kind, "beside");
    assert.deepEqual(await Array.fromAsync(Deno.readDir(target)), []);
  } finally {
    await Deno.remove(target, { recursive: true });
  }
});

Deno.test("receiveCheckpoint() follows no link in the way", async () => {
  await using bench = await Bench.make();
  const target = await Deno.makeTempDir();
  try {
    const incoming = join(bench.home, ".incoming_1499_ab12cd34");
    await Deno.symlink(target, incoming);
    assert.equal(failed(await bench.receive()), "unexpected");
    await Deno.remove(incoming);
    await Deno.mkdir(incoming);
    await Deno.symlink(target, join(incoming, "params"));
    assert.equal(failed(await bench.receive()), "disk");
    assert.deepEqual(await Array.fromAsync(Deno.readDir(target)), []);
  } finally {
    await Deno.remove(target, { recursive: true });
  }
});

Deno.test("receiveCheckpoint() makes no local folder: its disk may not be plugged in", async () => {
  await using bench = await Bench.make();
  const localDir = join(bench.home, "not-plugged-in");
  assert.deepEqual(await bench.receive({}, { localDir }), {
    kind: "failed",
    why: "no_folder",
    path: localDir,
    detail: "",
  });
  assert.deepEqual(await bench.entries(), []);
});

Deno.test("receiveCheckpoint() gives a file up that comes wrong twice, and places nothing", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /object/, method: "GET", corrupt: true });
  assert.equal(failed(await bench.receive()), "corrupt");
  assert.deepEqual(await bench.entries(), [".incoming_1499_ab12cd34"]);
});

Deno.test("receiveCheckpoint() tells other content on the Hub from a broken way", async () => {
  await using bench = await Bench.make();
  bench.hub.repo(repo).put("run1/1499/_CHECKPOINT_METADATA", "{ }");
  assert.equal(failed(await bench.receive()), "other_content");
});

Deno.test("receiveCheckpoint() gives up when nothing more comes, and says why; what has come stays", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /object/, method: "GET", times: 2, cutAfter: 20_000 });
  bench.hub.fault({ path: /object/, method: "GET", answer: { status: 503 } });
  const outcome = await bench.receive();
  assert(outcome.kind === "failed" && outcome.why === "unreachable");
  assert.equal(outcome.path, "params/d/one");
  assert.match(outcome.detail, /503/);
  assert(!outcome.detail.includes(bench.hub.token));
  const kept = join(bench.home, ".incoming_1499_ab12cd34/params/d/one");
  assert.equal((await Deno.stat(kept)).size, 20_000);
});

Deno.test("receiveCheckpoint() stops at an interruption, and goes on the next time", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /object/, method: "GET", stallAfter: 20_000 });
  const receiving = bench.receive({
    clock: { ...quickClock, sleep: (_, signal) => quickClock.sleep(10_000_000, signal) },
    onProgress: (done) => done >= 20_000 && bench.interrupted.abort(),
  });
  assert.equal(failed(await receiving), "interrupted");
  assert.deepEqual(await bench.entries(), [".incoming_1499_ab12cd34"]);
});

Deno.test.each<[string, Partial<CheckpointDisk>]>([
  ["is full", {
    openAt: () =>
      Promise.resolve({
        write: () => Promise.reject(new Error("No space left on device (os error 28)")),
        sync: () => Promise.resolve(),
        close: () => {},
      }),
  }],
  ["cannot be written", { makeDirectory: () => Promise.reject(new Deno.errors.PermissionDenied("no")) }],
  ["fails at the last moment", { rename: () => Promise.reject(new Error("Input/output error")) }],
])("receiveCheckpoint() on a disk that %s says so and places nothing", async (_what, fault) => {
  await using bench = await Bench.make();
  const disk = Object.assign(Object.create(realCheckpointDisk), fault);
  assert.equal(failed(await bench.receive({ disk })), "disk");
  assert(!(await bench.entries()).includes("1499"));
});

Deno.test("receiveCheckpoint() finds out when the disk keeps other bytes than were written", async () => {
  await using bench = await Bench.make();
  const disk: CheckpointDisk = Object.assign(Object.create(realCheckpointDisk), {
    async *read(path: string) {
      for await (const chunk of realCheckpointDisk.read(path)) yield chunk.fill(0, 0, 1);
    },
  });
  assert.equal(failed(await bench.receive({ disk })), "corrupt");
});

Deno.test("receiveCheckpoint() does not replace a folder that appears while it receives", async () => {
  await using bench = await Bench.make();
  const outcome = await bench.receive({
    onProgress: () => {
      Deno.mkdirSync(join(bench.home, "1499"), { recursive: true });
      Deno.writeTextFileSync(join(bench.home, "1499/mine"), "mine");
    },
  });
  assert.equal(outcome.kind, "beside");
  assert.deepEqual(await Array.fromAsync(Deno.readDir(join(bench.home, "1499")), ({ name }) => name), [
    "mine",
  ]);
});

Deno.test("receiveCheckpoint() will not place a folder with something else in it", async () => {
  await using bench = await Bench.make();
  const incoming = join(bench.home, ".incoming_1499_ab12cd34");
  await Deno.mkdir(incoming);
  await Deno.writeTextFile(join(incoming, "stranger"), "x");
  assert.equal(failed(await bench.receive()), "unexpected");
});
