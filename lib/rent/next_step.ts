import type { Event } from "./event.ts";
import { failedResult } from "./event.ts";
import type { Ledger } from "./ledger.ts";
import { close, enter, leave, toward } from "./moves.ts";
import {
  afterDelete,
  afterDownload,
  afterFetchLogs,
  afterReadBack,
  afterStopTraining,
  unproved,
} from "./step_closing.ts";
import { afterCreate, afterExtraDeleted, afterFind } from "./step_renting.ts";
import {
  afterBeginUpload,
  afterCompare,
  afterExtend,
  afterList,
  afterLookUpload,
  afterRescue,
} from "./step_saving.ts";
import {
  afterBeginStep,
  afterBeginTraining,
  afterCheck,
  afterInspect,
  afterLook,
  afterLookStep,
  afterProve,
  afterSettle,
  toExtend,
} from "./step_training.ts";

/**
 * The whole of a rental as a pure function: what is known and what happened give what is known now, with `next` to be
 * done. The driver writes the result down before it does that.
 */
export function nextStep(ledger: Ledger, event: Event): Ledger {
  const { next } = ledger;
  const { at } = event;
  switch (event.kind) {
    case "resumed":
      return resume(ledger, at);
    case "signal":
      return interrupt(ledger, event.count, at);
    case "stop":
      return stop(ledger, at);
    case "unwritten":
      return close(ledger, { kind: "fault", detail: event.detail }, at);
    case "fault":
      return fault(ledger, event.detail, at);
    case "create":
      return afterCreate(ledger, event.result, at);
    case "find":
      return afterFind(ledger, event.result, at);
    case "inspect":
      return afterInspect(ledger, event.result, at);
    case "prove":
      return afterProve(ledger, event.result, at);
    case "settle":
      return afterSettle(ledger, event.result, at);
    case "begin_step":
      return afterBeginStep(ledger, event.result, indexOf(next), at);
    case "look_step":
      return afterLookStep(ledger, event.result, indexOf(next), at);
    case "begin_training":
      return afterBeginTraining(ledger, event.result, at);
    case "look":
      return afterLook(ledger, event.result, at);
    case "extend":
      return afterExtend(ledger, event.result, at);
    case "list_checkpoint":
      return afterList(ledger, event.result, at);
    case "begin_upload":
      return afterBeginUpload(ledger, event.result, indexOf(next), at);
    case "look_upload":
      return afterLookUpload(ledger, event.result, indexOf(next), at);
    case "compare":
      return afterCompare(ledger, event.result, at);
    case "rescue":
      return afterRescue(ledger, event.result, at);
    case "stop_training":
      return afterStopTraining(ledger, event.result);
    case "fetch_logs":
      return afterFetchLogs(ledger, event.result);
    case "delete": {
      const id = next.do === "delete" ? next.id : "";
      return ledger.phase === "deleting"
        ? afterDelete(ledger, event.result, id, at)
        : afterExtraDeleted(ledger, event.result, id);
    }
    case "read_back":
      return afterReadBack(ledger, event.result, at);
    case "download":
      return afterDownload(ledger, event.result);
    case "check":
      return next.do === "check" ? afterCheck(ledger, event.result, next.then, at) : ledger;
    case "wait":
      return next.do === "wait" ? { ...ledger, next: next.then } : ledger;
    case "finish":
      return isOver(ledger) ? enter(ledger, "done", at) : ledger;
  }
}

function indexOf(effect: Ledger["next"]): number {
  return "index" in effect ? effect.index : 0;
}

/** Whether nothing is left to be done: the Pod is proved to be gone and the model, if there is one, is at home. */
export function isOver({ pod, unproved, outcome, home, phase }: Ledger): boolean {
  if (phase === "done") return true;
  if (pod !== null || unproved || outcome === null || outcome.kind === "cannot_tell") return false;
  return outcome.kind !== "trained" || home !== null;
}

/** After a crash: a request may have been made of which nothing is known. */
function resume(ledger: Ledger, at: number): Ledger {
  const { next, outcome } = ledger;
  if (outcome?.kind === "unsaved") return toExtend({ ...ledger, outcome: null });
  if (next.do === "finish" && (ledger.unproved || outcome?.kind === "cannot_tell")) {
    return close({ ...ledger, unproved: false, deletion: null }, outcome ?? { kind: "stopped" }, at);
  }
  if (next.do === "finish" && outcome?.kind === "trained" && ledger.home === null) {
    return toward(enter(ledger, "downloading", at), { do: "download" });
  }
  const deferred = { ...ledger, deferred: false };
  const wanted = next.do === "wait" || next.do === "check" ? next.then : next;
  if (wanted.do !== "create") return { ...deferred, next: wanted };
  return toward({ ...deferred, emptyLists: 0 }, { do: "find" });
}

/** Whether a signal ends what is being done right now. A request that may cost money is always waited for. */
export function endsEffect(ledger: Ledger, count: number): boolean {
  const { phase, next } = ledger;
  if (next.do === "create" || next.do === "delete" || next.do === "finish") return false;
  if (phase === "saving") return count > 1 && ledger.outcome === null;
  // Waiting is cut short; the farewells only for one who insists.
  if (phase === "deleting") {
    return next.do === "wait" || ((next.do === "stop_training" || next.do === "fetch_logs") && count > 1);
  }
  return true;
}

/** Ctrl-C and its kin. Once the training has succeeded, the first one waits for the verified copy. */
function interrupt(ledger: Ledger, count: number, at: number): Ledger {
  switch (ledger.phase) {
    case "renting":
    case "starting":
    case "preparing":
    case "training":
      return leave(ledger, { kind: "interrupted" }, at);
    case "saving":
      if (ledger.next.do === "finish") return ledger;
      if (count < 2) return { ...ledger, deferred: true };
      return close(ledger, { kind: "lost", why: "signal" }, at, { atOnce: true });
    case "deleting": {
      const hurried: Ledger = { ...ledger, again: false, deferred: true };
      if (count > 3) return unproved(hurried, "interrupted");
      const { next, pod } = ledger;
      const waiting = next.do === "wait" ? next.then : next;
      if (count < 2 || pod === null) return hurried;
      return waiting.do === "stop_training" || waiting.do === "fetch_logs"
        ? toward(hurried, { do: "delete", id: pod.id })
        : hurried;
    }
    case "downloading":
      return toward({ ...ledger, deferred: true }, { do: "finish" });
    case "done":
      return ledger;
  }
}

/** `stop`: whatever goes on, the Pod goes. A run that is over is only read back once more. */
function stop(ledger: Ledger, at: number): Ledger {
  const { phase, outcome } = ledger;
  const fresh = { ...ledger, unproved: false, deferred: true };
  if (phase === "done" || phase === "downloading") {
    return toward(enter({ ...fresh, again: false, firstReadAt: null }, "deleting", at), { do: "read_back" });
  }
  if (phase === "saving") return close(fresh, { kind: "lost", why: "stopped" }, at);
  return close(fresh, phase === "deleting" ? outcome ?? { kind: "stopped" } : { kind: "stopped" }, at);
}

/** Before the training has succeeded, whatever nobody expected ends the rental; afterwards it is one more failed try. */
function fault(ledger: Ledger, detail: string, at: number): Ledger {
  const { phase, next } = ledger;
  const early = phase === "starting" || phase === "preparing" || phase === "training";
  if (early || (phase === "renting" && next.do === "wait")) {
    return leave(ledger, { kind: "fault", detail }, at);
  }
  return nextStep(ledger, failedResult(next, detail, at));
}
