import type { Effect, Ledger, Outcome, Phase } from "./ledger.ts";

/** The small moves of which the steps consist. All are pure. */

/** Goes on to another effect: what went before is forgotten. */
export function toward(ledger: Ledger, next: Effect): Ledger {
  return { ...ledger, next, tries: 0, lateTries: 0 };
}

/** Waits first. The count of failed tries is kept. */
export function after(ledger: Ledger, seconds: number, then: Effect): Ledger {
  return { ...ledger, next: { do: "wait", seconds, then } };
}

/** Waits for something that goes on by itself, and then looks at it again. */
export function lookAgain(ledger: Ledger, seconds: number, then: Effect): Ledger {
  return after({ ...ledger, tries: 0, lateTries: 0 }, Math.min(seconds, ledger.plan.watchSec), then);
}

/** Tries the same once more, later and later. */
export function retry(ledger: Ledger, then: Effect, trouble: string): Ledger {
  return after({ ...ledger, tries: ledger.tries + 1, trouble }, backoff(ledger.tries), then);
}

/** Asks the service whether the Pod still runs before the same is tried once more. */
export function doubt(ledger: Ledger, then: Effect, trouble: string): Ledger {
  return { ...ledger, tries: ledger.tries + 1, trouble, next: { do: "check", then } };
}

/** Seconds before each of the lists that must all be empty until a request without an answer made no Pod: they lag. */
export const listPauses: readonly number[] = [3, 5, 15];

/** Seconds before the next try after `tries` failed ones. */
export function backoff(tries: number): number {
  return [5, 10, 20, 30, 60, 120][tries] ?? 300;
}

export function enter(ledger: Ledger, phase: Phase, at: number): Ledger {
  if (ledger.phase === phase) return ledger;
  return { ...ledger, phase, tries: 0, lateTries: 0, timeline: [...ledger.timeline, { phase, at }] };
}

/** Ends what goes on. A training may have succeeded since the last look, so it is looked at once more. */
export function leave(ledger: Ledger, outcome: Outcome, at: number): Ledger {
  return ledger.phase === "training" && ledger.leaving === null
    ? toward({ ...ledger, leaving: outcome }, { do: "look" })
    : close(ledger, outcome, at);
}

/**
 * The way out: stop the training, bring the logs home, delete, read back twice. Whoever comes here never goes back to
 * the training.
 */
export function close(
  ledger: Ledger,
  outcome: Outcome,
  at: number,
  options: { again?: boolean; atOnce?: boolean } = {},
): Ledger {
  const closing = enter({ ...ledger, outcome, leaving: null, again: options.again ?? false }, "deleting", at);
  if (ledger.pod === null) {
    // A request may still be on its way, of which the lists do not know yet.
    const { next } = ledger;
    const asked = next.do === "wait" ? next.then.do : next.do;
    const emptyLists = asked === "create" || asked === "find" ? 0 : listPauses.length;
    return toward({ ...closing, firstReadAt: null, emptyLists }, { do: "read_back" });
  }
  const { pod, phase } = ledger;
  if (options.atOnce || pod.ssh === null || phase === "renting" || phase === "starting") {
    return toward(closing, { do: "delete", id: pod.id });
  }
  if (outcome.kind === "trained") return toward(closing, { do: "fetch_logs" });
  return toward(closing, { do: "stop_training" });
}
