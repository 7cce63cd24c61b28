import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import type { Job } from "../job/types.ts";
import { runScript, type SshDeps } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import { judgeGpu } from "./judge.ts";
import { type Observation, probeScript } from "./probe.ts";
import { readServer } from "./reading.ts";
import type { GpuList, JudgedGpu } from "./types.ts";

/** One server's part of a survey. */
export type ServerReport = UnreachableServer | ReachedServer;

export interface UnreachableServer {
  readonly server: ServerConfig;
  readonly reachable: false;
  readonly failure: ConnectionFailure;
}

export interface ReachedServer {
  readonly server: ServerConfig;
  readonly reachable: true;
  /** Whether its GPUs were looked at; when not, `gpus` is empty for that reason. */
  readonly observed: boolean;
  readonly gpus: readonly JudgedGpu[];
  readonly fault: GpuList["fault"];
  readonly notes: readonly string[];
  readonly jobs: readonly Job[];
  readonly now: Date | null;
  readonly terminalForced: boolean;
}

/**
 * Looks at all servers at once, one ssh connection each. `observe` tells for each server how long to watch its GPUs;
 * `null` asks for its jobs only. A server that cannot be reached is a report, not an error.
 */
export function surveyServers(
  deps: SshDeps,
  config: RemoteConfig,
  observe: (server: ServerConfig) => Observation | null,
): Promise<ServerReport[]> {
  return Promise.all(config.servers.map((server) => surveyServer(deps, config, server, observe(server))));
}

async function surveyServer(
  deps: SshDeps,
  config: RemoteConfig,
  server: ServerConfig,
  observation: Observation | null,
): Promise<ServerReport> {
  const result = await runScript(deps, config, server, probeScript(server.remote_dir, observation));
  // A server that fell silent in the middle has still told what came before: nvidia-smi hanging beyond any signal.
  const transcript = result.ok ? result.value : result.partial;
  if (transcript === undefined || (!result.ok && transcript.sections.length === 0)) {
    if (result.ok) throw new Error("unreachable");
    return { server, reachable: false, failure: result.failure };
  }
  if (!result.ok && result.failure.kind !== "silent") {
    return { server, reachable: false, failure: result.failure };
  }
  const reading = readServer(transcript, observation?.seconds === 0);
  return {
    server,
    reachable: true,
    observed: observation !== null,
    gpus: reading.gpus.map((gpu) => ({ ...gpu, verdict: judgeGpu(gpu, config.gpu_free) })),
    fault: observation === null ? null : reading.gpuList.fault,
    notes: reading.gpuList.notes,
    jobs: reading.jobs,
    now: reading.now,
    terminalForced: reading.terminalForced,
  };
}

/** The servers that answered. */
export function reached(reports: readonly ServerReport[]): ReachedServer[] {
  return reports.filter((report) => report.reachable);
}
