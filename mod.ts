/**
 * The library behind the commands: look over shared GPU servers from a program of one's own.
 *
 * @example Print every free GPU
 * ```ts
 * import { openProject, realContext, surveyServers } from "./mod.ts";
 *
 * const world = realContext();
 * const { config } = await openProject(world, undefined);
 * for (const report of await surveyServers(world, config, () => ({ seconds: 10, intervalMs: 500 }))) {
 *   if (!report.reachable) continue;
 *   for (const gpu of report.gpus) {
 *     if (gpu.verdict.state === "unused") await world.out.write(`${report.server.name} ${gpu.index}\n`);
 *   }
 * }
 * ```
 *
 * @module
 */
export { openProject, type Project } from "./lib/config/project.ts";
export { type RemoteConfig, remoteSchema, type ServerConfig } from "./lib/config/remote.ts";
export { judgeGpu, type Thresholds } from "./lib/gpu/judge.ts";
export type { Observation } from "./lib/gpu/probe.ts";
export { type Candidate, selectGpu, type Selection, type Wish } from "./lib/gpu/select.ts";
export {
  type ReachedServer,
  type ServerReport,
  surveyServers,
  type UnreachableServer,
} from "./lib/gpu/survey.ts";
export type {
  Choice,
  ComputeProcess,
  GpuReading,
  GpuRow,
  GpuState,
  JudgedGpu,
  Reason,
  Sample,
  UsagePattern,
  Verdict,
} from "./lib/gpu/types.ts";
export type { Job } from "./lib/job/types.ts";
export type { Context } from "./lib/system/context.ts";
export { ExitCode, type Message, message, UserError } from "./lib/system/errors.ts";
export { realContext } from "./lib/system/real.ts";
