import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { expandShell } from "../ssh/expand.ts";
import { runScript, type SshDeps } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import { sectionOf } from "../ssh/framing.ts";

/** What one server says about a run. */
export type RunSighting =
  | { readonly server: ServerConfig; readonly reachable: true; readonly found: boolean }
  | { readonly server: ServerConfig; readonly reachable: false; readonly failure: ConnectionFailure };

/** Prints `found` or `absent`. A link in the run's place counts as found, so that the pull itself can say so. */
const findScript = expandShell + `
unset CDPATH
base=$(expand "$remote_dir")
look() {
  if [ -d "$base/runs/$run_id" ] || [ -h "$base/runs/$run_id" ]; then echo found; else echo absent; fi
}
section run look
mark done
`;

/** Seconds that a server may take to look for one folder. */
const lookSeconds = 30;

/** Asks every server for the run, all at once, one connection each. */
export async function findRun(deps: SshDeps, config: RemoteConfig, runId: string): Promise<RunSighting[]> {
  return await Promise.all(config.servers.map(async (server): Promise<RunSighting> => {
    const result = await runScript(deps, config, server, {
      text: findScript,
      values: { remote_dir: server.remote_dir, run_id: runId },
      seconds: lookSeconds,
    });
    if (!result.ok) return { server, reachable: false, failure: result.failure };
    return { server, reachable: true, found: sectionOf(result.value, "run")?.text.trim() === "found" };
  }));
}

/** The servers on which the run was seen. */
export function serversWith(sightings: readonly RunSighting[]): ServerConfig[] {
  return sightings.filter((sighting) => sighting.reachable && sighting.found).map(({ server }) => server);
}
