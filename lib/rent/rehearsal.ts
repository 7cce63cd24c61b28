import type { TrainConfig } from "../config/train.ts";
import type { Clock } from "../system/context.ts";
import type { Begun, Done, Reply } from "./event.ts";
import type { Ledger } from "./ledger.ts";
import type { PodSide, RentalWorld } from "./perform.ts";
import type { ApiResult } from "./runpod_client.ts";
import type { Pod } from "./runpod_schema.ts";
import type { PodFile, TrainingStatus } from "./types.ts";
import { podVariable } from "./watchdog_script.ts";

/** A clock that does not wait: each sleep is over at once, and it is that much later. */
export function hastyClock(start: Date): Clock {
  let now = start.getTime();
  return {
    now: () => new Date(now),
    sleep(milliseconds, signal) {
      if (!signal?.aborted) now += milliseconds;
      return Promise.resolve();
    },
  };
}

/** Looks after which the training of a rehearsal has ended. */
const looksNeeded = 3;

/**
 * A world in which everything goes well and nothing is touched: no network, no ssh, no Hub, no file. `--dry-run` walks
 * the real steps through it.
 */
export function rehearsal(
  recipe: TrainConfig,
  publicKey: string,
  start: Date,
  finish: (ledger: Ledger) => Promise<void>,
): RentalWorld {
  const clock = hastyClock(start);
  let list: readonly PodFile[] = [];
  return {
    clock,
    recipe,
    publicKey,
    finish,
    ...rehearsedPods(recipe),
    hub: {
      compare: () => succeeded(null),
      download: (step) => succeeded({ folder: `${recipe.local_dir}/${step}` }),
    },
    store: {
      save: () => Promise.resolve(),
      saveList(files) {
        list = files;
        return Promise.resolve();
      },
      loadList: () => Promise.resolve(list),
    },
  };
}

/** One Pod, which is there at once and gone at once; its watchdog keeps to what the request said. */
function rehearsedPods(recipe: TrainConfig): { api: RentalWorld["api"]; pod: PodSide } {
  let pod: Pod | null = null;
  let until = 0;
  let looks = 0;
  const answer = <T>(value: T): Promise<ApiResult<T>> => Promise.resolve({ ok: true, value });
  const reply = <T>(value: T): Promise<Reply<T>> => Promise.resolve({ ok: true, value });
  const started = () => reply<Begun>({ kind: "started" });
  const ended = { running: false, exitCode: 0, said: "" };
  const sign = () => reply({ ageSec: 1, until, proof: 200 });
  const { train } = recipe;
  const checkpoint = train.expected_checkpoint ?? train.steps - 1;
  return {
    api: {
      createPod(body) {
        const { name, env, gpu } = body as { name: string; env: Record<string, string>; gpu: { id: string } };
        until = Number(env[podVariable.deadline]);
        pod = {
          id: "rehearsal",
          name,
          status: "RUNNING",
          env,
          costUsd: recipe.max_hourly_usd / 2,
          gpu: gpu.id,
          uptimeSec: null,
          ssh: { host: "192.0.2.1", port: 22 },
        };
        return answer(pod);
      },
      listPods: () => answer({ pods: pod === null ? [] : [pod], serverTime: null }),
      getPod: () => answer(pod),
      deletePod() {
        pod = null;
        return answer("deleted" as const);
      },
    },
    pod: {
      sign,
      extend(_pod, later) {
        until = later;
        return sign();
      },
      beginStep: started,
      lookStep: () => reply(ended),
      beginTraining: started,
      look() {
        const over = ++looks >= looksNeeded;
        const step = Math.floor(checkpoint * looks / looksNeeded);
        const status: TrainingStatus = {
          running: !over,
          exitCode: over ? 0 : null,
          logAgeSec: 1,
          bar: "",
          step,
          loss: 1 / looks,
          checkpoint: over ? checkpoint : null,
          committed: over,
        };
        return reply(status);
      },
      listCheckpoint: () => succeeded([rehearsedFile(train.commit_marker)]),
      beginUpload: () => succeeded(null),
      lookUpload: () => reply({ ...ended, commit: "0".repeat(40), final: false }),
      stopTraining: () => reply(null),
      fetchLogs: () => reply(null),
      rescue: (_pod, step) => succeeded({ folder: `${recipe.local_dir}/${step}` }),
    },
  };
}

function rehearsedFile(path: string): PodFile {
  return { path, size: 0, sha256: "0".repeat(64), gitSha1: "0".repeat(40) };
}

function succeeded<T>(value: T): Promise<Done<T>> {
  return Promise.resolve({ ok: true, value });
}
