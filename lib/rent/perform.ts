import type { TrainConfig } from "../config/train.ts";
import type { Clock } from "../system/context.ts";
import { createRequest } from "./create_request.ts";
import type { Begun, Done, Event, Reply, TaskSeen, UploadSeen } from "./event.ts";
import type { Effect, Ledger } from "./ledger.ts";
import type { LedgerStore } from "./ledger_file.ts";
import type { ApiResult, RunpodClient } from "./runpod_client.ts";
import { isTerminated, type Pod } from "./runpod_schema.ts";
import type { PodFile, TrainingStatus } from "./types.ts";
import type { WatchdogSign } from "./watchdog_link.ts";

/** Where a Pod is reached. */
export interface PodAddress {
  /** The Pod's full name; its host key is remembered under it. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  /** Host keys are remembered anew after each restart of the container. */
  readonly restarts: number;
}

/** What can be done on the Pod. Nothing throws for what the way there or the Pod does. */
export interface PodSide {
  sign(pod: PodAddress, signal: AbortSignal): Promise<Reply<WatchdogSign | undefined>>;
  extend(pod: PodAddress, until: number, signal: AbortSignal): Promise<Reply<WatchdogSign | undefined>>;
  beginStep(pod: PodAddress, index: number, id: string, signal: AbortSignal): Promise<Reply<Begun>>;
  lookStep(pod: PodAddress, index: number, id: string, signal: AbortSignal): Promise<Reply<TaskSeen>>;
  beginTraining(pod: PodAddress, id: string, signal: AbortSignal): Promise<Reply<Begun>>;
  look(pod: PodAddress, signal: AbortSignal): Promise<Reply<TrainingStatus>>;
  listCheckpoint(pod: PodAddress, step: number, signal: AbortSignal): Promise<Done<readonly PodFile[]>>;
  beginUpload(
    pod: PodAddress,
    upload: { readonly id: string; readonly step: number; readonly seconds: number },
    signal: AbortSignal,
  ): Promise<Done<null>>;
  lookUpload(pod: PodAddress, id: string, signal: AbortSignal): Promise<Reply<UploadSeen>>;
  stopTraining(pod: PodAddress, signal: AbortSignal): Promise<Reply<null>>;
  fetchLogs(pod: PodAddress, signal: AbortSignal): Promise<Reply<null>>;
  /** Copies a checkpoint over ssh, compares it, and places it. */
  rescue(
    pod: PodAddress,
    step: number,
    files: readonly PodFile[],
    signal: AbortSignal,
  ): Promise<Done<{ readonly folder: string }>>;
}

/** What can be done with the Hub from here. */
export interface HubSide {
  /** Whether the repository is private and holds exactly these files at that commit. */
  compare(step: number, files: readonly PodFile[], commit: string, signal: AbortSignal): Promise<Done<null>>;
  /** Downloads, compares and places. */
  download(
    step: number,
    files: readonly PodFile[],
    commit: string,
    signal: AbortSignal,
  ): Promise<Done<{ readonly folder: string }>>;
}

export interface RentalWorld {
  readonly clock: Clock;
  readonly recipe: TrainConfig;
  readonly publicKey: string;
  readonly api: Pick<RunpodClient, "createPod" | "listPods" | "getPod" | "deletePod">;
  readonly pod: PodSide;
  readonly hub: HubSide;
  readonly store: LedgerStore;
  /** Writes the result and tells the user. */
  finish(ledger: Ledger): Promise<void>;
}

