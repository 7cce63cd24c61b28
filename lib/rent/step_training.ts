import type { Results, TaskSeen } from "./event.ts";
import { judgeTraining, silentSeconds, triesPastLimit } from "./judge_training.ts";
import { type Effect, type Ledger, limitAt, type Outcome } from "./ledger.ts";
import { after, backoff, close, doubt, enter, lookAgain, retry, toward } from "./moves.ts";
import { dropExtra, priced } from "./step_renting.ts";
import type { Pod } from "./runpod_schema.ts";
import { isProved } from "./watchdog_link.ts";

/** Seconds from the rental within which ssh must answer: a cold image of 16 GB takes three minutes, a bad host for ever. */
const startPatience = 20 * 60;
/** Tries of ten seconds in which the watchdog must have proved itself. */
const proofPatience = 18;
/** Seconds between two looks at what is to be there soon. */
const soon = 10;
/** Seconds until the first look at a training. */
const firstLookSec = 60;

const dead = ["EXITED", "ERROR", "TERMINATED"];

export function afterInspect(ledger: Ledger, result: Results["inspect"], at: number): Ledger {
  const late = at > (ledger.pod?.rentedAt ?? at) + startPatience;
  if (!result.ok) {
    const detail = result.fault.kind === "limited" ? "429" : result.fault.detail;
    return late ? giveUp(ledger, { kind: "no_ssh", detail }, at) : retry(ledger, { do: "inspect" }, detail);
  }
  const pod = result.value;
  if (pod === null) {
    // A Pod that was just made may not be known everywhere yet.
    return ledger.tries < 3
      ? retry(ledger, { do: "inspect" }, "404")
      : giveUp(ledger, { kind: "pod_died", status: "404" }, at);
  }
  if (dead.includes(pod.status)) return giveUp(ledger, { kind: "pod_died", status: pod.status }, at);
  const known = withAnswer(ledger, pod);
  const dear = priced(known, at);
  if (dear !== undefined) return dear;
  if (pod.ssh !== null) return { ...known, next: { do: "prove" } };
  return late
    ? giveUp(known, { kind: "no_ssh", detail: pod.status }, at)
    : lookAgain(known, soon, { do: "inspect" });
}

/** Deletes this Pod and goes on with the next candidate. */
function giveUp(ledger: Ledger, outcome: Outcome, at: number): Ledger {
  return close(ledger, outcome, at, { again: true });
}

function withAnswer(ledger: Ledger, pod: Pod): Ledger {
  if (ledger.pod === null) return ledger;
  const hourlyUsd = pod.costUsd ? pod.costUsd : ledger.pod.hourlyUsd;
  return { ...ledger, pod: { ...ledger.pod, hourlyUsd, ssh: pod.ssh ?? ledger.pod.ssh } };
}

function reached(ledger: Ledger, at: number): Ledger {
  return ledger.pod === null ? ledger : { ...ledger, pod: { ...ledger.pod, reachedAt: at } };
}

/**
 * A restarted container makes new host keys. Another key is taken only when the service itself says that the container
 * was started after we last reached it: what the training left there must still be looked at.
 */
function withNewHostKey(ledger: Ledger, { uptimeSec }: Pod, at: number): Ledger {
  const { pod, trouble } = ledger;
  const changed = trouble?.startsWith("host_key_changed") ?? false;
  if (pod?.reachedAt == null || uptimeSec === null || !changed || at - uptimeSec <= pod.reachedAt) {
    return ledger;
  }
  return { ...ledger, pod: { ...pod, restarts: pod.restarts + 1, reachedAt: at } };
}

export function afterProve(ledger: Ledger, result: Results["prove"], at: number): Ledger {
  if (!result.ok) {
    return at > (ledger.pod?.rentedAt ?? at) + startPatience
      ? giveUp(ledger, { kind: "no_ssh", detail: result.detail }, at)
      : lookAgain({ ...ledger, trouble: result.detail }, soon, { do: "inspect" });
  }
  const sign = result.value;
  // Another deadline than ours would be another Pod's watchdog, or one that was tampered with.
  if (isProved(sign) && sign.until === ledger.deadline) {
    return toward(reached({ ...ledger, trouble: null }, at), { do: "settle" });
  }
  if (ledger.tries < proofPatience) {
    return after({ ...ledger, tries: ledger.tries + 1 }, soon, { do: "prove" });
  }
  // The next Pod's watchdog would be no better, so this is the end.
  return close(ledger, { kind: "unproved", status: sign?.proof ?? 0 }, at);
}

export function afterSettle(ledger: Ledger, result: Results["settle"], at: number): Ledger {
  if (!result.ok) {
    const detail = result.fault.kind === "limited" ? "429" : result.fault.detail;
    return ledger.tries < 5 ? retry(ledger, { do: "settle" }, detail) : toStep(ledger, 0, at);
  }
  const extras = result.value.map(({ id }) => id).filter((id) => id !== ledger.pod?.id);
  return dropExtra({ ...ledger, extras }) ?? toStep(ledger, 0, at);
}

/** The preparation's step of that number, or the training when there is none. */
function toStep(ledger: Ledger, index: number, at: number): Ledger {
  const preparing = enter(ledger, "preparing", at);
  return index < ledger.plan.steps
    ? toward(preparing, { do: "begin_step", index })
    : toward(preparing, { do: "begin_training" });
}

