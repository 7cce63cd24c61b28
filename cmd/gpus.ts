import { buildCommand, type Command } from "@stricli/core";
import { commonFlags, jsonFlag, observeFlag } from "../lib/cli/flags.ts";
import { recentJobs } from "../lib/cli/job_view.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import {
  observeServers,
  planSurvey,
  requireAnswer,
  type SurveyFlags,
  type SurveyPlan,
} from "../lib/cli/survey.ts";
import { surveyJson } from "../lib/cli/survey_json.ts";
import { surveyLines } from "../lib/cli/survey_view.ts";
import { openProject } from "../lib/config/project.ts";
import { selectGpu } from "../lib/gpu/select.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

async function executeGpus(world: Context, texts: Texts, plan: SurveyPlan): Promise<ExitCode> {
  const reports = recentJobs(
    await observeServers(world, texts, plan.config, () => plan.observation),
    world.clock.now(),
  );
  const selection = selectGpu(reports, { force: false, noData: false });
  const choice = selection.kind === "candidates" ? selection.candidates[0] : undefined;
  if (plan.json) {
    await world.out.write(`${JSON.stringify(surveyJson(texts, reports, choice), null, 2)}\n`);
    requireAnswer(texts, reports);
    return ExitCode.Done;
  }
  requireAnswer(texts, reports);
  const lines = surveyLines(texts, world.out, reports);
  lines.push("");
  lines.push(
    choice === undefined ? texts.say("gpus.no_choice") : texts.say("gpus.choice", {
      server: choice.server,
      gpu: choice.gpu.index,
      state: texts.say(`gpu.state.${choice.state}`),
    }),
  );
  await world.out.write(lines.join("\n") + "\n");
  return ExitCode.Done;
}

/** `gpus`: all servers' GPUs, and the one that `run` would choose. */
export function gpusCommand(texts: Texts): Command<CliContext> {
  return buildCommand<SurveyFlags, [], CliContext>({
    docs: { brief: texts.say("gpus.brief") },
    parameters: { flags: { ...commonFlags(texts), observe: observeFlag(texts), json: jsonFlag(texts) } },
    func: action(async ({ world, texts }, flags: SurveyFlags) => {
      const { config } = await openProject(world, flags.config);
      return executeGpus(world, texts, planSurvey(flags, config));
    }),
  });
}

if (import.meta.main) await main("gpus", gpusCommand);
