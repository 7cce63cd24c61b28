import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import type { Observation } from "../gpu/probe.ts";
import { type Candidate, selectGpu } from "../gpu/select.ts";
import { type ServerReport, surveyServers } from "../gpu/survey.ts";
import { isLocal } from "../ssh/failure.ts";
import type { Context } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import type { CommonFlags } from "./flags.ts";
import { recentJobs } from "./job_view.ts";
import { warn } from "./report.ts";
import { surveyJson } from "./survey_json.ts";
import { failureText } from "./survey_view.ts";
import { whileWaiting } from "./waiting.ts";

/** What was typed behind `gpus` or `status`. */
export interface SurveyFlags extends CommonFlags {
  readonly observe?: number;
  readonly json?: boolean;
}

/** What it means. */
export interface SurveyPlan {
  readonly config: RemoteConfig;
  readonly observation: Observation;
  readonly json: boolean;
}

export function planSurvey(flags: SurveyFlags, config: RemoteConfig): SurveyPlan {
  return { config, observation: observationOf(flags.observe, config), json: flags.json ?? false };
}

/** How long to watch: as the command line says, else as the configuration does. */
export function observationOf(seconds: number | undefined, { gpu_free }: RemoteConfig): Observation {
  return { seconds: seconds ?? gpu_free.observe_sec, intervalMs: gpu_free.sample_interval_ms };
}

/** Surveys the servers while the person sees how long it takes, and warns of what would spoil a later transfer. */
export async function observeServers(
  world: Context,
  texts: Texts,
  config: RemoteConfig,
  observe: (server: ServerConfig) => Observation | null,
): Promise<ServerReport[]> {
  const count = config.servers.length;
  const seconds = Math.max(...config.servers.map((server) => observe(server)?.seconds ?? 0));
  const line = (left: number) =>
    seconds === 0
      ? texts.say("survey.asking", { count })
      : left === 0
      ? texts.say("survey.waiting")
      : world.err.isTerminal
      ? texts.say("survey.countdown", { count, seconds: left })
      : texts.say("survey.observing", { count, seconds });
  const reports = await whileWaiting(world, seconds, line, surveyServers(world, config, observe));
  world.interrupted.throwIfAborted();
  for (const report of reports) {
    if (report.reachable && report.terminalForced) {
      await warn(world, texts, texts.say("survey.terminal_forced", { server: report.server.name }));
    }
  }
  return reports;
}

/** What `gpus` and `status` show: every server's report with its recent jobs, and the GPU that `run` would choose. */
export interface Survey {
  readonly reports: readonly ServerReport[];
  readonly choice: Candidate | undefined;
}

export async function takeSurvey(world: Context, texts: Texts, plan: SurveyPlan): Promise<Survey> {
  const reports = recentJobs(
    await observeServers(world, texts, plan.config, () => plan.observation),
    world.clock.now(),
  );
  const selection = selectGpu(reports, { force: false, noData: false });
  return { reports, choice: selection.kind === "candidates" ? selection.candidates[0] : undefined };
}

/**
 * Prints a survey, as JSON when the plan says so, else the lines that `show` makes of it. A program gets its JSON also
 * when no server could be reached.
 *
 * @throws {UserError} as `requireAnswer` does
 */
export async function printSurvey(
  world: Pick<Context, "out">,
  texts: Texts,
  plan: SurveyPlan,
  survey: Survey,
  show: () => string[],
): Promise<void> {
  const { reports, choice } = survey;
  if (plan.json) await world.out.write(`${JSON.stringify(surveyJson(texts, reports, choice), null, 2)}\n`);
  requireAnswer(texts, reports);
  if (!plan.json) await world.out.write(show().join("\n") + "\n");
}

/**
 * @throws {UserError} when not one server could be reached: each with its reason, a cause on this machine only once
 */
export function requireAnswer(texts: Texts, reports: readonly ServerReport[]): void {
  const failed = reports.filter((report) => !report.reachable);
  if (failed.length < reports.length) return;
  const local = failed.find(({ failure }) => isLocal(failure));
  const shown = local === undefined ? failed : [local];
  const kind = shown[0]?.failure.kind;
  throw new UserError(message("survey.all_unreachable"), {
    details: shown.map(({ server, failure }) => `${server.name}: ${failureText(texts, failure)}`),
    ...(kind === undefined ? {} : { hint: message(`ssh.hint.${kind}`) }),
  });
}
