import type { Results } from "./event.ts";
import type { Ledger, Receipt, RentedPod } from "./ledger.ts";
import { after, backoff, enter, listPauses, retry, toward } from "./moves.ts";
import type { ApiFault } from "./runpod_client.ts";
import { isTerminated, type Pod } from "./runpod_schema.ts";
import { toCreate } from "./step_renting.ts";

/** Failed tries of deleting or reading back after which it is said loudly that a Pod may be left. */
const deletionPatience = 20;
const downloadPatience = 5;
/** Seconds between the two readings that must both find the Pod gone. */
const betweenReadings = 3;

/** It ends with its Pod anyway; what matters is that its log is whole. */
export function afterStopTraining(ledger: Ledger, result: Results["stop_training"]): Ledger {
  const trouble = result.ok ? ledger.trouble : result.detail;
  return toward({ ...ledger, trouble }, { do: "fetch_logs" });
}

/** Logs are worth two tries, not a Pod. */
export function afterFetchLogs(ledger: Ledger, result: Results["fetch_logs"]): Ledger {
  if (!result.ok && ledger.tries === 0) return retry(ledger, { do: "fetch_logs" }, result.detail);
  return toDelete({ ...ledger, logsAtHome: ledger.logsAtHome || result.ok });
}

function toDelete(ledger: Ledger): Ledger {
  return toward(ledger, ledger.pod === null ? { do: "read_back" } : { do: "delete", id: ledger.pod.id });
}

export function afterDelete(ledger: Ledger, result: Results["delete"], id: string, at: number): Ledger {
  if (!result.ok) return again(ledger, id, faultText(result.fault));
  if (id !== ledger.pod?.id) {
    return after({ ...ledger, extras: ledger.extras.filter((extra) => extra !== id) }, 2, {
      do: "read_back",
    });
  }
  // A second DELETE of what the first one took is answered by 404; the receipt tells the first answer.
  const deletion = ledger.deletion ?? { status: result.value === "deleted" ? 204 : 404, at };
  return after({ ...ledger, deletion }, 2, { do: "read_back" });
}

export function afterReadBack(ledger: Ledger, { byId, list }: Results["read_back"], at: number): Ledger {
  const left = list.ok ? list.value : [];
  const alive = byId?.ok && byId.value !== null && !isTerminated(byId.value);
  const still = alive && ledger.pod !== null ? ledger.pod.id : left[0]?.id;
  if (still !== undefined) {
    const pod = ledger.pod ?? found(ledger, left[0], at);
    const extras = left.map(({ id }) => id).filter((id) => id !== pod?.id);
    return again({ ...ledger, pod, extras, firstReadAt: null }, still, "still there");
  }
  if (!list.ok) return doubtful(ledger, faultText(list.fault));
  if (byId !== null && !byId.ok) return doubtful(ledger, faultText(byId.fault));
  // It is gone, but the proof begins with our own DELETE: someone else's word for it would not be ours.
  if (ledger.pod !== null && ledger.deletion === null) return toDelete(ledger);
  const pause = ledger.pod === null ? listPauses[ledger.emptyLists] : undefined;
  if (pause !== undefined) {
    return after({ ...ledger, emptyLists: ledger.emptyLists + 1, tries: 0 }, pause, { do: "read_back" });
  }
  if (ledger.firstReadAt === null) {
    return after({ ...ledger, firstReadAt: at, tries: 0 }, betweenReadings, { do: "read_back" });
  }
  return closed({ ...ledger, extras: [], unproved: false }, at);
}

/** A Pod that a request without an answer has made after all. */
function found(ledger: Ledger, pod: Pod | undefined, at: number): RentedPod | null {
  if (pod === undefined) return null;
  const gpu = pod.gpu ?? ledger.plan.candidates[ledger.candidate]?.gpu ?? "";
  return { id: pod.id, gpu, hourlyUsd: pod.costUsd, rentedAt: at, ssh: null, reachedAt: null, restarts: 0 };
}

/** Deletes once more, a little later. */
function again(ledger: Ledger, id: string, trouble: string): Ledger {
  if (ledger.tries >= deletionPatience) return unproved(ledger, trouble);
  return after({ ...ledger, tries: ledger.tries + 1, trouble }, backoff(ledger.tries), { do: "delete", id });
}

function doubtful(ledger: Ledger, trouble: string): Ledger {
  const unread = { ...ledger, firstReadAt: null };
  return ledger.tries >= deletionPatience
    ? unproved(unread, trouble)
    : retry(unread, { do: "read_back" }, trouble);
}

/** The end without a proof: it is said loudly, stays in the record, and every later command begins here again. */
export function unproved(ledger: Ledger, trouble: string): Ledger {
  return toward({ ...ledger, unproved: true, again: false, trouble }, { do: "finish" });
}

/** The Pod is proved to be gone. */
function closed(ledger: Ledger, at: number): Ledger {
  const receipt = receiptOf(ledger, at);
  const known: Ledger = {
    ...ledger,
    receipts: receipt === undefined ? ledger.receipts : [...ledger.receipts, receipt],
    pod: null,
    deletion: null,
    firstReadAt: null,
  };
  const { outcome } = known;
  // Now it can be told: there is none.
  if (outcome?.kind === "cannot_tell") {
    return toward({ ...known, outcome: { kind: "fault", detail: outcome.detail } }, { do: "finish" });
  }
  if (known.again && known.candidate + 1 < known.plan.candidates.length) {
    const next = { ...known, again: false, outcome: null, candidate: known.candidate + 1, attempt: 1 };
    return toCreate(enter(next, "renting", at), at);
  }
  if (outcome?.kind === "trained" && outcome.copy === "hub" && !known.deferred) {
    return toward(enter(known, "downloading", at), { do: "download" });
  }
  return toward(known, { do: "finish" });
}

function receiptOf({ pod, deletion, firstReadAt }: Ledger, at: number): Receipt | undefined {
  if (pod === null || deletion === null || firstReadAt === null) return undefined;
  return {
    podId: pod.id,
    deleteStatus: deletion.status,
    deletedAt: deletion.at,
    firstReadAt,
    secondReadAt: at,
    rentedAt: pod.rentedAt,
    hourlyUsd: pod.hourlyUsd,
  };
}

export function afterDownload(ledger: Ledger, result: Results["download"]): Ledger {
  if (result.ok) return toward({ ...ledger, home: result.value.folder, trouble: null }, { do: "finish" });
  return result.retry && ledger.tries < downloadPatience
    ? retry(ledger, { do: "download" }, result.detail)
    : toward({ ...ledger, trouble: result.detail }, { do: "finish" });
}

function faultText(fault: ApiFault): string {
  return fault.kind === "limited"
    ? "429"
    : "status" in fault
    ? `${fault.status} ${fault.detail}`
    : fault.detail;
}
