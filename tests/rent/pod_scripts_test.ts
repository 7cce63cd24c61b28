import assert from "node:assert/strict";
import { join } from "node:path";
import {
  forgetTokenScript,
  gpuCsvHeader,
  lookScript,
  type PodTask,
  readStartedTask,
  readStoppedTask,
  startTaskScript,
  stopTaskScript,
  type TaskRequest,
} from "../../lib/rent/pod_scripts.ts";
import { podEnvironmentShell } from "../../lib/rent/pod_environment.ts";
import { readTrainingLook, type TrainingLook } from "../../lib/rent/training_look.ts";
import { needing } from "../lab/requirements.ts";
import { waitUntil } from "../lab/waiting.ts";
import { transcriptOf } from "./remote.ts";

/** A Pod's disk in a temporary folder; what still runs there is stopped in the end. */
class Pod implements AsyncDisposable {
  readonly root: string;
  readonly shell: string;
  readonly #tasks: PodTask[] = [];

  private constructor(root: string, shell: string) {
    this.root = root;
    this.shell = shell;
  }

  static async make(shell = "sh"): Promise<Pod> {
    const root = await Deno.makeTempDir({ prefix: "pod-" });
    await Deno.mkdir(join(root, "home/.local/bin"), { recursive: true });
    await Deno.mkdir(join(root, "work"));
    return new Pod(root, shell);
  }

  get options() {
    return { shell: this.shell, home: join(this.root, "home") };
  }

  task(name: string): PodTask {
    return { folder: join(this.root, "tasks"), name, log: join(this.root, "logs", `${name}.log`) };
  }

  async start(request: Partial<TaskRequest> & Pick<TaskRequest, "command">): Promise<string> {
    const task = this.task(request.name ?? "train");
    this.#tasks.push(task);
    const whole = { ...task, id: "a".repeat(32), cwd: join(this.root, "work"), ...request };
    return readStartedTask(await transcriptOf(startTaskScript(whole, 1), this.options));
  }

  async look(name = "train", checkpoints?: string): Promise<TrainingLook> {
    const place = checkpoints === undefined ? undefined : { checkpoints, marker: "_CHECKPOINT_METADATA" };
    const look = readTrainingLook(await transcriptOf(lookScript(this.task(name), place), this.options));
    assert(look !== undefined);
    return look;
  }

  async stop(name = "train"): Promise<string> {
    return readStoppedTask(await transcriptOf(stopTaskScript(this.task(name), 1), this.options));
  }

  async ended(name = "train"): Promise<TrainingLook> {
    let look = await this.look(name);
    await waitUntil(async () => (look = await this.look(name)).exitCode !== null);
    return look;
  }

