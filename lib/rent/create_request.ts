import type { TrainConfig } from "../config/train.ts";
import { shellQuote } from "../ssh/quote.ts";
import { podVariable, watchdogScript } from "./watchdog_script.ts";
import { watchdogTickSec } from "./watchdog_link.ts";

/** How the start command is told: the exec form, or the one text of accounts that do not know it yet. */
export type StartForm = "exec" | "args";

export interface PodRequest {
  readonly name: string;
  readonly gpu: string;
  /** The public half of the ssh identity. */
  readonly publicKey: string;
  /** Unix time at which the watchdog deletes the Pod. */
  readonly deadline: number;
  readonly extensionSec: number;
  readonly form: StartForm;
}

/** Our folder on the Pod's volume; its tasks and its watchdog live there. */
export function podFolder(recipe: Pick<TrainConfig, "volume">): string {
  return `${recipe.volume.path.replace(/\/+$/, "")}/.tias-remote`;
}

export function watchdogFolder(recipe: Pick<TrainConfig, "volume">): string {
  return `${podFolder(recipe)}/watchdog`;
}

export function watchdogOf(recipe: Pick<TrainConfig, "api_url" | "volume">): string {
  return watchdogScript({
    apiUrl: recipe.api_url,
    folder: watchdogFolder(recipe),
    tickSec: watchdogTickSec,
  });
}

/** The body of `POST /v2/pods`. v2 refuses every field that it does not know. */
export function createRequest(recipe: TrainConfig, pod: PodRequest): Readonly<Record<string, unknown>> {
  const watchdog = watchdogOf(recipe);
  return {
    name: pod.name,
    image: recipe.image,
    gpu: { id: pod.gpu, count: 1 },
    cloud: recipe.cloud,
    disk: recipe.disk_gb,
    mounts: { persistent: { size: recipe.volume.size_gb, path: recipe.volume.path } },
    // Without it there is no direct ssh, and v2 has no default.
    ports: ["22/tcp"],
    env: {
      PUBLIC_KEY: pod.publicKey,
      [podVariable.name]: pod.name,
      [podVariable.deadline]: String(pod.deadline),
      [podVariable.extension]: String(pod.extensionSec),
    },
    ...(pod.form === "exec"
      ? { entrypoint: ["sh", "-c"], cmd: [watchdog, "tias-remote", ...recipe.start_command] }
      : { args: argumentText(watchdog, recipe.start_command) }),
  };
}

/** One line of plain characters, so that it survives whoever splits it into words. */
function argumentText(script: string, start: readonly string[]): string {
  const bytes = new TextEncoder().encode(script);
  const base64 = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return [
    "sh",
    "-c",
    shellQuote(`eval "$(printf %s ${base64} | base64 -d)"`),
    "tias-remote",
    ...start.map(shellQuote),
  ].join(" ");
}
