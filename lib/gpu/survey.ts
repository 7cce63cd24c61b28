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

/** A server whose ssh connection gave no answer. */
export interface UnreachableServer {
  /** The very object of the configuration. */
  readonly server: ServerConfig;
  /** No answer at all is also no word on its GPUs: none of them is free. */
  readonly reachable: false;
  /** Some kinds have their cause on this machine and then concern every server alike. */
  readonly failure: ConnectionFailure;
}

/** A server that answered; its nvidia-smi may not have. */
export interface ReachedServer {
  /** The very object of the configuration. */
  readonly server: ServerConfig;
  /** True as well when the server fell silent in the middle: what it had said before counts. */
  readonly reachable: true;
  /** Whether its GPUs were looked at; when not, `gpus` is empty for that reason. */
  readonly observed: boolean;
  /** In nvidia-smi's order. */
  readonly gpus: readonly JudgedGpu[];
  /** Why there is no GPU list; null when there is one or none was asked for. */
  readonly fault: GpuList["fault"];
  /** Warnings of nvidia-smi, made safe to show. */
  readonly notes: readonly string[];
  /** tias-remote's own that run, are lost, or ended in the last two days; strangers' processes are with the GPUs. */
  readonly jobs: readonly Job[];
  /** The server's own clock when it was asked, by which the ages of its jobs are to be told; null when unread. */
  readonly now: Date | null;
  /** Whether ssh was made to give a terminal (`RequestTTY force`), which would spoil the transfer of an archive. */
  readonly terminalForced: boolean;
}

/**
 * Looks at all servers at once, one ssh connection each. `observe` tells for each server how long to watch its GPUs;
 * `null` asks for its jobs only. A server that cannot be reached is a report, not an error. The reports come in the
 * order of the configuration.
 *
 * @throws {UserError} when there is no ssh program, or the sandbox does not allow it
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
