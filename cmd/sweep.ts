import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags, switchFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { clockText } from "../lib/cli/rent_outcome.ts";
import { type RentalMeans, runpodClient, stoppingMeans } from "../lib/cli/rent_world.ts";
import { openRecipe } from "../lib/config/recipe.ts";
import { dollars } from "../lib/rent/cost.ts";
import { deletePod } from "../lib/rent/delete_pod.ts";
import { allLedgers } from "../lib/rent/ledger_file.ts";
import { deadlinesOf } from "../lib/rent/names.ts";
import { listAllPods } from "../lib/rent/preflight.ts";
import type { Pod } from "../lib/rent/runpod_schema.ts";
import { strayPods } from "../lib/rent/strays.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";

interface SweepFlags extends CommonFlags {
  readonly delete?: boolean;
}

interface SweepPlan {
  readonly means: RentalMeans;
  readonly delete: boolean;
  readonly name: string | undefined;
}

async function executeSweep(world: Context, texts: Texts, plan: SweepPlan): Promise<ExitCode> {
  const { means } = plan;
  const { recipe, root } = means.file;
  const api = runpodClient(world, means);
  const ledgers = await allLedgers(root);
  const { pods } = await listAllPods(api, new URL(recipe.api_url).host);
  const strays = strayPods(pods, recipe.name_prefix, ledgers.values());
  const now = world.clock.now().getTime() / 1000;
  if (plan.name === undefined) {
    for (const pod of strays) await world.out.write(`${strayLine(texts, pod, now)}\n`);
    if (strays.length === 0) await world.err.write(`${texts.say("sweep.none")}\n`);
  }
  if (!plan.delete) return ExitCode.Done;
  const chosen = strays.filter((pod) =>
    plan.name === undefined ? isOverdue(pod, now) : pod.name === plan.name
  );
  if (plan.name !== undefined && chosen.length === 0) {
    throw new UserError(message("sweep.no_such", { name: sanitizeLine(plan.name) }), {
      hint: message("sweep.no_such.hint"),
    });
  }
  for (const { id, name } of chosen) {
    const trouble = await deletePod(world.clock, api, id);
    if (trouble !== undefined) throw new UserError(message("rent.left", { detail: `${name}: ${trouble}` }));
    await world.out.write(`${texts.say("sweep.deleted", { name })}\n`);
  }
  const kept = strays.length - chosen.length;
  if (plan.name === undefined && kept > 0) {
    await world.err.write(`${texts.say("sweep.kept", { count: kept })}\n`);
  }
  return ExitCode.Done;
}

/** An upload may go on until the extension is over, so that is the time which counts. */
function isOverdue(pod: Pod, now: number): boolean {
  const deadlines = deadlinesOf(pod);
  return deadlines !== undefined && now > deadlines.last;
}

function strayLine(texts: Texts, pod: Pod, now: number): string {
  const deadlines = deadlinesOf(pod);
  const deadline = deadlines === undefined
    ? texts.say("sweep.no_deadline")
    : isOverdue(pod, now)
    ? texts.say("sweep.overdue", { time: clockText(deadlines.last) })
    : texts.say("sweep.deadline", { time: clockText(deadlines.deadline) });
  return sanitizeLine(texts.say("sweep.pod", {
    name: pod.name,
    id: pod.id,
    gpu: pod.gpu ?? "?",
    price: pod.costUsd === null ? "?" : dollars(pod.costUsd),
    status: pod.status,
    deadline,
  }));
}

/** `sweep`: Pods of ours that no record here knows; `--delete` takes those that should long be gone. */
export function sweepCommand(texts: Texts): Command<CliContext> {
  return buildCommand<SweepFlags, [name?: string], CliContext>({
    docs: { brief: texts.say("sweep.brief") },
    parameters: {
      flags: { ...commonFlags(texts, "train"), delete: switchFlag(texts.say("sweep.flag.delete")) },
      positional: {
        kind: "tuple",
        parameters: [{
          brief: texts.say("sweep.argument"),
          parse: asText,
          placeholder: "POD",
          optional: true,
        }],
      },
    },
    func: action(async ({ world, texts }, flags: SweepFlags, name?: string) => {
      if (name !== undefined && flags.delete !== true) {
        throw new UserError(message("sweep.name_needs_delete"), { exit: ExitCode.Usage });
      }
      const means = await stoppingMeans(world, await openRecipe(world, flags.config));
      return await executeSweep(world, texts, { means, delete: flags.delete ?? false, name });
    }),
  });
}

if (import.meta.main) await main("sweep", sweepCommand);
