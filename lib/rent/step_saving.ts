import type { Results } from "./event.ts";
import type { Effect, Ledger } from "./ledger.ts";
import { after, close, doubt, lookAgain, retry, toward } from "./moves.ts";

/** Seconds before the extended deadline that are kept free for the copy over ssh and the deletion. */
const copyReserve = 20 * 60;
/** Seconds before the extended deadline at which nothing new is begun. */
const lastReserve = 60;
const patience = 5;
/** Seconds between two looks at the upload. */
const uploadLookSec = 15;

/** The training has succeeded: from here on every path ends with a verified copy, or leaves the Pod as it is. */
export function afterExtend(ledger: Ledger, result: Results["extend"], at: number): Ledger {
  if (!result.ok) return unreached(ledger, ledger.next, result.detail, at);
  const asked = ledger.next.do === "extend" ? ledger.next.until : ledger.deadline;
  if (result.value !== undefined && result.value.until < asked && ledger.tries < patience) {
    return retry(ledger, ledger.next, "the watchdog has not taken the extension yet");
  }
  // Without a sign of life the watchdog will not act; the upload need not wait for it.
  const until = result.value?.until ?? ledger.deadline;
  return toward({ ...ledger, deadline: until }, { do: "list_checkpoint" });
}

export function afterList(ledger: Ledger, result: Results["list_checkpoint"], at: number): Ledger {
  if (result.ok) return toward(ledger, { do: "begin_upload", index: 0 });
  return result.retry && ledger.tries < patience && !isLate(ledger, at, lastReserve)
    ? doubt(ledger, { do: "list_checkpoint" }, result.detail)
    : unsaved(ledger, result.detail);
}

export function afterBeginUpload(
  ledger: Ledger,
  result: Results["begin_upload"],
  index: number,
  at: number,
): Ledger {
  if (isLate(ledger, at, copyReserve)) return toRescue(ledger, result.ok ? "time" : result.detail);
  if (result.ok) return after(toward(ledger, ledger.next), 2, { do: "look_upload", index });
  return result.retry && ledger.tries < patience
    ? doubt(ledger, { do: "begin_upload", index }, result.detail)
    : toRescue(ledger, result.detail);
}

export function afterLookUpload(
  ledger: Ledger,
  result: Results["look_upload"],
  index: number,
  at: number,
): Ledger {
  if (isLate(ledger, at, copyReserve) && !(result.ok && result.value.exitCode === 0)) {
    return toRescue(ledger, result.ok ? "time" : result.detail);
  }
  if (!result.ok) return doubt(ledger, { do: "look_upload", index }, result.detail);
  const { exitCode, running, said, commit, final } = result.value;
  if (exitCode === 0 && commit !== null) return toward({ ...ledger, commit }, { do: "compare" });
  if (exitCode === null && running) {
    return lookAgain(ledger, uploadLookSec, { do: "look_upload", index });
  }
  // What the uploader refuses (not private, other content, no space) is refused again; the rest may have been bad luck.
  const next = index + 1;
  return final || next >= ledger.ids.uploads.length
    ? toRescue(ledger, said)
    : after({ ...toward(ledger, ledger.next), trouble: said }, 20, { do: "begin_upload", index: next });
}

export function afterCompare(ledger: Ledger, result: Results["compare"], at: number): Ledger {
  if (result.ok) return saved(ledger, "hub", at);
  return result.retry && ledger.tries < patience && !isLate(ledger, at, copyReserve)
    ? retry(ledger, { do: "compare" }, result.detail)
    : toRescue(ledger, result.detail);
}

/** The copy over ssh, when the Hub has none that can be trusted. */
function toRescue(ledger: Ledger, trouble: string): Ledger {
  return toward({ ...ledger, commit: null, trouble }, { do: "rescue" });
}

export function afterRescue(ledger: Ledger, result: Results["rescue"], at: number): Ledger {
  if (result.ok) return saved({ ...ledger, home: result.value.folder }, "home", at);
  return result.retry && ledger.tries < patience && !isLate(ledger, at, lastReserve)
    ? doubt(ledger, { do: "rescue" }, result.detail)
    : unsaved(ledger, result.detail);
}

function saved(ledger: Ledger, copy: "hub" | "home", at: number): Ledger {
  return close({ ...ledger, trouble: null }, { kind: "trained", copy }, at);
}

/** The Pod stays, and its watchdog with it: someone can still come and take the checkpoint. */
function unsaved(ledger: Ledger, detail: string): Ledger {
  return toward({ ...ledger, outcome: { kind: "unsaved", detail }, trouble: detail }, { do: "finish" });
}

function unreached(ledger: Ledger, then: Effect, detail: string, at: number): Ledger {
  return isLate(ledger, at, lastReserve) ? unsaved(ledger, detail) : doubt(ledger, then, detail);
}

function isLate({ deadline }: Ledger, at: number, reserve: number): boolean {
  return at >= deadline - reserve;
}
