import { buildCommand, type Command } from "@stricli/core";
import { commonFlags, jsonFlag, observeFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { planSurvey, printSurvey, type SurveyFlags, type SurveyPlan, takeSurvey } from "../lib/cli/survey.ts";
import { surveyLines } from "../lib/cli/survey_view.ts";
import { openProject } from "../lib/config/project.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

async function executeGpus(world: Context, texts: Texts, plan: SurveyPlan): Promise<ExitCode> {
  const survey = await takeSurvey(world, texts, plan);
  const { reports, choice } = survey;
  await printSurvey(world, texts, plan, survey, () => [
    ...surveyLines(texts, world.out, reports),
    "",
    choice === undefined ? texts.say("gpus.no_choice") : texts.say("gpus.choice", {
      server: choice.server,
      gpu: choice.gpu.index,
      state: texts.say(`gpu.state.${choice.state}`),
    }),
  ]);
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
