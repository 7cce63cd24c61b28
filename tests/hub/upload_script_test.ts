import assert from "node:assert/strict";
import { delimiter, join } from "node:path";
import fc from "fast-check";
import {
  readUploadOutcome,
  type UploadOrder,
  type UploadOutcome,
  uploadTask,
} from "../../lib/hub/upload_script.ts";
import { FakeHub, type FakeHubOptions, storageFull } from "../lab/fake_hub.ts";
import { needingHubPython, pythonWithHub } from "../lab/python.ts";

const repo = "hasegawa/checkpoints";

/** A Pod with a checkpoint, and a Hub. */
class Bench implements AsyncDisposable {
  readonly hub: FakeHub;
  readonly root: string;

  private constructor(hub: FakeHub, root: string) {
    this.hub = hub;
    this.root = root;
  }

  static async make(options: FakeHubOptions = {}): Promise<Bench> {
    const root = await Deno.makeTempDir({ prefix: "upload-" });
    const bench = new Bench(new FakeHub(options), root);
    await bench.write("_CHECKPOINT_METADATA", "{}");
    await bench.write("params/manifest.ocdbt", "m".repeat(20));
    await bench.write("params/d/one", "1".repeat(5000));
    await bench.write("params/d/日本 two", "2".repeat(3000));
    await bench.write("params/empty", "");
    await bench.write("train_state/d/huge", "3".repeat(9000));
    await Deno.writeTextFile(join(root, "token"), `${bench.hub.token}\n`, { mode: 0o600 });
    return bench;
  }

  async write(path: string, text: string): Promise<void> {
    await Deno.mkdir(join(this.root, "1499", path, ".."), { recursive: true });
    await Deno.writeTextFile(join(this.root, "1499", path), text);
  }

  /** Runs the program as the task does, and shows all it said. */
  async run(
    changes: Partial<UploadOrder> = {},
    attempts = 3,
  ): Promise<{ outcome: UploadOutcome; log: string }> {
    const { command, env } = uploadTask({
      repo,
      folder: "run1/1499",
      checkpoint: join(this.root, "1499"),
      exclude: ["train_state"],
      seconds: 60,
      endpoint: this.hub.url,
      scratch: this.root,
      ...changes,
    }, { attempts, pause: 0.01 });
    const folder = join(this.root, "bin");
    await Deno.mkdir(folder, { recursive: true });
    await Deno.remove(join(folder, "python3")).catch(() => {});
    const python = `#!/bin/sh\nexec ${pythonWithHub} "$@"\n`;
    await Deno.writeTextFile(join(folder, "python3"), python, { mode: 0o755 });
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", command],
      cwd: this.root,
      env: {
        ...env,
        PATH: `${folder}${delimiter}${Deno.env.get("PATH")}`,
        HOME: this.root,
        HF_TOKEN_PATH: join(this.root, "token"),
        HF_TOKEN: "hf_anotherTokenThatMustNotBeUsed",
        TMPDIR: this.root,
      },
      clearEnv: true,
    }).output();
    const log = new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout);
    assert(!log.includes(this.hub.token), "the token was printed");
    return { outcome: readUploadOutcome(log), log };
  }

  /** Files below the folder at the head. */
  get there(): string[] {
    const files = this.hub.repos.get(repo)?.head.files.keys() ?? [];
    return [...files].filter((path) => path !== ".gitattributes").sort();
  }

  async [Symbol.asyncDispose]() {
    await this.hub[Symbol.asyncDispose]();
    await Deno.remove(this.root, { recursive: true });
  }
}

const wanted = [
  "_CHECKPOINT_METADATA",
  "params/d/one",
  "params/d/日本 two",
  "params/empty",
  "params/manifest.ocdbt",
];
const inFolder = wanted.map((path) => `run1/1499/${path}`);

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ ...needingHubPython(`upload program ${name}`), fn });
}

test("creates a private repository and uploads everything but train_state in one commit", async () => {
  await using bench = await Bench.make();
  const { outcome, log } = await bench.run();
  assert(outcome.kind === "uploaded", log);
  const there = bench.hub.repo(repo);
  assert.equal(there.private, true);
  assert.equal(outcome.commit, there.head.oid);
  assert.deepEqual(bench.there, inFolder);
  assert.deepEqual(outcome.files.map(({ path }) => path), wanted);
  assert.equal(outcome.count, wanted.length);
  assert.equal(outcome.files.find(({ path }) => path === "params/d/one")?.sha256?.length, 64);
  assert.equal(outcome.files.find(({ path }) => path === "params/empty")?.sha256, null);
  assert.equal(there.commits.length, 2);
  assert(
    bench.hub.requests.filter(({ origin }) => origin === "cdn").every(({ authorization }) =>
      authorization === null
    ),
  );
});

test("finds everything there already and sends nothing", async () => {
  await using bench = await Bench.make();
  await bench.run();
  const before = bench.hub.requests.length;
  const { outcome } = await bench.run();
  assert.equal(outcome.kind, "already_there");
  assert(bench.hub.requests.slice(before).every(({ method }) => method === "GET"));
});

