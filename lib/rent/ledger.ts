import type { StartForm } from "./create_request.ts";
import type { TrainingFailure } from "./types.ts";

/** What of the recipe decides the steps, frozen when the run began: a changed file does not change a running rental. */
export interface RentalPlan {
  readonly candidates: readonly {
    readonly gpu: string;
    readonly attempts: number;
    readonly pauseSec: number;
  }[];
  readonly limitSec: number;
  readonly graceSec: number;
  readonly extensionSec: number;
  /** US dollars an hour above which a Pod is given back at once. */
  readonly hourlyCapUsd: number;
  /** Setup commands, folders to send, the prepare command: so many steps in all. */
  readonly steps: number;
  readonly expectedCheckpoint: number;
  /** Seconds between two looks at the training; nothing else is looked at more rarely. */
  readonly watchSec: number;
}

export type Phase =
  | "renting"
  | "starting"
  | "preparing"
  | "training"
  /** The training succeeded; nothing may lose it now. */
  | "saving"
  | "deleting"
  | "downloading"
  | "done";

/** What the driver does next. Each may be done again after a crash, except `create`, which then becomes `find`. */
export type Effect =
  | { readonly do: "create"; readonly gpu: string; readonly deadline: number }
  /** List the Pods of our exact name. */
  | { readonly do: "find" }
  | { readonly do: "inspect" }
  | { readonly do: "prove" }
  /** List once more, for a Pod that a request without an answer may have made. */
  | { readonly do: "settle" }
  | { readonly do: "begin_step"; readonly index: number }
  | { readonly do: "look_step"; readonly index: number }
  | { readonly do: "begin_training" }
  | { readonly do: "look" }
  | { readonly do: "extend"; readonly until: number }
  | { readonly do: "list_checkpoint" }
  | { readonly do: "begin_upload"; readonly index: number }
  | { readonly do: "look_upload"; readonly index: number }
  | { readonly do: "compare" }
  | { readonly do: "rescue" }
  | { readonly do: "stop_training" }
  | { readonly do: "fetch_logs" }
  | { readonly do: "delete"; readonly id: string }
  | { readonly do: "read_back" }
  | { readonly do: "download" }
  /** Ask the service whether the Pod still runs, then go on. */
  | { readonly do: "check"; readonly then: Effect }
  | { readonly do: "wait"; readonly seconds: number; readonly then: Effect }
  /** Write the result and tell. */
  | { readonly do: "finish" };

export type Outcome =
  | { readonly kind: "trained"; readonly copy: "hub" | "home" }
  /** Trained, but no copy could be verified: the Pod is left to its watchdog. */
  | { readonly kind: "unsaved"; readonly detail: string }
  /** Trained, but the user wanted the Pod gone before a copy was verified, or it vanished. */
  | { readonly kind: "lost"; readonly why: "signal" | "stopped" | "pod_stopped" }
  | { readonly kind: "training_failed"; readonly reason: TrainingFailure; readonly exitCode: number | null }
  | { readonly kind: "no_capacity" }
  | { readonly kind: "refused"; readonly status: number; readonly detail: string }
  | { readonly kind: "too_expensive"; readonly hourlyUsd: number }
  | { readonly kind: "pod_died"; readonly status: string }
  | { readonly kind: "no_ssh"; readonly detail: string }
  | { readonly kind: "unproved"; readonly status: number }
  | {
    readonly kind: "step_failed";
    readonly index: number;
    readonly code: number | null;
    readonly detail: string;
  }
  | { readonly kind: "not_started"; readonly detail: string }
  | { readonly kind: "time_over" }
  /** The list of Pods could not be read after a request without an answer. */
  | { readonly kind: "cannot_tell"; readonly detail: string }
  | { readonly kind: "interrupted" }
  | { readonly kind: "stopped" }
  | { readonly kind: "fault"; readonly detail: string };

export interface RentedPod {
  readonly id: string;
  readonly gpu: string;
  readonly hourlyUsd: number | null;
  /** Unix time. */
  readonly rentedAt: number;
  readonly ssh: { readonly host: string; readonly port: number } | null;
  /** When it last answered over ssh. */
  readonly reachedAt: number | null;
  /** How often its container has been restarted, each time with new host keys. */
  readonly restarts: number;
}

