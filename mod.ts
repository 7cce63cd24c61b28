/**
 * The library behind the commands: look over shared GPU servers from a program of one's own. It needs no more than the
 * permissions of `gpus` and the right to read the project.
 *
 * @example Print every free GPU, and on standard error whatever could not be looked at
 * ```ts
 * import { loadTexts, openProject, realContext, surveyServers, UserError } from "./mod.ts";
 *
 * const world = realContext();
 * try {
 *   const { config } = await openProject(world, undefined);
 *   const { observe_sec: seconds, sample_interval_ms: intervalMs } = config.gpu_free;
 *   for (const report of await surveyServers(world, config, () => ({ seconds, intervalMs }))) {
 *     const { name } = report.server;
 *     if (!report.reachable) {
 *       console.error(`${name}: ${report.failure.kind}`);
 *       continue;
 *     }
 *     if (report.fault !== null) console.error(`${name}: ${report.fault.kind}`);
 *     for (const { index, verdict } of report.gpus) {
 *       if (verdict.state === "unused") console.log(`${name} ${index}`);
 *     }
 *   }
 * } catch (error) {
 *   if (!(error instanceof UserError)) throw error;
 *   console.error((await loadTexts("en")).sentence(error.text));
 *   Deno.exitCode = error.exit;
 * }
 * ```
 *
 * @module
 */
export { openProject, type Project } from "./lib/config/project.ts";
export type { RemoteConfig, ServerConfig } from "./lib/config/remote.ts";
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
  GpuList,
  GpuListFault,
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
export type { SshDeps } from "./lib/ssh/connection.ts";
export type { ConnectionFailure, FailureKind } from "./lib/ssh/failure.ts";
export type {
  Clock,
  Context,
  EnvironmentName,
  Input,
  Output,
  ProcessSpec,
  ProcessStatus,
  RunningProcess,
} from "./lib/system/context.ts";
export { ExitCode, type Message, message, UserError } from "./lib/system/errors.ts";
export { realContext } from "./lib/system/real.ts";
export type { Language, MessageId, MessageParams } from "./lib/text/message.ts";
export { loadTexts } from "./lib/text/speaker.ts";
export type { Texts } from "./lib/text/texts.ts";
