/** `train`, `stop` and `sweep` as programs of their own, with exactly their permission sets, over the real ssh. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Ledger } from "../../lib/rent/ledger.ts";
import { FakeHub } from "../lab/fake_hub.ts";
import { needing } from "../lab/requirements.ts";
import { RunpodLab, type RunpodLabOptions } from "../lab/runpod_lab.ts";
import { makeTrainProject, type TrainProject, type TrainProjectOptions } from "../lab/train_project.ts";
import { waitUntil } from "../lab/waiting.ts";

const toolkit = fileURLToPath(new URL("../..", import.meta.url));
const programs = ["ssh", "setsid", "curl"];

interface Stage extends AsyncDisposable {
  readonly pods: RunpodLab;
  readonly hub: FakeHub;
  readonly project: TrainProject;
  start(verb: string, ...args: string[]): Running;
  run(verb: string, ...args: string[]): Promise<{ code: number; output: string }>;
  ledger(): Promise<Ledger>;
}

interface Running {
  readonly child: Deno.ChildProcess;
  output(): string;
  /** Resolves once the output has the text. */
  says(text: RegExp): Promise<void>;
  end(): Promise<{ code: number; output: string }>;
}

async function makeStage(
  options: TrainProjectOptions & { runpod?: RunpodLabOptions } = {},
): Promise<Stage> {
  await using starting = new AsyncDisposableStack();
  const hub = starting.use(new FakeHub({ pageSize: 100 }));
  const pods = starting.use(await RunpodLab.start(options.runpod));
  const project = await makeTrainProject(pods, hub, options);
  const start = (verb: string, ...args: string[]): Running => {
    const child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        "--no-prompt",
        `-P=${verb}`,
        "--allow-net=127.0.0.1",
        `--allow-read=${project.root}`,
        `--allow-write=${project.root}`,
        `--config=${join(toolkit, "deno.json")}`,
        join(toolkit, "cmd", `${verb}.ts`),
        "--lang=en",
        ...args,
      ],
      cwd: project.root,
      env: project.env,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    let text = "";
    const collect = async (stream: ReadableStream<Uint8Array>) => {
      const decoder = new TextDecoder();
      for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
    };
    const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
    return {
      child,
      output: () => text,
      says: (wanted) => waitUntil(() => wanted.test(text)),
      async end() {
        const { code } = await child.status;
        await collected;
        return { code, output: text };
      },
    };
  };
  const made = starting.move();
  return {
    pods,
    hub,
    project,
    start,
    run: (verb, ...args) => start(verb, ...args).end(),
    ledger: async () =>
      JSON.parse(await Deno.readTextFile(join(project.root, "lab/night/train/lab_pod.json"))),
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

/** Every file below a folder, with its text. */
async function* filesBelow(folder: string): AsyncGenerator<[path: string, text: string]> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) yield* filesBelow(path);
    else if (isFile) yield [path, new TextDecoder("latin1").decode(await Deno.readFile(path))];
  }
}

/** Command lines of all processes in which a key stands. */
async function keysInArguments(keys: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    const line = /^\d+$/.test(name) ? await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "") : "";
    if (keys.some((key) => line.includes(key))) found.push(line);
  }
  return found;
}

