import { buildCommand, type Command } from "@stricli/core";
import { type CommonFlags, commonFlags, jsonFlag, observeFlag } from "../lib/cli/flags.ts";
import { jobLines, recentJobs } from "../lib/cli/job_view.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { observeServers, requireAnswer } from "../lib/cli/survey.ts";
import { surveyJson } from "../lib/cli/survey_json.ts";
import { surveyLines } from "../lib/cli/survey_view.ts";
import { openProject } from "../lib/config/project.ts";
import type { RemoteConfig } from "../lib/config/remote.ts";
import type { Observation } from "../lib/gpu/probe.ts";
import { selectGpu } from "../lib/gpu/select.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

interface StatusFlags extends CommonFlags {
  readonly observe?: number;
  readonly json?: boolean;
}

interface StatusPlan {
  readonly config: RemoteConfig;
  readonly observation: Observation;
  readonly json: boolean;
}

function planStatus(flags: StatusFlags, config: RemoteConfig): StatusPlan {
  const seconds = flags.observe ?? config.gpu_free.observe_sec;
  return {
    config,
    observation: { seconds, intervalMs: config.gpu_free.sample_interval_ms },
    json: flags.json ?? false,
  };
}

async function executeStatus(world: Context, texts: Texts, plan: StatusPlan): Promise<ExitCode> {
  const reports = recentJobs(
    await observeServers(world, texts, plan.config, () => plan.observation),
    world.clock.now(),
  );
  if (plan.json) {
    const selection = selectGpu(reports, { force: false, noData: false });
    const choice = selection.kind === "candidates" ? selection.candidates[0] : undefined;
    await world.out.write(`${JSON.stringify(surveyJson(texts, reports, choice), null, 2)}\n`);
    requireAnswer(texts, reports);
    return ExitCode.Done;
  }
  requireAnswer(texts, reports);
  const lines = [
    ...jobLines(texts, world.out, plan.config, reports, world.clock.now()),
    "",
    ...surveyLines(texts, world.out, reports),
  ];
  await world.out.write(lines.join("\n") + "\n");
  return ExitCode.Done;
}

/** `status`: the jobs and the GPUs everywhere. */
export function statusCommand(texts: Texts): Command<CliContext> {
  return buildCommand<StatusFlags, [], CliContext>({
    docs: { brief: texts.say("status.brief") },
    parameters: { flags: { ...commonFlags(texts), observe: observeFlag(texts), json: jsonFlag(texts) } },
    func: action(async ({ world, texts }, flags: StatusFlags) => {
      const { config } = await openProject(world, flags.config);
      return executeStatus(world, texts, planStatus(flags, config));
    }),
  });
}

if (import.meta.main) await main("status", statusCommand);