/** The proof that a Pod is gone: what was asked, what was answered, and when (Unix time). */
export interface Receipt {
  readonly podId: string;
  readonly deleteStatus: 204 | 404;
  readonly deletedAt: number;
  /** Both readings found it neither by its id nor in the list. */
  readonly firstReadAt: number;
  readonly secondReadAt: number;
  readonly rentedAt: number;
  readonly hourlyUsd: number | null;
}

/** `lab/<log>/train/lab_pod.json`: all that is needed to go on after the program was killed at any instant. */
export interface Ledger {
  readonly version: 1;
  readonly log: string;
  readonly prefix: string;
  readonly plan: RentalPlan;
  /** The Pod's full name, the same for every attempt of the run. */
  readonly name: string;
  readonly begunAt: number;
  readonly phase: Phase;
  readonly next: Effect;
  readonly candidate: number;
  readonly attempt: number;
  readonly form: StartForm;
  /** Lists in a row without a Pod of our name. */
  readonly emptyLists: number;
  /** Times in a row that the present effect has not gone well. */
  readonly tries: number;
  /** Those of them that were made after the time limit. */
  readonly lateTries: number;
  readonly pod: RentedPod | null;
  /** Unix time at which the watchdog acts, as far as we know; before there is a Pod, as we mean to ask. */
  readonly deadline: number;
  /** Ids of further Pods of our name, which must go. */
  readonly extras: readonly string[];
  readonly ids: {
    readonly steps: readonly string[];
    readonly train: string;
    readonly uploads: readonly string[];
  };
  readonly trainingAt: number | null;
  /** When the training was judged a success. */
  readonly succeededAt: number | null;
  /** The last thing that a look at the training showed. */
  readonly seen: { readonly step: number | null; readonly loss: number | null; readonly at: number } | null;
  /** The commit on the Hub that was compared with the Pod's list. */
  readonly commit: string | null;
  /** Where the checkpoint lies on this machine. */
  readonly home: string | null;
  readonly logsAtHome: boolean;
  /** A first signal that waits for the verified copy. */
  readonly deferred: boolean;
  readonly outcome: Outcome | null;
  /** The training is to be ended for this, unless one last look finds that it has succeeded. */
  readonly leaving: Outcome | null;
  /** Whether to try the next candidate once this Pod is gone. */
  readonly again: boolean;
  readonly deletion: { readonly status: 204 | 404; readonly at: number } | null;
  readonly firstReadAt: number | null;
  readonly receipts: readonly Receipt[];
  /** Deletion could not be proved. */
  readonly unproved: boolean;
  /** What went wrong last, for the reader of the result. */
  readonly trouble: string | null;
  readonly timeline: readonly { readonly phase: Phase; readonly at: number }[];
}

/** A run that has not rented anything yet. */
export function newLedger(
  begin: Pick<Ledger, "log" | "prefix" | "plan" | "name" | "begunAt" | "ids">,
): Ledger {
  const { plan, begunAt } = begin;
  const deadline = begunAt + plan.limitSec + plan.graceSec;
  return {
    version: 1,
    ...begin,
    phase: "renting",
    next: {
      do: "create",
      gpu: plan.candidates[0]?.gpu ?? "",
      deadline,
    },
    candidate: 0,
    attempt: 1,
    form: "exec",
    emptyLists: 0,
    tries: 0,
    lateTries: 0,
    pod: null,
    deadline,
    extras: [],
    trainingAt: null,
    succeededAt: null,
    seen: null,
    commit: null,
    home: null,
    logsAtHome: false,
    deferred: false,
    outcome: null,
    leaving: null,
    again: false,
    deletion: null,
    firstReadAt: null,
    receipts: [],
    unproved: false,
    trouble: null,
    timeline: [{ phase: "renting", at: begunAt }],
  };
}

/** Unix time after which the training counts as too long. */
export function limitAt({ deadline, plan }: Ledger): number {
  return deadline - plan.graceSec;
}