Deno.test({
  ...needing(
    programs,
    "train takes the model home and deletes the Pod; no key is seen, nothing else is touched",
  ),
  async fn() {
    await using stage = await makeStage({ trainingSec: 2 });
    const { pods, hub, project } = stage;
    await Deno.mkdir(join(project.localDir, "1000"), { recursive: true });
    await Deno.writeTextFile(join(project.localDir, "1000/keep"), "mine");
    const running = stage.start("train", "--log", "night");
    const seen: string[] = [];
    let over = false;
    const ended = running.end().finally(() => over = true);
    const keys = [pods.api.options.accountKey, hub.token];
    while (!over) {
      seen.push(...await keysInArguments([...keys, ...pods.api.pods.map(({ key }) => key)]));
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const { code, output } = await ended;
    assert.equal(code, 0, output);
    assert.deepEqual(seen, []);
    assert.deepEqual(pods.api.alive(), []);
    const { receipts, outcome } = await stage.ledger();
    assert.deepEqual(outcome, { kind: "trained", copy: "hub" });
    assert.equal(receipts.length, 1);
    const home = (await Array.fromAsync(filesBelow(project.localDir))).map(([path]) =>
      path.slice(project.localDir.length + 1)
    );
    assert.deepEqual(home.sort(), [
      "1000/keep",
      "1499/_CHECKPOINT_METADATA",
      "1499/assets/norm_stats.json",
      "1499/params/d/0001",
    ]);
    const repo = hub.repo("hasegawa/pi05_trim_corr");
    assert.equal(repo.private, true);
    assert.ok(![...repo.head.files.keys()].some((path) => path.includes("train_state")));
    keys.push(...pods.api.pods.map(({ key }) => key));
    for await (const [path, text] of filesBelow(pods.lab.root)) {
      assert.ok(!keys.some((key) => text.includes(key)), `a key is in ${path}`);
    }
    assert.ok(!keys.some((key) => output.includes(key)));
  },
});

Deno.test({
  ...needing(programs, "train goes on after kill -9 in the middle of the training, with the same Pod"),
  async fn() {
    await using stage = await makeStage({ trainingSec: 6 });
    const first = stage.start("train", "--log", "night");
    await first.says(/Training: step/);
    first.child.kill("SIGKILL");
    await first.end();
    const { code, output } = await stage.run("train", "--log", "night");
    assert.equal(code, 0, output);
    assert.match(output, /Going on with the run night/);
    assert.equal(stage.pods.api.pods.length, 1);
    assert.deepEqual(stage.pods.api.alive(), []);
    assert.deepEqual((await stage.ledger()).outcome, { kind: "trained", copy: "hub" });
  },
});

Deno.test({
  ...needing(programs, "stop ends what kill -9 left, brings the logs home, and may be said again"),
  async fn() {
    await using stage = await makeStage({ trainingSec: 100 });
    const first = stage.start("train", "--log", "night");
    await first.says(/Training: step/);
    first.child.kill("SIGKILL");
    await first.end();
    const { code, output } = await stage.run("stop");
    assert.equal(code, 0, output);
    assert.deepEqual(stage.pods.api.alive(), []);
    assert.match(await Deno.readTextFile(join(stage.project.root, "lab/night/train/train.log")), /^Step 0: /);
    assert.equal((await stage.ledger()).receipts[0]?.deleteStatus, 204);
    for (const args of [["--log", "night"], []]) {
      const again = await stage.run("stop", ...args);
      assert.equal(again.code, 0, again.output);
    }
  },
});

Deno.test({
  ...needing(
    programs,
    "stop and sweep know a Pod of another machine by its name and mark, and touch no other",
  ),
  async fn() {
    await using stage = await makeStage({ trainingSec: 100 });
    const first = stage.start("train", "--log", "night");
    await first.says(/The training has begun/);
    first.child.kill("SIGKILL");
    await first.end();
    await Deno.remove(join(stage.project.root, "lab"), { recursive: true });
    // Someone else's, one that only looks like ours, and the older scripts'.
    const { api } = stage.pods;
    const [ours] = api.pods;
    assert.ok(ours !== undefined);
    for (const name of ["p2m-train-night", "p2m-night", "tias-train-night-00000000", "my pod"]) {
      const other = { ...ours, id: `other${api.pods.length}`, request: { ...ours.request, name } };
      api.pods.push({ ...other, key: "rpa_other", direct: null });
    }
    const listed = await stage.run("sweep");
    assert.equal(listed.code, 0, listed.output);
    assert.deepEqual(listed.output.match(/^tias-train-\S+/gm), [ours.request.name]);
    const kept = await stage.run("sweep", "--delete");
    assert.match(kept.output, /1 of them are not past their last deadline/);
    const refused = await stage.run("sweep", "--delete", "p2m-train-night");
    assert.equal(refused.code, 1);
    assert.equal(api.alive().length, 5);
    const blocked = await stage.run("train", "--log", "night");
    assert.equal(blocked.code, 1);
    assert.match(blocked.output, /A Pod of the run night is there already/);
    const stopped = await stage.run("stop", "--log", "night");
    assert.equal(stopped.code, 0, stopped.output);
    assert.deepEqual(api.alive().map(({ request }) => request.name), [
      "p2m-train-night",
      "p2m-night",
      "tias-train-night-00000000",
      "my pod",
    ]);
    api.pods.splice(1);
  },
});

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  Deno.test({
    ...needing(
      programs,
      `train ends at ${signal}: the training is stopped, its logs are home, the Pod is gone`,
    ),
    async fn() {
      await using stage = await makeStage({ trainingSec: 100 });
      const running = stage.start("train", "--log", "night");
      await running.says(/Training: step/);
      running.child.kill(signal);
      const { code, output } = await running.end();
      assert.equal(code, 130, output);
      assert.deepEqual(stage.pods.api.alive(), []);
      assert.match(
        await Deno.readTextFile(join(stage.project.root, "lab/night/train/train.log")),
        /^Step 0: /,
      );
      assert.deepEqual((await stage.ledger()).outcome, { kind: "interrupted" });
    },
  });
}

