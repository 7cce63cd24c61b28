import { join } from "node:path";
import type { TrainConfig } from "../config/train.ts";
import { uploadMessage } from "../hub/messages.ts";
import type { HubAccess } from "../hub/types.ts";
import { readUploadOutcome, uploadTask } from "../hub/upload_script.ts";
import type { SshDeps } from "../ssh/connection.ts";
import { sectionOf } from "../ssh/framing.ts";
import { randomToken } from "../system/token.ts";
import { lastLines } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { packProject } from "../transfer/pack.ts";
import { transferSeconds } from "../transfer/push.ts";
import { unpackShell } from "../transfer/unpack_script.ts";
import { bringHome } from "./bring_home.ts";
import { listScript, readListing } from "./checkpoint_script.ts";
import { podFolder, watchdogFolder } from "./create_request.ts";
import type { Begun, Done, Reply, TaskSeen } from "./event.ts";
import type { PodAddress, PodSide } from "./perform.ts";
import type { PodConnection } from "./pod_connection.ts";
import { fetchFile, podSource } from "./pod_files.ts";
import {
  forgetTokenScript,
  lookScript,
  type PodTask,
  readStartedTask,
  readStoppedTask,
  startTaskScript,
  stopTaskScript,
  type TaskRequest,
} from "./pod_scripts.ts";
import { listForSending, type PreparationStep, preparationSteps } from "./preparation.ts";
import { readTrainingLook, type TrainingLook, trainingStatus } from "./training_look.ts";
import type { PodFile } from "./types.ts";
import { extendScript, readSign, signScript, watchdogTickSec } from "./watchdog_link.ts";

export interface SshPodPlan {
  readonly recipe: TrainConfig;
  /** The project's root, below which relative paths of the recipe lie. */
  readonly root: string;
  /** The run's folder on this machine. */
  readonly folder: string;
  /** Where the step's folder is placed. */
  readonly localDir: string;
  readonly hub: HubAccess;
}

/** Seconds that stopping a training or bringing its logs home may take. */
const closingSeconds = 300;
/** What the uploader says that no second try would change. */
const finalRefusals = ["not_private", "different", "storage_full", "refused", "no_token", "link", "empty"];

/** A Pod over the system's ssh. */
export class SshPod implements PodSide {
  readonly #deps: SshDeps;
  readonly #texts: Texts;
  readonly #connection: PodConnection;
  readonly #plan: SshPodPlan;
  readonly #steps: readonly PreparationStep[];

  constructor(deps: SshDeps, texts: Texts, connection: PodConnection, plan: SshPodPlan) {
    this.#deps = deps;
    this.#texts = texts;
    this.#connection = connection;
    this.#plan = plan;
    this.#steps = preparationSteps(plan.recipe);
  }

  async sign(pod: PodAddress, signal: AbortSignal) {
    const answer = await this.#connection.run(pod, signScript(watchdogFolder(this.#plan.recipe)), signal);
    return answer.ok ? { ok: true, value: readSign(answer.value) } as const : answer;
  }

