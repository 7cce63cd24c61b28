import type { Effect } from "./ledger.ts";
import type { ApiFault, ApiResult } from "./runpod_client.ts";
import type { Pod } from "./runpod_schema.ts";
import type { TrainingStatus } from "./types.ts";
import type { WatchdogSign } from "./watchdog_link.ts";

/** An answer of the Pod, or why there is none. */
export type Reply<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly detail: string;
};

/** How a task on the Pod stands. */
export interface TaskSeen {
  readonly running: boolean;
  readonly exitCode: number | null;
  /** The end of what it printed, one line. */
  readonly said: string;
}

/** How the upload stands; `commit` is what the uploader says it left on the Hub. */
export interface UploadSeen extends TaskSeen {
  readonly commit: string | null;
  /** Whether the uploader says that trying again is of no use. */
  readonly final: boolean;
}

/** How the start of something on the Pod went. */
export type Begun =
  | { readonly kind: "done" }
  /** It goes on by itself and is to be looked at. */
  | { readonly kind: "started" }
  | { readonly kind: "refused"; readonly detail: string };

/** Work that either was done or could not be: whether trying again makes sense is part of it. */
export type Done<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly detail: string; readonly retry: boolean };

/** What each effect comes back with. */
export interface Results {
  create: ApiResult<Pod>;
  /** Pods of our exact name that are not terminated. */
  find: ApiResult<readonly Pod[]>;
  inspect: ApiResult<Pod | null>;
  prove: Reply<WatchdogSign | undefined>;
  settle: ApiResult<readonly Pod[]>;
  /** `done` at once, `started` as a task, or refused with a reason. */
  begin_step: Reply<Begun>;
  look_step: Reply<TaskSeen>;
  begin_training: Reply<Begun>;
  look: Reply<TrainingStatus>;
  extend: Reply<WatchdogSign | undefined>;
  list_checkpoint: Done<{ readonly files: number; readonly bytes: number }>;
  begin_upload: Done<null>;
  look_upload: Reply<UploadSeen>;
  compare: Done<null>;
  rescue: Done<{ readonly folder: string }>;
  stop_training: Reply<null>;
  fetch_logs: Reply<null>;
  delete: ApiResult<"deleted" | "absent">;
  read_back: { readonly byId: ApiResult<Pod | null> | null; readonly list: ApiResult<readonly Pod[]> };
  download: Done<{ readonly folder: string }>;
  check: ApiResult<Pod | null>;
  wait: null;
  finish: null;
}

/** What happened; `at` is Unix time by this machine's clock. */
export type Event =
  | {
    [Kind in keyof Results]: {
      readonly kind: Kind;
      readonly at: number;
      readonly result: Results[Kind];
    };
  }[keyof Results]
  /** The program was started again for a ledger that is not done. */
  | { readonly kind: "resumed"; readonly at: number }
  /** Ctrl-C, TERM or HUP; `count` of them so far. */
  | { readonly kind: "signal"; readonly at: number; readonly count: number }
  /** The command `stop`. */
  | { readonly kind: "stop"; readonly at: number }
  /** The ledger cannot be written, so that nothing may be rented. */
  | { readonly kind: "unwritten"; readonly at: number; readonly detail: string }
  /** An effect threw what nobody expected. */
  | { readonly kind: "fault"; readonly at: number; readonly detail: string };

/** The result that stands for "it did not work, and nothing is known", by which a thrown effect is taken. */
export function failedResult(effect: Effect, detail: string, at: number): Event {
  const fault: ApiFault = { kind: "unclear", reason: "network", detail };
  const api = { ok: false, fault } as const;
  const done = { ok: false, detail, retry: true } as const;
  const reply = { ok: false, detail } as const;
  switch (effect.do) {
    case "create":
    case "find":
    case "inspect":
    case "settle":
    case "delete":
    case "check":
      return { kind: effect.do, at, result: api };
    case "read_back":
      return { kind: "read_back", at, result: { byId: null, list: api } };
    case "list_checkpoint":
    case "begin_upload":
    case "compare":
    case "rescue":
    case "download":
      return { kind: effect.do, at, result: done };
    case "wait":
    case "finish":
      return { kind: effect.do, at, result: null };
    default:
      return { kind: effect.do, at, result: reply };
  }
}