Deno.test({
  ...needing(
    programs,
    "the watchdog deletes the Pod of a client that is dead for good, over a container's restart",
  ),
  async fn() {
    await using stage = await makeStage({
      trainingSec: 100,
      recipe: { limit_hours: 0.003, watchdog_grace_min: 0.01 },
    });
    const running = stage.start("train", "--log", "night");
    await running.says(/Rented Pod/);
    running.child.kill("SIGKILL");
    await running.end();
    const [pod] = stage.pods.api.pods;
    assert.ok(pod !== undefined);
    await stage.pods.restart(pod);
    await waitUntil(() => stage.pods.api.alive().length === 0);
    const last = stage.pods.api.calls.findLast(({ method }) => method === "DELETE");
    assert.equal(last?.by, "pod");
  },
});

Deno.test({
  ...needing(
    programs,
    "train fails a training that a restart of the container has ended, and deletes the Pod",
  ),
  async fn() {
    await using stage = await makeStage({ trainingSec: 100 });
    const running = stage.start("train", "--log", "night");
    await running.says(/Training: step/);
    const [pod] = stage.pods.api.pods;
    assert.ok(pod !== undefined);
    await stage.pods.restart(pod);
    const { code, output } = await running.end();
    assert.equal(code, 1, output);
    assert.deepEqual((await stage.ledger()).outcome, {
      kind: "training_failed",
      reason: "vanished",
      exitCode: null,
    });
    assert.deepEqual(stage.pods.api.alive(), []);
  },
});

Deno.test({
  ...needing(programs, "stop may be said while train is running: both end, and one Pod was deleted"),
  async fn() {
    await using stage = await makeStage({ trainingSec: 100 });
    const running = stage.start("train", "--log", "night");
    await running.says(/Training: step/);
    const second = await stage.run("train", "--log", "night");
    assert.equal(second.code, 1);
    assert.match(second.output, /Another `train` for night is running here/);
    const stopped = await stage.run("stop", "--log", "night");
    assert.equal(stopped.code, 0, stopped.output);
    const { code, output } = await running.end();
    assert.equal(code, 1, output);
    assert.deepEqual(stage.pods.api.alive(), []);
    assert.equal(stage.pods.api.pods.length, 1);
  },
});

Deno.test({
  ...needing(programs, "train copies over ssh when the Hub refuses, before it deletes the Pod"),
  async fn() {
    await using stage = await makeStage({ trainingSec: 2 });
    stage.hub.fault({
      path: /\/commit\//,
      answer: { status: 403, body: { error: "Private repository storage limit reached" } },
    });
    const { code, output } = await stage.run("train", "--log", "night");
    assert.equal(code, 0, output);
    assert.deepEqual((await stage.ledger()).outcome, { kind: "trained", copy: "home" });
    assert.equal((await Deno.stat(join(stage.project.localDir, "1499/params/d/0001"))).size, 300_000);
    assert.deepEqual(stage.pods.api.alive(), []);
  },
});

Deno.test({
  ...needing(
    programs,
    "train rents nothing where its permissions end, and says what to add to them and where",
  ),
  async fn() {
    const outside = await Deno.makeTempDir({ prefix: "outside-" });
    try {
      const cases = [
        [
          { local_dir: outside },
          `add "${outside}" to \`read\` and \`write\` of the permission set \`train\` in deno.json`,
        ],
        [{ api_url: "http://127.0.0.2:9876/v2" }, "Add the host to `net` of the permission set in deno.json"],
      ] as const;
      for (const [recipe, says] of cases) {
        await using stage = await makeStage({ recipe });
        const { code, output } = await stage.run("train", "--log", "night");
        assert.notEqual(code, 0);
        assert.ok(output.includes(says), output);
        assert.equal(stage.pods.api.pods.length, 0);
      }
      assert.deepEqual(await Array.fromAsync(Deno.readDir(outside)), []);
    } finally {
      await Deno.remove(outside);
    }
  },
});