  async [Symbol.asyncDispose]() {
    for (const task of this.#tasks) await transcriptOf(stopTaskScript(task, 1), this.options);
    await Deno.remove(this.root, { recursive: true });
  }
}

const onLinux = (name: string, programs: readonly string[] = []) =>
  needing(["setsid", "sh", ...programs], name);

for (const shell of ["sh", "dash", "bash"]) {
  Deno.test({
    ...onLinux(`startTaskScript() detaches from ${shell} at once and keeps log and exit code`, [shell]),
    async fn() {
      await using pod = await Pod.make(shell);
      const command = `printf 'one\\n'; printf 'two\\n' >&2; while [ ! -e go ]; do sleep 0.05; done; exit 7`;
      assert.equal(await pod.start({ command }), "started");
      await waitUntil(async () => (await pod.look()).logTail === "one\ntwo\n");
      const running = await pod.look();
      assert.equal(running.running, true);
      assert.equal(running.exitCode, null);
      assert.equal(running.id, "a".repeat(32));
      await Deno.writeTextFile(join(pod.root, "work/go"), "");
      const ended = await pod.ended();
      assert.equal(ended.exitCode, 7);
      assert.equal(ended.logTail, "one\ntwo\n");
      assert.equal(ended.logSize, 8);
      assert((ended.logAgeSeconds ?? 99) < 60);
      assert((ended.began ?? 0) > 1_600_000_000 && (ended.ended ?? 0) >= (ended.began ?? 0));
      await waitUntil(async () => !(await pod.look()).running);
    },
  });
}

Deno.test({
  ...onLinux("startTaskScript() started again with the same id starts nothing; another id has to wait"),
  async fn() {
    await using pod = await Pod.make();
    const command = `echo once >>count; while [ ! -e go ]; do sleep 0.05; done`;
    assert.deepEqual(await Promise.all([pod.start({ command }), pod.start({ command })]), [
      "started",
      "started",
    ]);
    assert.equal(await pod.start({ command, id: "b".repeat(32) }), "busy");
    await Deno.writeTextFile(join(pod.root, "work/go"), "");
    await pod.ended();
    assert.equal(await pod.start({ command }), "started");
    assert.equal(await Deno.readTextFile(join(pod.root, "work/count")), "once\n");
    await waitUntil(async () => !(await pod.look()).running);
    assert.equal(await pod.start({ command: "exit 3", id: "b".repeat(32) }), "started");
    await waitUntil(async () => (await pod.look()).exitCode === 3);
  },
});

Deno.test({
  ...onLinux("startTaskScript() starts after all when an earlier start with the same id died half-way"),
  async fn() {
    const id = "a".repeat(32);
    await using pod = await Pod.make();
    const lock = join(pod.root, "tasks/runs/_remote_logs/.jobs", `${id}.lock`);
    await Deno.mkdir(lock, { recursive: true });
    // Its keeper died before it wrote the state: process 1 lives, but began at another time.
    await Deno.writeTextFile(join(lock, "holder"), "1 1 no-boot no-host\n");
    assert.equal(await pod.start({ command: "echo ran" }), "started");
    assert.equal((await pod.ended()).logTail, "ran\n");
  },
});

Deno.test({
  ...onLinux("startTaskScript() leaves a lock without a name to a next try"),
  async fn() {
    const id = "a".repeat(32);
    await using pod = await Pod.make();
    const lock = join(pod.root, "tasks/runs/_remote_logs/.jobs", `${id}.lock`);
    await Deno.mkdir(lock, { recursive: true });
    // Short pauses between the looks.
    const script = startTaskScript({ ...pod.task("train"), id, cwd: pod.root, command: "true" });
    const hasty = { ...script, text: script.text.replace(/^nap\(\).*$/m, "nap() { sleep 0.005; }") };
    assert.equal(readStartedTask(await transcriptOf(hasty, pod.options)), "not_started");
    assert.equal(await pod.start({ command: "echo ran" }), "started");
    assert.equal((await pod.ended()).logTail, "ran\n");
  },
});

Deno.test({
  ...onLinux("startTaskScript() says what is in the way"),
  async fn() {
    await using pod = await Pod.make();
    assert.equal(await pod.start({ command: "true", cwd: join(pod.root, "nowhere") }), "no_folder");
    await Deno.remove(join(pod.root, "tasks"), { recursive: true });
    await Deno.writeTextFile(join(pod.root, "tasks"), "");
    assert.equal(await pod.start({ command: "true" }), "unwritable");
  },
});

Deno.test({
  ...onLinux("startTaskScript() gives the command its environment, buffering off, and its text unaltered"),
  async fn() {
    await using pod = await Pod.make();
    const odd = `it's "$HOME" \\ \`x\` 日本`;
    const command = `printf '%s|%s|%s\\n' "$PYTHONUNBUFFERED" "$ODD" '$HOME'`;
    await pod.start({ command, env: { ODD: odd } });
    assert.equal((await pod.ended()).logTail, `1|${odd}|$HOME\n`);
  },
});

Deno.test({
  ...onLinux(
    "startTaskScript() keeps a token in a tmpfs file of mode 600 while the command runs, and nowhere else",
  ),
  ignore: !(await Deno.stat("/dev/shm").then(() => true, () => false)),
  async fn() {
    await using pod = await Pod.make();
    const token = "hf_thisIsNoRealToken";
    const command =
      `cat "$HF_TOKEN_PATH" >seen; stat -c %a "$HF_TOKEN_PATH" >mode; printf '%s' "$HF_TOKEN_PATH" >path
tr '\\000' '\\n' </proc/self/environ >environment; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\000' '\\n' >arguments
while [ ! -e go ]; do sleep 0.05; done`;
    assert.equal(await pod.start({ command, name: "upload", id: "c".repeat(32), token }), "started");
    const work = (name: string) => join(pod.root, "work", name);
    await waitUntil(async () => (await Deno.readTextFile(work("arguments")).catch(() => "")) !== "");
    assert.equal(await Deno.readTextFile(work("seen")), token);
    assert.equal(await Deno.readTextFile(work("mode")), "600\n");
    const path = await Deno.readTextFile(work("path"));
    assert.match(path, /^\/dev\/shm\//);
    await Deno.remove(work("seen"));
    for (const folder of ["work", "tasks", "logs", "home"]) {
      for await (const text of filesIn(join(pod.root, folder))) assert(!text.includes(token));
    }
    await Deno.writeTextFile(work("go"), "");
    await pod.ended("upload");
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  },
});

Deno.test({
  ...onLinux("forgetTokenScript() removes the token of a task whose keeper was killed"),
  ignore: !(await Deno.stat("/dev/shm").then(() => true, () => false)),
  async fn() {
    const id = Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0"))
      .join("");
    const path = `/dev/shm/tias-remote-${id}`;
    await Deno.writeTextFile(path, "hf_x");
    assert.equal((await transcriptOf(forgetTokenScript(id))).complete, true);
    await assert.rejects(Deno.stat(path), Deno.errors.NotFound);
  },
});

/** What this account's processes hold open. */
async function openFiles(): Promise<string[]> {
  const { stdout } = await new Deno.Command("sh", { args: ["-c", "readlink /proc/[0-9]*/fd/* 2>/dev/null"] })
    .output();
  return new TextDecoder().decode(stdout).split("\n");
}

async function* filesIn(folder: string): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory) yield* filesIn(path);
    else if (entry.isFile) yield await Deno.readTextFile(path);
  }
}

