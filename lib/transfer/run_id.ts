import { faultOfSegment } from "./member_name.ts";

/** Why a text is refused as a run id. */
export type RunIdFault =
  | "empty"
  | "separator"
  | "dots"
  | "leading"
  | "control"
  | "spaces"
  | "job_logs"
  | "unportable";

/**
 * What is wrong with `id` as the name of a run, or `undefined`. A run id becomes one directory name on the server and
 * here, so besides the specification's rules it must be a name that every system can hold. `_remote_logs`, in any
 * case, is where job logs lie; they are never pulled.
 */
export function faultOfRunId(id: string): RunIdFault | undefined {
  if (id === "") return "empty";
  if (/[/\\]/.test(id)) return "separator";
  if (id.includes("..")) return "dots";
  if (/^[.-]/.test(id)) return "leading";
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u001f\u007f-\u009f]/.test(id)) return "control";
  if (id !== id.trim()) return "spaces";
  if (id.normalize("NFKC").toLowerCase() === "_remote_logs") return "job_logs";
  if (!id.isWellFormed() || faultOfSegment(id) !== undefined) return "unportable";
  return undefined;
}