  async extend(pod: PodAddress, until: number, signal: AbortSignal) {
    const script = extendScript(watchdogFolder(this.#plan.recipe), until, 4 * watchdogTickSec);
    const answer = await this.#connection.run(pod, script, signal);
    return answer.ok ? { ok: true, value: readSign(answer.value) } as const : answer;
  }

  async beginStep(pod: PodAddress, index: number, id: string, signal: AbortSignal): Promise<Reply<Begun>> {
    const step = this.#steps[index];
    if (step === undefined) return { ok: true, value: { kind: "done" } };
    if (step.kind === "send") return await this.#send(pod, step, signal);
    const { path } = this.#plan.recipe.volume;
    return await this.#begin(pod, { ...this.#task(step.name), id, cwd: path, command: step.command }, signal);
  }

  async lookStep(pod: PodAddress, index: number, id: string, signal: AbortSignal): Promise<Reply<TaskSeen>> {
    const step = this.#steps[index];
    const look = await this.#look(pod, this.#task(step?.kind === "task" ? step.name : ""), id, signal);
    return look.ok ? { ok: true, value: seen(look.value) } : look;
  }

  async beginTraining(pod: PodAddress, id: string, signal: AbortSignal): Promise<Reply<Begun>> {
    const { train } = this.#plan.recipe;
    const gpuCsv = `${podFolder(this.#plan.recipe)}/gpu_train.csv`;
    return await this.#begin(
      pod,
      { ...this.#training(), id, cwd: train.dir, command: train.command, gpuCsv },
      signal,
    );
  }

  async look(pod: PodAddress, signal: AbortSignal) {
    const { train } = this.#plan.recipe;
    const place = { checkpoints: train.checkpoints, marker: train.commit_marker };
    const answer = await this.#connection.run(pod, lookScript(this.#training(), place), signal);
    if (!answer.ok) return answer;
    const look = readTrainingLook(answer.value);
    const expected = train.expected_checkpoint ?? train.steps - 1;
    return look === undefined
      ? notUnderstood
      : { ok: true, value: trainingStatus(look, train.progress, expected) } as const;
  }

  async listCheckpoint(
    pod: PodAddress,
    step: number,
    signal: AbortSignal,
  ): Promise<Done<readonly PodFile[]>> {
    const script = listScript(this.#checkpoint(step), this.#plan.recipe.hub.exclude);
    const answer = await this.#connection.run(pod, script, signal);
    if (!answer.ok) return { ...answer, retry: true };
    const listing = readListing(answer.value);
    if (listing.ok) return { ok: true, value: listing.files };
    return {
      ok: false,
      detail: `${listing.problem} ${listing.path}`.trim(),
      retry: listing.problem !== "type",
    };
  }

  async beginUpload(
    pod: PodAddress,
    { id, step, seconds }: { id: string; step: number; seconds: number },
    signal: AbortSignal,
  ): Promise<Done<null>> {
    const { recipe, hub } = this.#plan;
    const task = uploadTask({
      repo: recipe.hub.repository,
      folder: String(step),
      checkpoint: this.#checkpoint(step),
      exclude: recipe.hub.exclude,
      seconds,
      endpoint: hub.endpoint,
      scratch: podFolder(recipe),
    });
    const request = { ...this.#task("upload"), id, cwd: recipe.train.dir, token: hub.token, ...task };
    const begun = await this.#begin(pod, request, signal);
    if (!begun.ok) return { ...begun, retry: true };
    return begun.value.kind === "refused"
      ? { ok: false, detail: begun.value.detail, retry: false }
      : { ok: true, value: null };
  }

  async lookUpload(pod: PodAddress, id: string, signal: AbortSignal) {
    const look = await this.#look(pod, this.#task("upload"), id, signal);
    if (!look.ok) return look;
    const task = seen(look.value);
    if (task.running) return { ok: true, value: { ...task, commit: null, final: false } } as const;
    await this.#connection.run(pod, forgetTokenScript(id), signal);
    const outcome = readUploadOutcome(look.value.logTail);
    const place = { repo: this.#plan.recipe.hub.repository, folder: "" };
    const said = this.#texts.sentence(uploadMessage(outcome, place));
    const commit = "commit" in outcome ? outcome.commit : null;
    return {
      ok: true,
      value: { ...task, said, commit, final: finalRefusals.includes(outcome.kind) },
    } as const;
  }

  async stopTraining(pod: PodAddress, signal: AbortSignal): Promise<Reply<null>> {
    return await this.#within(signal, async (limited) => {
      const answer = await this.#connection.run(pod, stopTaskScript(this.#training(), 10), limited);
      if (!answer.ok) return answer;
      const outcome = readStoppedTask(answer.value);
      return outcome === "stopped" ? { ok: true, value: null } : { ok: false, detail: outcome };
    });
  }

  async fetchLogs(pod: PodAddress, signal: AbortSignal): Promise<Reply<null>> {
    const ours = podFolder(this.#plan.recipe);
    const tasks = this.#steps.flatMap((step) => step.kind === "task" ? [`${step.name}.log`] : []);
    const wanted: readonly (readonly [from: string, to: string])[] = [
      [this.#plan.recipe.train.log, "train.log"],
      [`${ours}/gpu_train.csv`, "gpu_train.csv"],
      ...[...tasks, "upload.log"].map((name) => [`${ours}/${name}`, name] as const),
      [`${watchdogFolder(this.#plan.recipe)}/log`, "watchdog.log"],
    ];
    return await this.#within(signal, async (limited) => {
      for (const [from, to] of wanted) {
        const fault = await fetchFile(this.#connection, pod, from, join(this.#plan.folder, to), limited);
        if (fault !== undefined) return { ok: false, detail: fault };
      }
      return { ok: true, value: null };
    });
  }

  async rescue(pod: PodAddress, step: number, files: readonly PodFile[], signal: AbortSignal) {
    const source = podSource(this.#connection, pod, this.#checkpoint(step));
    return await bringHome(this.#deps, this.#texts, source, {
      localDir: this.#plan.localDir,
      step,
      files,
      by: pod.name,
    }, signal);
  }

  #task(name: string): PodTask {
    const folder = podFolder(this.#plan.recipe);
    return { folder, name, log: `${folder}/${name}.log` };
  }

  #training(): PodTask {
    return { ...this.#task("train"), log: this.#plan.recipe.train.log };
  }

  #checkpoint(step: number): string {
    return `${this.#plan.recipe.train.checkpoints}/${step}`;
  }

  async #begin(pod: PodAddress, request: TaskRequest, signal: AbortSignal): Promise<Reply<Begun>> {
    const answer = await this.#connection.run(pod, startTaskScript(request), signal);
    if (!answer.ok) return answer;
    const outcome = readStartedTask(answer.value);
    if (outcome === "started") return { ok: true, value: { kind: "started" } };
    // It may have been slow; the same id starts nothing twice.
    if (outcome === "not_started") return notUnderstood;
    return { ok: true, value: { kind: "refused", detail: outcome } };
  }

  async #look(pod: PodAddress, task: PodTask, id: string, signal: AbortSignal): Promise<Reply<TrainingLook>> {
    const answer = await this.#connection.run(pod, lookScript(task), signal);
    if (!answer.ok) return answer;
    const look = readTrainingLook(answer.value);
    return look === undefined || (look.known && look.id !== id) ? notUnderstood : { ok: true, value: look };
  }

  async #send(
    pod: PodAddress,
    step: PreparationStep & { kind: "send" },
    signal: AbortSignal,
  ): Promise<Reply<Begun>> {
    const entries = await listForSending(this.#plan.root, step);
    const archive = packProject(entries, randomToken(this.#deps), this.#deps.clock.now());
    const answer = await this.#connection.run(pod, {
      text: `${unpackShell}mark section push; unpack 2>&1; mark end push $?\nmark done\n`,
      values: { remote_dir: step.to, seal: archive.seal },
      payload: archive.stream,
      seconds: transferSeconds(archive.bytes),
    }, signal);
    if (!answer.ok) return answer;
    const push = sectionOf(answer.value, "push");
    if (push?.status === 0) return { ok: true, value: { kind: "done" } };
    const detail = lastLines(push?.text ?? "", 1)[0] ?? "";
    // A stream that was cut is sent anew; a full disk stays full.
    return push?.status === 4 ? { ok: false, detail } : { ok: true, value: { kind: "refused", detail } };
  }

  /** A Pod that costs money does not wait long for farewells. */
  async #within<T>(
    signal: AbortSignal,
    work: (limited: AbortSignal) => Promise<Reply<T>>,
  ): Promise<Reply<T>> {
    const late = new AbortController();
    const done = new AbortController();
    this.#deps.clock.sleep(closingSeconds * 1000, done.signal).then(() =>
      done.signal.aborted || late.abort()
    );
    try {
      return await work(AbortSignal.any([signal, late.signal]));
    } finally {
      done.abort();
    }
  }
}

const notUnderstood = { ok: false, detail: "the answer makes no sense" } as const;

function seen({ running, exitCode, logTail }: TrainingLook): TaskSeen {
  return { running, exitCode, said: lastLines(logTail, 1)[0] ?? "" };
}
