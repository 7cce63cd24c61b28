/** A project whose recipe trains on the simulated Pods: a few seconds of shell in the place of a night of openpi. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify } from "yaml";
import type { FakeHub } from "./fake_hub.ts";
import { pythonWithHub } from "./python.ts";
import type { RunpodLab } from "./runpod_lab.ts";

export interface TrainProjectOptions {
  /** Seconds that the training takes. */
  readonly trainingSec?: number;
  readonly exitCode?: number;
  /** Keys of train.yaml in the place of the laboratory's own. */
  readonly recipe?: Readonly<Record<string, unknown>>;
}

export interface TrainProject {
  readonly root: string;
  /** The environment of `train`, `stop` and `sweep`, keys and all. */
  readonly env: Readonly<Record<string, string>>;
  readonly localDir: string;
}

/** What a training prints and leaves behind, as openpi does: a log, checkpoints, and the last one's commit marker. */
function trainingScript(checkpoints: string, seconds: number, exitCode: number): string {
  return `
mkdir -p ${checkpoints}
turn=0
while [ $turn -lt ${seconds} ]; do
  echo "Step $((turn * 100)): grad_norm=1.1, loss=0.$((90 - turn)), param_norm=1803.7"
  turn=$((turn + 1)); sleep 1
done
[ ${exitCode} = 0 ] || { echo "Traceback (most recent call last):"; exit ${exitCode}; }
mkdir -p ${checkpoints}/.new/params/d ${checkpoints}/.new/train_state ${checkpoints}/.new/assets
head -c 300000 /dev/urandom >${checkpoints}/.new/params/d/0001
head -c 2000 /dev/urandom >${checkpoints}/.new/train_state/0001
echo '{"mean": [0.1]}' >${checkpoints}/.new/assets/norm_stats.json
echo '{"commit_timestamp_nsecs": 1796076000000000000}' >${checkpoints}/.new/_CHECKPOINT_METADATA
mv ${checkpoints}/.new ${checkpoints}/1499
`;
}

export async function makeTrainProject(
  pods: RunpodLab,
  hub: FakeHub,
  options: TrainProjectOptions = {},
): Promise<TrainProject> {
  const root = await Deno.makeTempDir({ dir: pods.lab.root, prefix: "train-" });
  const checkpoints = join(pods.volume, "checkpoints");
  await Deno.mkdir(join(root, "configs"));
  await Deno.mkdir(join(root, "code/sub"), { recursive: true });
  await Deno.writeTextFile(join(root, "code/prep.sh"), `test -f sub/data.txt && mkdir -p ${checkpoints}\n`);
  await Deno.writeTextFile(join(root, "code/sub/data.txt"), "training data\n");
  const recipe = {
    name_prefix: "tias-train",
    api_url: pods.url,
    image: "runpod/pytorch:1.0.2-cu1281-torch280-ubuntu2404",
    start_command: ["sleep", "100000"],
    gpus: [
      { id: "NVIDIA A40", attempts: 2, pause_sec: 1 },
      { id: "NVIDIA L40S", attempts: 2, pause_sec: 1 },
    ],
    disk_gb: 20,
    volume: { size_gb: 20, path: pods.volume },
    watch_sec: 1,
    max_hourly_usd: 1,
    max_total_usd: 10,
    ssh: {
      identity: pods.identity,
      public_key: (await Deno.readTextFile(`${pods.identity}.pub`)).trim(),
      connect_timeout_sec: 5,
    },
    setup: ["echo setting up"],
    send: [{ from: "code", to: join(pods.volume, "code") }],
    prepare: `cd ${pods.volume}/code && sh prep.sh`,
    train: {
      command: trainingScript(checkpoints, options.trainingSec ?? 3, options.exitCode ?? 0),
      dir: pods.volume,
      log: join(pods.volume, "logs/train.log"),
      checkpoints,
      steps: 1500,
    },
    hub: { repository: "hasegawa/pi05_trim_corr", needs_gb: 0.001 },
    local_dir: "checkpoints/pi05",
    notification: false,
    ...options.recipe,
  };
  await Deno.writeTextFile(join(root, "configs/train.yaml"), stringify(recipe));
  for (const server of pods.lab.servers) {
    await Deno.writeTextFile(join(server.home, ".local/bin/python3"), await python(), { mode: 0o755 });
  }
  return {
    root,
    env: { RUNPOD_API_KEY: pods.api.options.accountKey, HF_TOKEN: hub.token, HF_ENDPOINT: hub.url },
    localDir: join(root, "checkpoints/pi05"),
  };
}

/** The real library where it is installed, else the stand-in. */
async function python(): Promise<string> {
  if (pythonWithHub !== undefined) return `#!/bin/sh\nexec ${pythonWithHub} "$@"\n`;
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  const { denoDir } = JSON.parse(new TextDecoder().decode(stdout)) as { denoDir: string };
  const program = fileURLToPath(new URL("uploader_stand_in.ts", import.meta.url));
  return `#!/bin/sh
case $2 in *"import huggingface_hub; "*) exit 0 ;; esac
DENO_DIR='${denoDir}' exec '${Deno.execPath()}' run -q -A '${program}'
`;
}