export function afterBeginStep(
  ledger: Ledger,
  result: Results["begin_step"],
  index: number,
  at: number,
): Ledger {
  if (!result.ok) return unreached(ledger, { do: "begin_step", index }, result.detail, at);
  const { value } = result;
  if (value.kind === "done") return toStep(ledger, index + 1, at);
  if (value.kind === "started") return after(toward(ledger, ledger.next), 2, { do: "look_step", index });
  return close(ledger, { kind: "step_failed", index, code: null, detail: value.detail }, at);
}

export function afterLookStep(
  ledger: Ledger,
  result: Results["look_step"],
  index: number,
  at: number,
): Ledger {
  if (!result.ok) return unreached(ledger, { do: "look_step", index }, result.detail, at);
  const task: TaskSeen = result.value;
  if (task.exitCode === 0) return toStep(ledger, index + 1, at);
  if (task.exitCode !== null || !task.running) {
    return close(ledger, { kind: "step_failed", index, code: task.exitCode, detail: task.said }, at);
  }
  if (isPastLimit(ledger, at)) return close(ledger, { kind: "time_over" }, at);
  return lookAgain(ledger, soon, { do: "look_step", index });
}

export function afterBeginTraining(ledger: Ledger, result: Results["begin_training"], at: number): Ledger {
  if (!result.ok) return unreached(ledger, { do: "begin_training" }, result.detail, at);
  if (result.value.kind === "refused") {
    return close(ledger, { kind: "not_started", detail: result.value.detail }, at);
  }
  return lookAgain(enter({ ...ledger, trainingAt: at }, "training", at), firstLookSec, { do: "look" });
}

export function afterLook(ledger: Ledger, result: Results["look"], at: number): Ledger {
  const pastLimit = isPastLimit(ledger, at);
  const verdict = judgeTraining(
    result.ok ? result.value : { unreachablePastLimit: pastLimit ? ledger.lateTries + 1 : 0 },
    { expectedCheckpoint: ledger.plan.expectedCheckpoint, silentSec: silentSeconds, pastLimit },
  );
  const known: Ledger = result.ok
    ? {
      ...reached(ledger, at),
      seen: { step: result.value.step, loss: result.value.loss, at },
      trouble: null,
    }
    : ledger;
  switch (verdict.kind) {
    case "succeeded": {
      const deferred = ledger.leaving?.kind === "interrupted";
      return toExtend(enter({ ...known, succeededAt: at, leaving: null, deferred }, "saving", at));
    }
    case "failed":
      if (ledger.leaving !== null) return close(known, ledger.leaving, at);
      return trainingFailed(known, verdict.reason, result.ok ? result.value.exitCode : null, at);
    case "running":
      if (ledger.leaving !== null) return close(known, ledger.leaving, at);
      if (result.ok) {
        return lookAgain(known, untilNextLook(ledger, at), { do: "look" });
      }
      return doubtLate(known, { do: "look" }, result.detail, at);
  }
}

function trainingFailed(
  ledger: Ledger,
  reason: (Outcome & { kind: "training_failed" })["reason"],
  exitCode: number | null,
  at: number,
): Ledger {
  return close(ledger, { kind: "training_failed", reason, exitCode }, at);
}

/** The last look before the limit comes just after it. */
function untilNextLook(ledger: Ledger, at: number): number {
  const left = limitAt(ledger) - at;
  return left > 0 ? left + 5 : soon;
}

/** What is done once the training has succeeded: first of all, time. */
export function toExtend(ledger: Ledger): Ledger {
  return toward(ledger, { do: "extend", until: ledger.deadline + ledger.plan.extensionSec });
}

/** The service's word about a Pod that does not answer over ssh. */
export function afterCheck(ledger: Ledger, result: Results["check"], then: Effect, at: number): Ledger {
  if (!result.ok) return after(ledger, backoff(ledger.tries), then);
  const pod = result.value;
  if (pod !== null && !dead.includes(pod.status)) {
    return after(withNewHostKey(withAnswer(ledger, pod), pod, at), backoff(ledger.tries), then);
  }
  if (ledger.phase === "saving") return close(ledger, { kind: "lost", why: "pod_stopped" }, at);
  return trainingFailed(ledger, "pod_stopped", null, at);
}

/** A Pod that cannot be reached has not failed. Only the limit ends the trying, and not at its first stroke. */
function unreached(ledger: Ledger, then: Effect, detail: string, at: number): Ledger {
  return isPastLimit(ledger, at) && ledger.lateTries >= triesPastLimit
    ? close(ledger, { kind: "time_over" }, at)
    : doubtLate(ledger, then, detail, at);
}

/** Tries before the limit do not count against what is tried after it. */
function doubtLate(ledger: Ledger, then: Effect, detail: string, at: number): Ledger {
  const late = isPastLimit(ledger, at) ? 1 : 0;
  return doubt({ ...ledger, lateTries: ledger.lateTries + late }, then, detail);
}

function isPastLimit(ledger: Ledger, at: number): boolean {
  return at >= limitAt(ledger);
}