test("stops before anything is sent when the repository is public", async () => {
  await using bench = await Bench.make();
  bench.hub.repo(repo, { private: false });
  const { outcome } = await bench.run();
  assert.equal(outcome.kind, "not_private");
  assert(bench.hub.requests.every(({ method }) => method === "GET"));
  assert.deepEqual(bench.there, []);
});

test("says so when the repository is made public while it uploads", async () => {
  await using bench = await Bench.make();
  bench.hub.repo(repo);
  bench.hub.fault({ path: /\/commit\//, meanwhile: () => void (bench.hub.repo(repo).private = false) });
  assert.equal((await bench.run()).outcome.kind, "not_private");
});

test("stops when other content is there, large or small, and overwrites nothing", async () => {
  for (
    const [path, lfs] of [["params/d/one", true], ["params/manifest.ocdbt", false], [
      "stranger",
      false,
    ]] as const
  ) {
    await using bench = await Bench.make();
    bench.hub.repo(repo).put(`run1/1499/${path}`, "other content", lfs);
    const { outcome } = await bench.run();
    assert(outcome.kind === "different");
    assert.deepEqual(outcome.paths, [path]);
    assert.deepEqual(bench.there, [`run1/1499/${path}`]);
    assert.equal(bench.hub.count("POST", /./), 0);
  }
});

test("leaves other folders of the repository alone and completes a part of its own", async () => {
  await using bench = await Bench.make();
  bench.hub.repo(repo).put("run0/1499/params", "other run", true);
  bench.hub.repo(repo).put("run1/1499/_CHECKPOINT_METADATA", "{}");
  assert.equal((await bench.run()).outcome.kind, "uploaded");
  assert.deepEqual(bench.there, ["run0/1499/params", ...inFolder]);
});

test("stops when somebody else commits other content in the same moment", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({
    path: /\/commit\//,
    times: 1,
    meanwhile: () => bench.hub.repo(repo).put("run1/1499/params/d/one", "theirs", true),
  });
  assert.equal((await bench.run()).outcome.kind, "different");
  assert.deepEqual(bench.there, ["run1/1499/params/d/one"]);
});

test("commits on top of what somebody else added elsewhere in the same moment", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({
    path: /\/commit\//,
    times: 1,
    meanwhile: () => bench.hub.repo(repo).put("README.md", "theirs"),
  });
  assert.equal((await bench.run()).outcome.kind, "uploaded");
  assert.deepEqual(bench.there, ["README.md", ...inFolder]);
});

test("finds its own commit again when the answer to it was lost", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /\/commit\//, times: 1, loseAnswer: true });
  const { outcome } = await bench.run();
  assert.equal(outcome.kind, "already_there");
  assert.deepEqual(bench.there, inFolder);
  assert.equal(bench.hub.repo(repo).commits.length, 2);
});

test("tries again after a broken upload, a server error and a limited rate", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ method: "PUT", path: /upload/, times: 1, answer: { status: 500 } });
  bench.hub.fault({ path: /preupload/, times: 1, answer: { status: 503 } });
  bench.hub.fault({
    path: /\/tree\//,
    times: 1,
    answer: { status: 429, headers: { ratelimit: '"api";r=0;t=1' } },
  });
  bench.hub.fault({
    path: /\/commit\//,
    times: 1,
    answer: { status: 502, body: "<html>bad gateway</html>" },
  });
  assert.equal((await bench.run({}, 8)).outcome.kind, "uploaded");
  assert.deepEqual(bench.there, inFolder);
});

test("waits for another creation in progress", async () => {
  await using bench = await Bench.make();
  const error = "Cannot create repo: another conflicting operation is in progress";
  bench.hub.fault({ path: /repos\/create/, times: 2, answer: { status: 409, body: { error } } });
  assert.equal((await bench.run()).outcome.kind, "uploaded");
});

test("refuses the repository that another created, public, between its look and its creation", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /repos\/create/, meanwhile: () => void bench.hub.repo(repo, { private: false }) });
  assert.equal((await bench.run()).outcome.kind, "not_private");
  assert.deepEqual(bench.there, []);
});

