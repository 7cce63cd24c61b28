import type { RemoteConfig, ServerConfig } from "../../lib/config/remote.ts";
import { remoteSchema } from "../../lib/config/remote.ts";
import type { ReachedServer, UnreachableServer } from "../../lib/gpu/survey.ts";
import type { GpuState, JudgedGpu, Reason } from "../../lib/gpu/types.ts";
import { uuidA } from "./look.ts";

/** A server of the specification's configuration, with what a test changes. */
export function server(name: string, parts: Partial<ServerConfig> = {}): ServerConfig {
  return {
    name,
    address: "192.168.23.14",
    user: "hasegawa",
    priority: 1,
    remote_dir: "~/work/TIASJudgeModel",
    data_dir: "~/data/TIASJudgeModel",
    uv: "~/.local/bin/uv",
    data_ready: true,
    ...parts,
  };
}

export function configOf(servers: readonly ServerConfig[], parts: Partial<RemoteConfig> = {}): RemoteConfig {
  return { ...remoteSchema.parse({ jump_host: "labpc", servers }), ...parts };
}

const reasons: Readonly<Record<GpuState, Reason>> = {
  unused: "below_thresholds",
  idle_held: "compute_process",
  busy: "utilization_reached",
  unknown: "no_sample",
};

/** A judged GPU in `state`. */
export function judged(index: number, state: GpuState, parts: Partial<JudgedGpu> = {}): JudgedGpu {
  return {
    index,
    uuid: uuidA.replace("GPU-aaaaaaaa", `GPU-${String(index).padStart(8, "0")}`),
    name: "NVIDIA A100",
    memoryUsedMib: 3,
    memoryTotalMib: 81920,
    utilizationPercent: 0,
    samples: [],
    processes: [],
    processListReadable: true,
    jobs: [],
    verdict: {
      state,
      reason: reasons[state],
      pattern: "unused",
      memoryUsedMaxMib: 3,
      utilizationMeanPercent: 0,
      utilizationMaxPercent: 0,
      samples: 20,
    },
    ...parts,
  };
}

export function reachedServer(
  config: ServerConfig,
  gpus: readonly JudgedGpu[],
  parts: Partial<ReachedServer> = {},
): ReachedServer {
  return {
    server: config,
    reachable: true,
    observed: true,
    gpus,
    fault: null,
    notes: [],
    jobs: [],
    now: new Date(1_790_000_000_000),
    terminalForced: false,
    ...parts,
  };
}

export function unreachableServer(
  config: ServerConfig,
  failure: UnreachableServer["failure"] = { kind: "refused", detail: "" },
): UnreachableServer {
  return { server: config, reachable: false, failure };
}
