import type { TrainConfig } from "../config/train.ts";
import { dollars } from "../rent/cost.ts";
import type { Event } from "../rent/event.ts";
import type { Ledger } from "../rent/ledger.ts";
import { lossText } from "../rent/report.ts";
import type { ApiFault } from "../rent/runpod_client.ts";
import { outcomeMessage } from "../rent/outcome_message.ts";
import { preparationSteps } from "../rent/preparation.ts";
import type { Context } from "../system/context.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { clockText } from "./rent_outcome.ts";

/** What is told while a run goes on: one line for each thing that a person would want to know in the morning. */
export function rentalTeller(
  world: Pick<Context, "err">,
  texts: Texts,
  recipe: TrainConfig,
): (event: Event, before: Ledger, after: Ledger) => Promise<void> {
  return async (event, before, after) => {
    for (const line of rentalLines(texts, recipe, event, before, after)) {
      await world.err.write(`[${clockText(event.at)}] ${sanitizeLine(line).trimEnd()}\n`);
    }
  };
}

/** The lines about one event. */
export function rentalLines(
  texts: Texts,
  recipe: TrainConfig,
  event: Event,
  before: Ledger,
  after: Ledger,
): string[] {
  const lines = eventLines(texts, recipe, event, before, after);
  const receipt = after.receipts.length > before.receipts.length ? after.receipts.at(-1) : undefined;
  if (receipt !== undefined) {
    lines.push(texts.say("rent.receipt", {
      pod: receipt.podId,
      status: receipt.deleteStatus,
      time: clockText(receipt.secondReadAt),
    }));
  }
  if (after.phase !== before.phase) lines.push(phaseLine(texts, after));
  if (after.next.do === "begin_step" && before.next.do !== "wait") {
    lines.push(stepLine(texts, recipe, after.next.index));
  }
  if (after.home !== null && before.home === null) {
    lines.push(texts.say("rent.at_home", { folder: after.home }));
  }
  if (
    after.trouble !== null && after.trouble !== before.trouble && !["look", "create"].includes(event.kind)
  ) {
    lines.push(texts.say("rent.trouble", { detail: after.trouble }));
  }
  return lines;
}

function eventLines(
  texts: Texts,
  recipe: TrainConfig,
  event: Event,
  before: Ledger,
  after: Ledger,
): string[] {
  const { say } = texts;
  switch (event.kind) {
    case "create":
      return event.result.ok ? [] : createLines(texts, event.result.fault, before);
    case "look": {
      if (!event.result.ok) return [say("rent.look.unreachable", { detail: event.result.detail })];
      const { step, loss, checkpoint, bar } = event.result.value;
      return [say("rent.look", {
        step: step ?? "-",
        loss: loss === null ? "-" : lossText(loss),
        checkpoint: checkpoint ?? "-",
        bar,
      })];
    }
    case "extend":
      return after.deadline > before.deadline
        ? [say("rent.extended", { deadline: clockText(after.deadline) })]
        : [];
    case "compare":
      return event.result.ok
        ? [say("rent.uploaded", { repository: recipe.hub.repository, commit: after.commit ?? "" })]
        : rescueLine(texts, after);
    case "begin_upload":
    case "look_upload":
      return rescueLine(texts, after);
    case "signal":
      return signalLines(texts, after);
    default:
      return [];
  }
}

function createLines(
  texts: Texts,
  fault: ApiFault,
  before: Ledger,
): string[] {
  const { say } = texts;
  const gpu = before.plan.candidates[before.candidate]?.gpu ?? "";
  if (fault.kind === "unclear") return [say("rent.create.unclear", { detail: fault.detail })];
  if (fault.kind === "limited") return [say("rent.create.limited", { seconds: fault.waitSec })];
  return fault.kind === "refused" && fault.capacity
    ? [say("rent.create.no_capacity", { gpu, attempt: before.attempt })]
    : [];
}

function stepLine(texts: Texts, recipe: TrainConfig, index: number): string {
  const steps = preparationSteps(recipe);
  const step = steps[index];
  const name = step === undefined ? "" : step.kind === "task" ? step.name : `${step.from} → ${step.to}`;
  return texts.say("rent.step", { number: index + 1, all: steps.length, name });
}

function rescueLine(texts: Texts, { next, trouble }: Ledger): string[] {
  return next.do === "rescue" ? [texts.say("rent.rescue", { detail: trouble ?? "" })] : [];
}

function signalLines(texts: Texts, { outcome, deferred, deadline, phase }: Ledger): string[] {
  if (phase === "saving" && deferred) {
    return [texts.say("rent.signal.deferred", { deadline: clockText(deadline) })];
  }
  return [texts.say(outcome?.kind === "lost" ? "rent.signal.lost" : "rent.signal.ending")];
}

/** What begins now. */
export function phaseLine(texts: Texts, ledger: Ledger): string {
  const { say } = texts;
  const { phase, pod, candidate, plan, outcome } = ledger;
  switch (phase) {
    case "renting":
      return say("rent.phase.renting", { gpu: plan.candidates[candidate]?.gpu ?? "" });
    case "starting":
      return say("rent.phase.starting", {
        pod: pod?.id ?? "",
        gpu: pod?.gpu ?? "",
        price: pod?.hourlyUsd == null ? "?" : dollars(pod.hourlyUsd),
        deadline: clockText(ledger.deadline),
      });
    case "deleting":
      return say("rent.phase.deleting", { outcome: texts.sentence(outcomeMessage(outcome)) });
    default:
      return say(`rent.phase.${phase}`);
  }
}
