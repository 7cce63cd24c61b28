import { buildCommand, type Command } from "@stricli/core";
import {
  asText,
  type CommonFlags,
  commonFlags,
  observeFlag,
  serverFlag,
  switchFlag,
  wholeNumberParser,
} from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { listForPush } from "../lib/cli/push_view.ts";
import { chooseCandidates, warnOfHolders } from "../lib/cli/choice.ts";
import { planRun, type RunFlags, type RunPlan } from "../lib/cli/run_plan.ts";
import { type Attempt, attemptStart, reportStart } from "../lib/cli/start.ts";
import { warn } from "../lib/cli/report.ts";
import { observeServers, requireAnswer } from "../lib/cli/survey.ts";
import { openProject } from "../lib/config/project.ts";
import { isCandidate } from "../lib/gpu/select.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

async function executeRun(world: Context, texts: Texts, plan: RunPlan): Promise<ExitCode> {
  const { config } = plan.project;
  // What must not leave this machine is found before anybody waits for an observation.
  const list = plan.push && !plan.dryRun ? await listForPush(texts, plan.project) : undefined;
  const reports = await observeServers(
    world,
    texts,
    config,
    (server) => isCandidate(server, plan.wish) ? plan.observation : null,
  );
  requireAnswer(texts, reports);
  const candidates = await chooseCandidates(world, texts, plan, reports);

  if (plan.dryRun) {
    await warnOfHolders(world, texts, candidates[0]);
    await world.out.write(`${texts.say("run.dry")}\n`);
    return ExitCode.Done;
  }
  const sentTo = new Set<string>();
  const lost = new Set<string>();
  for (const [at, candidate] of candidates.entries()) {
    if (lost.has(candidate.server)) continue;
    await warnOfHolders(world, texts, candidate);
    const attempt: Attempt = {
      plan,
      candidate,
      reports,
      list: sentTo.has(candidate.server) ? undefined : list,
    };
    const outcome = await attemptStart(world, texts, attempt);
    if (outcome.kind === "taken") sentTo.add(candidate.server);
    else if (outcome.kind === "not_reached") lost.add(candidate.server);
    else return await reportStart(world, texts, attempt, outcome);

    const isLast = candidates.slice(at + 1).every(({ server }) => lost.has(server));
    if (outcome.kind === "not_reached") {
      if (isLast) throw outcome.fault;
      await warn(world, texts, texts.sentence(outcome.fault.text));
    }
    if (!isLast) await world.err.write(`${texts.say("run.taken.next")}\n`);
  }
  throw plan.wish.gpu === undefined
    ? new UserError(message("run.all_taken"), {
      exit: ExitCode.NothingSuitable,
      hint: message("run.no_gpu.hint"),
    })
    : new UserError(message("run.named_taken"), { hint: message("run.taken.hint") });
}

/** `run`: chooses a GPU, sends the code and starts the job, in one connection for each candidate tried. */
export function runCommand(texts: Texts): Command<CliContext> {
  const { say } = texts;
  return buildCommand<RunFlags & CommonFlags, string[], CliContext>({
    docs: { brief: say("run.brief"), customUsage: [say("run.usage")] },
    parameters: {
      flags: {
        ...commonFlags(texts),
        name: {
          kind: "parsed",
          parse: asText,
          brief: say("run.flag.name"),
          placeholder: "NAME",
          optional: true,
        },
        server: { ...serverFlag(texts), brief: say("run.flag.server") },
        gpu: {
          kind: "parsed",
          parse: wholeNumberParser(0, 255),
          brief: say("run.flag.gpu"),
          placeholder: "I",
          optional: true,
        },
        force: switchFlag(say("run.flag.force")),
        noData: switchFlag(say("run.flag.no_data")),
        noPush: switchFlag(say("run.flag.no_push")),
        observe: observeFlag(texts),
        env: {
          kind: "parsed",
          parse: asText,
          brief: say("run.flag.env"),
          placeholder: "K=V",
          variadic: true,
          optional: true,
        },
        dryRun: switchFlag(say("run.flag.dry_run")),
      },
      positional: {
        kind: "array",
        parameter: { brief: say("run.argument.command"), parse: asText, placeholder: "CMD" },
      },
    },
    func: action(async ({ world, texts, argv }, flags: RunFlags & CommonFlags, ...command: string[]) => {
      const project = await openProject(world, flags.config);
      return executeRun(world, texts, planRun(flags, command, argv, project));
    }),
  });
}

if (import.meta.main) await main("run", runCommand);
