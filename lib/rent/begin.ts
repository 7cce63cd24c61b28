import { expectedCheckpoint, type TrainConfig } from "../config/train.ts";
import type { Context } from "../system/context.ts";
import { randomToken } from "../system/token.ts";
import { hourlyCap, longestHours, type TimeLimits } from "./cost.ts";
import { type Ledger, newLedger, type RentalPlan } from "./ledger.ts";
import { newPodName } from "./names.ts";
import { preparationSteps } from "./preparation.ts";

/** Uploads that are begun at most. */
const uploads = 3;

export interface RunWishes {
  /** False: the first GPU of the recipe alone. */
  readonly fallback: boolean;
  /** In place of the recipe's. */
  readonly limitHours?: number;
}

export function timeLimits(recipe: TrainConfig, { limitHours }: Pick<RunWishes, "limitHours">): TimeLimits {
  return {
    limitHours: limitHours ?? recipe.limit_hours,
    graceHours: recipe.watchdog_grace_min / 60,
    extensionHours: recipe.upload_extension_hours,
  };
}

/** What of the recipe decides a run's steps. */
export function rentalPlan(recipe: TrainConfig, wishes: RunWishes): RentalPlan {
  const limits = timeLimits(recipe, wishes);
  const seconds = (hours: number) => Math.round(hours * 3600);
  return {
    candidates: (wishes.fallback ? recipe.gpus : recipe.gpus.slice(0, 1))
      .map(({ id, attempts, pause_sec }) => ({ gpu: id, attempts, pauseSec: pause_sec })),
    limitSec: seconds(limits.limitHours),
    graceSec: seconds(limits.graceHours),
    extensionSec: seconds(limits.extensionHours),
    hourlyCapUsd: hourlyCap(limits, {
      maxHourlyUsd: recipe.max_hourly_usd,
      maxTotalUsd: recipe.max_total_usd,
    }),
    steps: preparationSteps(recipe).length,
    expectedCheckpoint: expectedCheckpoint(recipe),
    watchSec: recipe.watch_sec,
  };
}

/** US dollars that a run can cost at most. */
export function worstCost(recipe: TrainConfig, wishes: RunWishes): number {
  return rentalPlan(recipe, wishes).hourlyCapUsd * longestHours(timeLimits(recipe, wishes));
}

/** A new run: its Pod's name and the ids of its tasks are made now, and are the same after a crash. */
export function beginRun(
  world: Pick<Context, "clock" | "random">,
  recipe: TrainConfig,
  log: string,
  wishes: RunWishes,
): Ledger {
  const plan = rentalPlan(recipe, wishes);
  return newLedger({
    log,
    prefix: recipe.name_prefix,
    plan,
    name: newPodName(world, recipe.name_prefix, log),
    begunAt: Math.floor(world.clock.now().getTime() / 1000),
    ids: {
      steps: Array.from({ length: plan.steps }, () => randomToken(world)),
      train: randomToken(world),
      uploads: Array.from({ length: uploads }, () => randomToken(world)),
    },
  });
}