Deno.test({
  ...onLinux("startTaskScript() samples the GPUs into a CSV as long as the command runs"),
  async fn() {
    await using pod = await Pod.make();
    const smi = join(pod.root, "home/.local/bin/nvidia-smi");
    await Deno.writeTextFile(smi, "#!/bin/sh\necho '0, 97, 40123, 46068'\necho '1, [N/A], 1, 2'\n", {
      mode: 0o755,
    });
    const gpuCsv = join(pod.root, "logs/gpu/gpu_train.csv");
    await pod.start({ command: "while [ ! -e go ]; do sleep 0.05; done", gpuCsv });
    await waitUntil(async () => (await Deno.readTextFile(gpuCsv)).split("\n").length > 5);
    const [head, first, second] = (await Deno.readTextFile(gpuCsv)).split("\n");
    assert.equal(head, gpuCsvHeader);
    assert.match(first ?? "", /^\d{10},0,97,40123,46068$/);
    assert.match(second ?? "", /^\d{10},1,\[N\/A\],1,2$/);
    await Deno.writeTextFile(join(pod.root, "work/go"), "");
    await pod.ended();
    // Nobody holds the file open any more.
    await waitUntil(async () => !(await openFiles()).includes(gpuCsv));
  },
});

Deno.test({
  ...onLinux(
    "stopTaskScript() ends the whole family, also those who left the group or ignore TERM, and no bystander",
  ),
  async fn() {
    await using pod = await Pod.make();
    // Its command line holds the training's.
    const bystander = new Deno.Command("tail", {
      args: ["-f", "/dev/null", "sleep 63 # python train.py"],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    try {
      const command =
        `setsid sh -c 'trap "" TERM; sleep 61' & env -i sleep 62 & echo ready; sleep 63 # python train.py`;
      await pod.start({ command });
      await waitUntil(async () => (await pod.look()).logTail === "ready\n");
      assert.equal(await pod.stop(), "stopped");
      const look = await pod.look();
      assert.equal(look.running, false);
      assert.notEqual(look.exitCode, null);
      assert.match(await Deno.readTextFile(`/proc/${bystander.pid}/stat`), /\) [SR] /);
      assert.equal(await pod.stop(), "stopped");
    } finally {
      bystander.kill();
      await bystander.status;
    }
  },
});

Deno.test({
  ...onLinux(
    "lookScript() tells a killed keeper from a running one, and waits for what the keeper left behind",
  ),
  async fn() {
    await using pod = await Pod.make();
    await pod.start({ command: "echo ready; while [ ! -e go ]; do sleep 0.05; done" });
    await waitUntil(async () => (await pod.look()).logTail === "ready\n");
    const state = await Deno.readTextFile(join(pod.root, "tasks/runs/_remote_logs/.jobs/train.state"));
    Deno.kill(Number(/^pid=(\d+)$/m.exec(state)?.[1]), "SIGKILL");
    const orphaned = await pod.look();
    assert.deepEqual([orphaned.running, orphaned.exitCode], [true, null]);
    await Deno.writeTextFile(join(pod.root, "work/go"), "");
    await waitUntil(async () => !(await pod.look()).running);
    assert.equal((await pod.look()).exitCode, null);
  },
});

Deno.test({
  ...onLinux("lookScript() of a Pod that knows no such task says so"),
  async fn() {
    await using pod = await Pod.make();
    const look = await pod.look();
    assert.deepEqual([look.known, look.running, look.exitCode, look.logAgeSeconds], [
      false,
      false,
      null,
      null,
    ]);
  },
});

Deno.test({
  ...onLinux("lookScript() shows the end of a long log, and its age by the Pod's clock"),
  async fn() {
    await using pod = await Pod.make();
    await pod.start({ command: "true" });
    await pod.ended();
    const log = join(pod.root, "logs/train.log");
    await Deno.writeTextFile(log, "x".repeat(300_000) + "\n@@nobody done\nStep 7: loss=1\n");
    const hourAgo = new Date(Date.now() - 3600_000);
    await Deno.utime(log, hourAgo, hourAgo);
    const look = await pod.look();
    assert.equal(look.logTail.length, 262_144);
    assert.match(look.logTail, /Step 7: loss=1\n$/);
    assert((look.logAgeSeconds ?? 0) >= 3600 && (look.logAgeSeconds ?? 0) < 3700);
  },
});

Deno.test({
  ...onLinux("lookScript() lists numbered checkpoints and whether they are committed"),
  async fn() {
    await using pod = await Pod.make();
    await pod.start({ command: "true" });
    await pod.ended();
    const folder = join(pod.root, "check points");
    const put = async (name: string, marker?: string) => {
      await Deno.mkdir(join(folder, name), { recursive: true });
      if (marker !== undefined) await Deno.writeTextFile(join(folder, name, "_CHECKPOINT_METADATA"), marker);
    };
    await put(
      "1000",
      `{"item_handlers": {}, "init_timestamp_nsecs": 1, "commit_timestamp_nsecs": 1764489600000000000}`,
    );
    await put("1499", `{"init_timestamp_nsecs": 1764489600000000000, "commit_timestamp_nsecs": null}`);
    await put("500");
    await put("250", "any other marker");
    await put("1499.orbax-checkpoint-tmp-3", `"commit_timestamp_nsecs": 5`);
    await Deno.writeTextFile(join(folder, "77"), "");
    assert.deepEqual((await pod.look("train", folder)).checkpoints, [
      { step: 1499, committed: false },
      { step: 1000, committed: true },
      { step: 500, committed: false },
      { step: 250, committed: true },
    ]);
    assert.deepEqual((await pod.look("train", join(folder, "none"))).checkpoints, []);
  },
});

Deno.test({
  ...onLinux(
    "podEnvironmentShell takes the container's environment, without keys and without its own variables",
  ),
  async fn() {
    const file = await Deno.makeTempFile();
    try {
      const pairs = [
        "CUDA_HOME=/usr/local/cuda 12",
        "RUNPOD_API_KEY=secret",
        "HF_TOKEN=secret",
        "JUPYTER_PASSWORD=secret",
        "HOME=/root",
        "host=other",
        "PATH=/opt/bin",
        "MULTI=a\nb",
        "BAD-NAME=1",
        "1X=1",
      ];
      await Deno.writeTextFile(file, pairs.join("\0") + "\0");
      const text = `${podEnvironmentShell}\nhost=mine\nsection env show\nmark done\n`.replace(
        "\nhost=mine",
        "\nshow() { inherit_environment; printf '%s\\n' \"$CUDA_HOME|$MULTI|$HOME|$host|$PATH\"; env; }\nhost=mine",
      );
      const { sections } = await transcriptOf({ text, values: { environ: file }, seconds: 5 }, {
        home: "/h",
      });
      const shown = sections[0]?.text ?? "";
      assert.match(shown, /^\/usr\/local\/cuda 12\|a\|\/h\|mine\|\/h\/\.local\/bin:\/opt\/bin:/);
      assert(!shown.includes("secret"));
      assert(!shown.includes("BAD"));
    } finally {
      await Deno.remove(file);
    }
  },
});