for (const status of [400, 403] as const) {
  test(`stops at once when the private storage is full (${status})`, async () => {
    await using bench = await Bench.make();
    const body = await storageFull(status).json();
    bench.hub.fault({ path: status === 400 ? /\/commit\// : /objects\/batch/, answer: { status, body } });
    const { outcome } = await bench.run();
    assert(outcome.kind === "storage_full");
    assert.match(outcome.detail, /storage limit/);
    assert.equal(bench.hub.count("POST", /objects\/batch/), 1);
    assert.deepEqual(bench.there, []);
  });
}

test("stops at once when the token is unknown or may not write", async () => {
  await using bench = await Bench.make();
  await Deno.writeTextFile(join(bench.root, "token"), "hf_unknown");
  assert.equal((await bench.run()).outcome.kind, "refused");
  await Deno.writeTextFile(join(bench.root, "token"), bench.hub.token);
  bench.hub.fault({
    path: /\/commit\//,
    answer: { status: 403, body: { error: "Forbidden: pass a write token" } },
  });
  const { outcome } = await bench.run();
  assert(outcome.kind === "refused");
  assert.match(outcome.detail, /write token/);
});

test("stops when there is no token, no checkpoint or a link in it", async () => {
  await using bench = await Bench.make();
  assert.equal((await bench.run({ checkpoint: join(bench.root, "none") })).outcome.kind, "empty");
  await Deno.symlink("/etc/hostname", join(bench.root, "1499/params/link"));
  const { outcome } = await bench.run();
  assert(outcome.kind === "link");
  assert.deepEqual(outcome.paths, ["params/link"]);
  await Deno.writeTextFile(join(bench.root, "token"), "\n");
  assert.equal((await bench.run()).outcome.kind, "no_token");
  assert.equal(bench.hub.requests.length, 0);
});

test("gives up after its attempts, with the reason", async () => {
  await using bench = await Bench.make();
  bench.hub.fault({ path: /\/commit\//, answer: { status: 500, body: { error: "the lab says no" } } });
  const { outcome } = await bench.run({}, 2);
  assert(outcome.kind === "failed");
  assert.match(outcome.detail, /500|the lab says no/);
  assert.equal(bench.hub.count("POST", /\/commit\//), 2);
});

test("uploads a large file in parts", async () => {
  await using bench = await Bench.make({ multipartSize: 2000 });
  assert.equal((await bench.run()).outcome.kind, "uploaded");
  assert.deepEqual(bench.there, inFolder);
  assert.equal(bench.hub.count("PUT", /\/part\//), 3 + 2);
});

test("runs under the training's own Python first, and under uv's where none has the library", async () => {
  await using bench = await Bench.make();
  const say = (who: string, usable: boolean) =>
    `#!/bin/sh\n${usable ? "" : '[ "$1" != -c ] || exit 1\n'}echo '${who} ran' >&2\n`;
  await Deno.mkdir(join(bench.root, ".venv/bin"), { recursive: true });
  await Deno.writeTextFile(join(bench.root, ".venv/bin/python"), say("own", true), { mode: 0o755 });
  assert.match((await bench.run()).log, /own ran\n$/);
  await Deno.remove(join(bench.root, ".venv"), { recursive: true });
  const { command, env } = uploadTask({
    repo,
    folder: "1",
    checkpoint: "/",
    exclude: [],
    seconds: 1,
    endpoint: "http://127.0.0.1:1",
    scratch: bench.root,
  });
  const bin = join(bench.root, "bin");
  for (const name of ["python3", "python"]) {
    await Deno.writeTextFile(join(bin, name), say(name, false), { mode: 0o755 });
  }
  await Deno.writeTextFile(join(bin, "uv"), '#!/bin/sh\necho "uv $1 $2 $3 $4 $5 $6"\n', { mode: 0o755 });
  const { stdout } = await new Deno.Command("sh", {
    args: ["-c", command],
    env: { ...env, PATH: `${bin}${delimiter}${Deno.env.get("PATH")}` },
  }).output();
  assert.equal(new TextDecoder().decode(stdout), "uv run --no-project --with huggingface_hub -- python\n");
});

Deno.test("uploadTask() will not upload to the root of a repository", () => {
  const order = {
    repo,
    folder: "",
    checkpoint: "/c",
    exclude: [],
    seconds: 1,
    endpoint: "http://h",
    scratch: "/s",
  };
  assert.throws(() => uploadTask(order), TypeError);
});

Deno.test.each(
  [
    ["an empty log", ""],
    ["a killed program", "Traceback\nKilled"],
    ["a cut line", 'TIAS_UPLOAD_RESULT {"outcome": "uploa'],
    ["an outcome that nobody knows", 'TIAS_UPLOAD_RESULT {"outcome": "fine"}'],
    ["success without a commit", 'TIAS_UPLOAD_RESULT {"outcome": "uploaded", "count": 0, "files": []}'],
    [
      "success without a count",
      `TIAS_UPLOAD_RESULT {"outcome": "uploaded", "commit": "${"a".repeat(40)}", "files": []}`,
    ],
    [
      "success with a strange list",
      `TIAS_UPLOAD_RESULT {"outcome": "uploaded", "commit": "${"a".repeat(40)}", "count": 1, "files": [1]}`,
    ],
  ] as const,
)("readUploadOutcome() takes nothing from %s", (_what, log) => {
  assert.equal(readUploadOutcome(log).kind, "no_result");
});

Deno.test("readUploadOutcome() answers for any text", () => {
  fc.assert(fc.property(fc.string(), fc.json(), (text, json) => {
    readUploadOutcome(text);
    readUploadOutcome(`TIAS_UPLOAD_RESULT ${json}`);
    readUploadOutcome(`TIAS_UPLOAD_RESULT {"outcome": "uploaded", "files": ${json}}`);
  }));
});
