import { buildCommand, type Command } from "@stricli/core";
import { commonFlags, jsonFlag, observeFlag } from "../lib/cli/flags.ts";
import { jobLines } from "../lib/cli/job_view.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { planSurvey, printSurvey, type SurveyFlags, type SurveyPlan, takeSurvey } from "../lib/cli/survey.ts";
import { surveyLines } from "../lib/cli/survey_view.ts";
import { openProject } from "../lib/config/project.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

async function executeStatus(world: Context, texts: Texts, plan: SurveyPlan): Promise<ExitCode> {
  const survey = await takeSurvey(world, texts, plan);
  const { reports } = survey;
  await printSurvey(world, texts, plan, survey, () => [
    ...jobLines(texts, world.out, plan.config, reports, world.clock.now()),
    "",
    ...surveyLines(texts, world.out, reports),
  ]);
  return ExitCode.Done;
}

/** `status`: the jobs and the GPUs everywhere. */
export function statusCommand(texts: Texts): Command<CliContext> {
  return buildCommand<SurveyFlags, [], CliContext>({
    docs: { brief: texts.say("status.brief") },
    parameters: { flags: { ...commonFlags(texts), observe: observeFlag(texts), json: jsonFlag(texts) } },
    func: action(async ({ world, texts }, flags: SurveyFlags) => {
      const { config } = await openProject(world, flags.config);
      return executeStatus(world, texts, planSurvey(flags, config));
    }),
  });
}

if (import.meta.main) await main("status", statusCommand);