/** Does one effect and tells what came of it. */
export async function perform(
  world: RentalWorld,
  ledger: Ledger,
  effect: Effect,
  signal: AbortSignal,
): Promise<Event> {
  const { api, pod: podSide, hub, store, recipe } = world;
  const now = () => Math.floor(world.clock.now().getTime() / 1000);
  const event = async <Kind extends Event["kind"]>(
    kind: Kind,
    result: Promise<(Event & { kind: Kind; result: unknown })["result"]>,
  ) => {
    const value = await result;
    return { kind, result: value, at: now() } as unknown as Event;
  };
  const address = () => addressOf(ledger);
  const step = ledger.plan.expectedCheckpoint;
  switch (effect.do) {
    case "create":
      return await event(
        "create",
        api.createPod(createRequest(recipe, {
          name: ledger.name,
          gpu: effect.gpu,
          publicKey: world.publicKey,
          deadline: effect.deadline,
          extensionSec: ledger.plan.extensionSec,
          form: ledger.form,
        })),
      );
    case "find":
    case "settle":
      return await event(effect.do, podsOfName(world, ledger.name, signal));
    case "inspect":
    case "check":
      return await event(effect.do, api.getPod(ledger.pod?.id ?? "", signal));
    case "prove":
      return await event("prove", podSide.sign(address(), signal));
    case "begin_step":
      return await event(
        "begin_step",
        podSide.beginStep(address(), effect.index, stepId(ledger, effect.index), signal),
      );
    case "look_step":
      return await event(
        "look_step",
        podSide.lookStep(address(), effect.index, stepId(ledger, effect.index), signal),
      );
    case "begin_training":
      return await event("begin_training", podSide.beginTraining(address(), ledger.ids.train, signal));
    case "look":
      return await event("look", podSide.look(address(), signal));
    case "extend":
      return await event("extend", podSide.extend(address(), effect.until, signal));
    case "list_checkpoint":
      return await event("list_checkpoint", listAndKeep(world, address(), step, signal));
    case "begin_upload": {
      const seconds = Math.max(60, ledger.deadline - now() - 20 * 60);
      const upload = { id: ledger.ids.uploads[effect.index] ?? "", step, seconds };
      return await event("begin_upload", podSide.beginUpload(address(), upload, signal));
    }
    case "look_upload":
      return await event(
        "look_upload",
        podSide.lookUpload(address(), ledger.ids.uploads[effect.index] ?? "", signal),
      );
    case "compare":
      return await event(
        "compare",
        store.loadList().then((files) => hub.compare(step, files, ledger.commit ?? "", signal)),
      );
    case "rescue":
      return await event(
        "rescue",
        store.loadList().then((files) => podSide.rescue(address(), step, files, signal)),
      );
    case "stop_training":
      return await event("stop_training", podSide.stopTraining(address(), signal));
    case "fetch_logs":
      return await event("fetch_logs", podSide.fetchLogs(address(), signal));
    case "delete":
      return await event("delete", api.deletePod(effect.id));
    case "read_back": {
      const id = ledger.pod?.id;
      const byId = id === undefined ? null : await api.getPod(id, signal);
      const list = await podsOfName(world, ledger.name, signal);
      return { kind: "read_back", at: now(), result: { byId, list } };
    }
    case "download":
      return await event(
        "download",
        store.loadList().then((files) => hub.download(step, files, ledger.commit ?? "", signal)),
      );
    case "wait":
      await world.clock.sleep(effect.seconds * 1000, signal);
      return { kind: "wait", at: now(), result: null };
    case "finish":
      await world.finish(ledger);
      return { kind: "finish", at: now(), result: null };
  }
}

async function podsOfName(
  { api }: RentalWorld,
  name: string,
  signal: AbortSignal,
): Promise<ApiResult<readonly Pod[]>> {
  const list = await api.listPods(signal);
  if (!list.ok) return list;
  return { ok: true, value: list.value.pods.filter((pod) => pod.name === name && !isTerminated(pod)) };
}

async function listAndKeep(
  world: RentalWorld,
  pod: PodAddress,
  step: number,
  signal: AbortSignal,
): Promise<Done<{ files: number; bytes: number }>> {
  const list = await world.pod.listCheckpoint(pod, step, signal);
  if (!list.ok) return list;
  await world.store.saveList(list.value);
  return {
    ok: true,
    value: { files: list.value.length, bytes: list.value.reduce((sum, { size }) => sum + size, 0) },
  };
}

function stepId(ledger: Ledger, index: number): string {
  return ledger.ids.steps[index] ?? "";
}

function addressOf({ name, pod }: Ledger): PodAddress {
  if (pod?.ssh == null) throw new Error("Cannot reach the Pod: its address is not known yet");
  return { name, ...pod.ssh, restarts: pod.restarts };
}
