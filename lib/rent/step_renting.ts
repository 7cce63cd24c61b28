import type { Results } from "./event.ts";
import type { Ledger } from "./ledger.ts";
import { after, close, enter, listPauses, retry, toward } from "./moves.ts";
import { deadlinesOf } from "./names.ts";
import type { ApiFault } from "./runpod_client.ts";
import type { Pod } from "./runpod_schema.ts";

/** Failed readings of the list after which we stop asking and say that we cannot tell. */
const listPatience = 20;
/** Times that we wait when the service has had too many requests. */
const limitPatience = 20;

/** The next request, with its own deadline: the time runs from the Pod's creation. */
export function toCreate(ledger: Ledger, at: number): Ledger {
  const { plan, candidate } = ledger;
  const gpu = plan.candidates[candidate]?.gpu ?? "";
  const deadline = at + plan.limitSec + plan.graceSec;
  return { ...toward(ledger, { do: "create", gpu, deadline }), deadline, emptyLists: 0 };
}

export function afterCreate(ledger: Ledger, result: Results["create"], at: number): Ledger {
  if (result.ok) return adopt(ledger, [result.value], at);
  const { fault } = result;
  switch (fault.kind) {
    case "unclear":
      // A Pod may be there and cost money. Only the list can tell, and it may lag.
      return after({ ...ledger, emptyLists: 0, tries: 0, trouble: fault.detail }, listPauses[0] ?? 0, {
        do: "find",
      });
    case "limited": {
      if (ledger.tries >= limitPatience) return refused(ledger, 429, "", at);
      const again = toCreate(ledger, at);
      return after({ ...again, tries: ledger.tries + 1 }, Math.min(fault.waitSec, 300), again.next);
    }
    case "edge":
      return refused(ledger, 403, fault.detail, at);
    case "refused":
      return afterRefusal(ledger, fault, at);
  }
}

function afterRefusal(ledger: Ledger, fault: ApiFault & { kind: "refused" }, at: number): Ledger {
  if (fault.capacity) return nextAttempt(ledger, at);
  // Accounts that do not know the exec form yet name the fields that they refuse.
  if (fault.status === 422 && ledger.form === "exec" && /\b(entrypoint|cmd)\b/.test(fault.detail)) {
    return toCreate({ ...ledger, form: "args" }, at);
  }
  // "This GPU cannot be had like this" in other words: only the next candidate can do better.
  if (fault.status === 400 && ledger.candidate + 1 < ledger.plan.candidates.length) {
    return nextCandidate({ ...ledger, trouble: fault.detail }, at);
  }
  return refused(ledger, fault.status, fault.detail, at);
}

function refused(ledger: Ledger, status: number, detail: string, at: number): Ledger {
  return close(ledger, { kind: "refused", status, detail }, at);
}

function nextAttempt(ledger: Ledger, at: number): Ledger {
  const { plan, candidate, attempt } = ledger;
  const { attempts = 0, pauseSec = 0 } = plan.candidates[candidate] ?? {};
  if (attempt >= attempts) return nextCandidate(ledger, at);
  const again = toCreate({ ...ledger, attempt: attempt + 1 }, at + pauseSec);
  return after(again, pauseSec, again.next);
}

/** The next candidate, or the end of the list. */
function nextCandidate(ledger: Ledger, at: number): Ledger {
  if (ledger.candidate + 1 >= ledger.plan.candidates.length) {
    return close(ledger, { kind: "no_capacity" }, at);
  }
  return toCreate({ ...ledger, candidate: ledger.candidate + 1, attempt: 1 }, at);
}

/** After a request whose answer was lost, or after a crash with one on its way. */
export function afterFind(ledger: Ledger, result: Results["find"], at: number): Ledger {
  if (!result.ok) {
    const detail = result.fault.kind === "limited" ? "429" : result.fault.detail;
    if (result.fault.kind === "refused") return close(ledger, { kind: "cannot_tell", detail }, at);
    return ledger.tries >= listPatience
      ? close(ledger, { kind: "cannot_tell", detail }, at)
      : retry(ledger, { do: "find" }, detail);
  }
  if (result.value.length > 0) return adopt(ledger, result.value, at);
  const emptyLists = ledger.emptyLists + 1;
  const pause = listPauses[emptyLists];
  if (pause !== undefined) return after({ ...ledger, emptyLists }, pause, { do: "find" });
  return nextAttempt({ ...ledger, emptyLists }, at);
}

/** Takes the Pod as ours; further ones of the same name must go. */
function adopt(ledger: Ledger, pods: readonly Pod[], at: number): Ledger {
  const [pod, ...others] = pods;
  if (pod === undefined) return ledger;
  const rented: Ledger = {
    ...ledger,
    pod: {
      id: pod.id,
      gpu: pod.gpu ?? ledger.plan.candidates[ledger.candidate]?.gpu ?? "",
      hourlyUsd: pod.costUsd === 0 ? null : pod.costUsd,
      rentedAt: at,
      ssh: pod.ssh,
      reachedAt: null,
      restarts: 0,
    },
    // That of the request which made it: an earlier one than the last, if its answer was lost.
    deadline: deadlinesOf(pod)?.deadline ?? ledger.deadline,
    extras: others.map(({ id }) => id),
    trouble: null,
  };
  const starting = enter(rented, "starting", at);
  return priced(starting, at) ?? dropExtra(starting) ?? toward(starting, { do: "inspect" });
}

/** The end, when the price is above the cap. */
export function priced(ledger: Ledger, at: number): Ledger | undefined {
  const hourlyUsd = ledger.pod?.hourlyUsd ?? null;
  if (hourlyUsd === null || hourlyUsd <= ledger.plan.hourlyCapUsd) return undefined;
  return close(ledger, { kind: "too_expensive", hourlyUsd }, at);
}

/** Deletes the first of the Pods that are too many, if there is one. */
export function dropExtra(ledger: Ledger): Ledger | undefined {
  const [id] = ledger.extras;
  return id === undefined ? undefined : toward(ledger, { do: "delete", id });
}

export function afterExtraDeleted(ledger: Ledger, result: Results["delete"], id: string): Ledger {
  // What cannot be deleted now is found again by its name when this Pod goes.
  if (!result.ok && ledger.tries < 5) return retry(ledger, { do: "delete", id }, "delete");
  const left = { ...ledger, extras: ledger.extras.filter((extra) => extra !== id) };
  return dropExtra(left) ?? toward(left, { do: "inspect" });
}
