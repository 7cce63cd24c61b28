import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags, switchFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { exitOf, outcomeHint } from "../lib/cli/rent_outcome.ts";
import { rehearse, showPlan } from "../lib/cli/rent_plan.ts";
import { requireLocalDir, runpodClient, runRental, trainingMeans } from "../lib/cli/rent_world.ts";
import { warn } from "../lib/cli/report.ts";
import { localPath, openRecipe, type RecipeFile } from "../lib/config/recipe.ts";
import type { TrainConfig } from "../lib/config/train.ts";
import { hubFetch } from "../lib/hub/http.ts";
import { checkBeforeUpload } from "../lib/hub/preflight.ts";
import type { HubAccess } from "../lib/hub/types.ts";
import { beginRun, type RunWishes } from "../lib/rent/begin.ts";
import type { Event } from "../lib/rent/event.ts";
import type { Ledger } from "../lib/rent/ledger.ts";
import { loadLedger, runFolder } from "../lib/rent/ledger_file.ts";
import { lockRun } from "../lib/rent/lock.ts";
import { isLogName } from "../lib/rent/names.ts";
import { isOver } from "../lib/rent/next_step.ts";
import { outcomeMessage } from "../lib/rent/outcome_message.ts";
import { listAllPods, requireNoPod, requireRightClock } from "../lib/rent/preflight.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { inhibitSleep } from "../lib/system/sleep_inhibitor.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";

interface TrainFlags extends CommonFlags {
  readonly log: string;
  readonly noFallback?: boolean;
  readonly limitHours?: number;
  readonly dryRun?: boolean;
}

interface TrainPlan {
  readonly file: RecipeFile;
  readonly log: string;
  readonly wishes: RunWishes;
  readonly dryRun: boolean;
}

/** @throws {UserError} for a name that no run can have */
function planTrain(flags: TrainFlags, file: RecipeFile): TrainPlan {
  return {
    file,
    log: requireLogName(flags.log),
    wishes: {
      fallback: flags.noFallback !== true,
      ...(flags.limitHours === undefined ? {} : { limitHours: flags.limitHours }),
    },
    dryRun: flags.dryRun ?? false,
  };
}

function requireLogName(log: string): string {
  if (isLogName(log)) return log;
  throw new UserError(message("rent.log.invalid", { log: sanitizeLine(log) }), {
    exit: ExitCode.Usage,
    hint: message("rent.log.invalid.hint"),
  });
}

async function executeTrain(world: Context, texts: Texts, plan: TrainPlan): Promise<ExitCode> {
  const { file, log, wishes } = plan;
  if (plan.dryRun) {
    return await rehearse(world, texts, file, beginRun(world, file.recipe, log, wishes), wishes);
  }
  const folder = runFolder(file.root, log);
  using _lock = await lockRun(world.clock, folder, log);
  const recorded = await loadLedger(folder);
  const means = await trainingMeans(world, file);
  const localDir = localPath(world, file.root, file.recipe.local_dir);
  await requireLocalDir(file.root, localDir);
  const [ledger, first] = recorded !== undefined && !isOver(recorded)
    ? await resumed(world, texts, recorded)
    : [await begun(), undefined];
  await using awake = await inhibitSleep(world);
  if (awake.note !== undefined) await warn(world, texts, texts.sentence(awake.note));
  // Until here Ctrl-C ends the program as it ends any other; from here on the run itself hears it.
  world.interrupted.throwIfAborted();
  const ended = await runRental(world, texts, means, ledger, first);
  return await tellEnd(world, texts, file, ended);

  async function begun(): Promise<Ledger> {
    if (means.hub !== null) await checkHub(world, texts, means.hub, file.recipe);
    const list = await listAllPods(runpodClient(world, means), new URL(file.recipe.api_url).host);
    requireRightClock(world.clock, list);
    requireNoPod(list, file.recipe.name_prefix, log);
    const run = beginRun(world, file.recipe, log, wishes);
    await showPlan(world, texts, file, run, wishes);
    return run;
  }
}

/** @throws {UserError} when an upload cannot succeed: better now than after a night's training */
async function checkHub(
  world: Context,
  texts: Texts,
  access: HubAccess,
  { hub }: Pick<TrainConfig, "hub">,
): Promise<void> {
  const fetch = hubFetch(world, access, { tries: 3, headSeconds: 30 });
  for (const note of await checkBeforeUpload(access, fetch, hub.repository, hub.needs_gb * 1e9)) {
    await world.err.write(`${texts.sentence(note)}\n`);
  }
}

async function resumed(world: Context, texts: Texts, ledger: Ledger): Promise<[Ledger, Event]> {
  const { log, phase } = ledger;
  await world.err.write(`${texts.say("rent.resume", { log, phase: texts.say(`report.phase.${phase}`) })}\n`);
  return [ledger, { kind: "resumed", at: Math.floor(world.clock.now().getTime() / 1000) }];
}

/** The last word: what became of the run, and what to do where something is left to be done. */
async function tellEnd(world: Context, texts: Texts, file: RecipeFile, ledger: Ledger): Promise<ExitCode> {
  const exit = exitOf(ledger);
  const text = ledger.unproved
    ? message("rent.left", { detail: ledger.trouble ?? "" })
    : outcomeMessage(ledger.outcome);
  const hint = outcomeHint(file.recipe.hub.repository, ledger);
  if (exit !== ExitCode.Done) {
    throw new UserError(text, {
      exit,
      ...(hint === undefined ? {} : { hint }),
      details: ledger.unproved ? [texts.sentence(outcomeMessage(ledger.outcome))] : [],
    });
  }
  await world.out.write(`${texts.say("rent.at_home", { folder: ledger.home ?? "" })}\n`);
  return exit;
}

function hours(input: string): number {
  const value = /^\d{1,3}(\.\d{1,6})?$/.test(input) ? Number(input) : NaN;
  if (value > 0 && value <= 240) return value;
  throw new UserError(message("rent.hours"), { exit: ExitCode.Usage });
}

/** `train`: one line rents, trains, takes the model home and deletes the Pod. */
export function trainCommand(texts: Texts): Command<CliContext> {
  return buildCommand<TrainFlags, [], CliContext>({
    docs: { brief: texts.say("train.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts, "train"),
        log: { kind: "parsed", parse: asText, brief: texts.say("train.flag.log"), placeholder: "NAME" },
        noFallback: switchFlag(texts.say("train.flag.no_fallback")),
        limitHours: {
          kind: "parsed",
          parse: hours,
          brief: texts.say("train.flag.limit_hours"),
          placeholder: "H",
          optional: true,
        },
        dryRun: switchFlag(texts.say("train.flag.dry_run")),
      },
    },
    func: action(async ({ world, texts }, flags: TrainFlags) =>
      executeTrain(world, texts, planTrain(flags, await openRecipe(world, flags.config)))
    ),
  });
}

if (import.meta.main) await main("train", trainCommand);
