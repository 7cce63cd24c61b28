import type { Message } from "../system/errors.ts";

/** `warning`: it works, but not as well as it could. `problem`: a command would fail. */
export type Level = "ok" | "warning" | "problem";

export type FindingId =
  | "configuration"
  | "ssh"
  | "self"
  | "connection"
  | "shell"
  | "noise"
  | "terminal"
  | "gpu"
  | "tmux"
  | "logout"
  | "tar"
  | "sha256"
  | "uv"
  | "remote_dir"
  | "disk"
  | "data_dir"
  | "clock"
  | "runpod"
  | "stock"
  | "pods"
  | "runs"
  | "hub"
  | "repository"
  | "storage"
  | "identity";

/** One thing that was looked at. */
export interface Finding {
  readonly id: FindingId;
  readonly level: Level;
  readonly what: Message;
  /** What a program said about it, made safe to show. */
  readonly detail: string | null;
  /** Why it matters; `null` when all is well. */
  readonly why: Message | null;
  /** What to do. */
  readonly mend: Message | null;
  /** The command that does it, as it is typed here, or by the administrator there. */
  readonly command: string | null;
}

/** What belongs together: this machine, one server, or what `train` needs. */
export type Group =
  & { readonly findings: readonly Finding[] }
  & (
    | { readonly place: "here" | "train"; readonly name: null }
    | { readonly place: "server"; readonly name: string }
  );

export function well(id: FindingId, what: Message): Finding {
  return { id, level: "ok", what, detail: null, why: null, mend: null, command: null };
}

export function amiss(
  level: Exclude<Level, "ok">,
  finding: Pick<Finding, "id" | "what" | "mend"> & Partial<Pick<Finding, "why" | "detail" | "command">>,
): Finding {
  return { level, detail: null, why: null, command: null, ...finding };
}
