import { openProject } from "../config/project.ts";
import type { RemoteConfig } from "../config/remote.ts";
import { reached, surveyServers } from "../gpu/survey.ts";
import type { Context } from "../system/context.ts";
import type { CliContext } from "./program.ts";

/** Who presses Tab waits: a server that has not told its jobs after so many milliseconds has none to propose. */
const patience = 3000;

/** Server names for `--server`, from the configuration. */
export async function proposeServers(this: CliContext): Promise<readonly string[]> {
  const { servers } = await openedConfig(this);
  return servers.map(({ name }) => name);
}

/** Names of running jobs for `logs` and `kill`, from the servers that answer in time. */
export async function proposeJobs(this: CliContext): Promise<readonly string[]> {
  return await runningJobs(this.world, await openedConfig(this));
}

async function openedConfig({ world, argv }: CliContext): Promise<RemoteConfig> {
  return (await openProject(world, typedConfig(argv))).config;
}

/** The `--config` of a command line that is not finished yet. */
function typedConfig(argv: readonly string[]): string | undefined {
  const at = argv.indexOf("--config");
  if (at !== -1) return argv[at + 1];
  return argv.find((word) => word.startsWith("--config="))?.slice("--config=".length);
}

export async function runningJobs(world: Context, config: RemoteConfig): Promise<string[]> {
  const late = new AbortController();
  const over = new AbortController();
  world.clock.sleep(patience, over.signal).then(() => over.signal.aborted || late.abort());
  const interrupted = AbortSignal.any([world.interrupted, late.signal]);
  const reports = await surveyServers({ ...world, interrupted }, config, () => null);
  over.abort();
  const names = reached(reports).flatMap(({ jobs }) =>
    jobs.filter(({ state }) => state === "running").map(({ name }) => name)
  );
  return [...new Set(names)].toSorted();
}
