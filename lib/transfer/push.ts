import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { jobShell } from "../job/shell.ts";
import { parseJobs } from "../job/list.ts";
import { runScript, type SshDeps } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import { sectionOf } from "../ssh/framing.ts";
import { lastLines } from "../text/sanitize.ts";
import type { PushArchive } from "./pack.ts";
import { unpackShell } from "./unpack_script.ts";

/** Slowest transfer that is still waited for, in bytes a second. */
const slowest = 64 * 1024;

/** Seconds that sending and unpacking `bytes` may take before the connection counts as dead. */
export function transferSeconds(bytes: number): number {
  return 300 + Math.ceil(bytes / slowest);
}

export type PushFailure =
  | { readonly kind: "unreachable"; readonly failure: ConnectionFailure }
  | { readonly kind: "cut"; readonly failure: ConnectionFailure }
  | { readonly kind: "disk_full" | "no_tar" | "stream" | "unwritable"; readonly detail: string };

export type PushResult =
  /** `running` names the jobs that were running there: they may read old and new code mixed. */
  | { readonly ok: true; readonly running: readonly string[] }
  | { readonly ok: false; readonly fault: PushFailure };

const pushText = `
mark section push; unpack 2>&1; mark end push $?
section jobs list_jobs
mark done
`;

/**
 * Sends the archive to a server and unpacks it over `remote_dir`, in one connection.
 *
 * @throws what the archive's stream fails with: a file that changed on the way
 */
export async function pushToServer(
  deps: SshDeps,
  config: RemoteConfig,
  server: ServerConfig,
  archive: PushArchive,
): Promise<PushResult> {
  const result = await runScript(deps, config, server, {
    text: jobShell + unpackShell + pushText,
    values: { remote_dir: server.remote_dir, seal: archive.seal },
    payload: archive.stream,
    seconds: transferSeconds(archive.bytes),
  });
  if (!result.ok) {
    const { failure } = result;
    const begun = failure.kind === "cut" || failure.kind === "silent";
    return { ok: false, fault: begun ? { kind: "cut", failure } : { kind: "unreachable", failure } };
  }
  const push = sectionOf(result.value, "push");
  if (push?.status !== 0) return { ok: false, fault: pushFault(push?.status ?? null, push?.text ?? "") };
  const jobs = parseJobs(sectionOf(result.value, "jobs")?.text ?? "");
  return { ok: true, running: jobs.filter(({ state }) => state === "running").map(({ name }) => name) };
}

/** What the status and the words of `unpack` mean. */
export function pushFault(status: number | null, text: string): PushFailure {
  // GNU tar's last words are about itself.
  const detail = lastLines(text.replaceAll(/^tar: (Exiting with|Error is not).*$/gm, ""), 1)[0] ?? "";
  if (/No space left on device|Disk quota exceeded/i.test(text)) return { kind: "disk_full", detail };
  if (status === 127) return { kind: "no_tar", detail };
  return { kind: status === 3 ? "unwritable" : "stream", detail };
}
