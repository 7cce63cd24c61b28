import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { outcomeHint } from "../lib/cli/rent_outcome.ts";
import { type RentalMeans, runpodClient, runRental, stoppingMeans } from "../lib/cli/rent_world.ts";
import { reportError } from "../lib/cli/report.ts";
import { openRecipe } from "../lib/config/recipe.ts";
import { beginRun } from "../lib/rent/begin.ts";
import type { Ledger } from "../lib/rent/ledger.ts";
import { allLedgers, loadLedger, runFolder } from "../lib/rent/ledger_file.ts";
import { deadlinesOf, isLogName, logOfPod } from "../lib/rent/names.ts";
import { isOver } from "../lib/rent/next_step.ts";
import { listAllPods } from "../lib/rent/preflight.ts";
import { isTerminated, type Pod } from "../lib/rent/runpod_schema.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";

interface StopFlags extends CommonFlags {
  readonly log?: string;
}

/** @throws {UserError} for a name that no run can have */
function planStop(flags: StopFlags): string | undefined {
  if (flags.log === undefined || isLogName(flags.log)) return flags.log;
  throw new UserError(message("rent.log.invalid", { log: sanitizeLine(flags.log) }), {
    exit: ExitCode.Usage,
    hint: message("rent.log.invalid.hint"),
  });
}

async function executeStop(
  world: Context,
  texts: Texts,
  means: RentalMeans,
  log: string | undefined,
): Promise<ExitCode> {
  const ledgers = log === undefined ? await openRuns(means.file.root) : await runsOf(world, means, log);
  if (ledgers.length === 0) {
    if (log !== undefined) throw new UserError(message("stop.not_found", { log }));
    await world.err.write(`${texts.say("stop.nothing")}\n`);
    return ExitCode.Done;
  }
  let worst: ExitCode = ExitCode.Done;
  for (const ledger of ledgers) {
    const { log, name } = ledger;
    await world.err.write(`${texts.say("stop.stopping", { log, name })}\n`);
    const at = Math.floor(world.clock.now().getTime() / 1000);
    const ended = await runRental(world, texts, means, ledger, { kind: "stop", at });
    if (!ended.unproved) {
      await world.out.write(`${texts.say("stop.done", { log })}\n`);
      continue;
    }
    const hint = outcomeHint(means.file.recipe.hub.repository, ended);
    worst = await reportError(
      world,
      texts,
      new UserError(
        message("rent.left", { detail: ended.trouble ?? "" }),
        hint === undefined ? {} : { hint },
      ),
    );
  }
  return worst;
}

/** Every recorded run that may still have a Pod. */
async function openRuns(root: string): Promise<Ledger[]> {
  return [...(await allLedgers(root)).values()].filter((ledger) => !isOver(ledger));
}

/** The recorded run, and what Pods of that run there are beside it: another machine may have rented them. */
async function runsOf(world: Context, means: RentalMeans, log: string): Promise<Ledger[]> {
  const { recipe, root } = means.file;
  const recorded = await loadLedger(runFolder(root, log));
  const { pods } = await listAllPods(runpodClient(world, means), new URL(recipe.api_url).host);
  const others = pods.filter((pod) =>
    !isTerminated(pod) && logOfPod(pod, recipe.name_prefix) === log && pod.name !== recorded?.name
  );
  // The record goes last: it is what stays in the folder.
  return [
    ...others.map((pod) => adopted(world, means, log, pod)),
    ...(recorded === undefined ? [] : [recorded]),
  ];
}

/** A record for a Pod that was rented elsewhere. */
function adopted(world: Context, means: RentalMeans, log: string, pod: Pod): Ledger {
  const run = beginRun(world, means.file.recipe, log, { fallback: true });
  return {
    ...run,
    name: pod.name,
    phase: "training",
    deadline: deadlinesOf(pod)?.deadline ?? run.deadline,
    pod: {
      id: pod.id,
      gpu: pod.gpu ?? "",
      hourlyUsd: pod.costUsd,
      rentedAt: run.begunAt,
      ssh: pod.ssh,
      reachedAt: null,
      restarts: 0,
    },
  };
}

/** `stop`: the emergency brake. It may be pulled again and again, and from another machine. */
export function stopCommand(texts: Texts): Command<CliContext> {
  return buildCommand<StopFlags, [], CliContext>({
    docs: { brief: texts.say("stop.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts, "train"),
        log: {
          kind: "parsed",
          parse: asText,
          brief: texts.say("stop.flag.log"),
          placeholder: "NAME",
          optional: true,
        },
      },
    },
    func: action(async ({ world, texts }, flags: StopFlags) => {
      const log = planStop(flags);
      const file = await openRecipe(world, flags.config);
      return await executeStop(world, texts, await stoppingMeans(world, file), log);
    }),
  });
}

if (import.meta.main) await main("stop", stopCommand);
