/** A project folder that a laboratory's servers serve. */

import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { ProjectOptions } from "./types.ts";

/** A server as remote.yaml has it. */
export interface ConfiguredServer {
  readonly name: string;
  readonly address: string;
  readonly user: string;
  readonly priority: number;
  readonly dataReady: boolean;
}

/** What a project must know of its laboratory. */
export interface ProjectLaboratory {
  readonly root: string;
  readonly sshConfig: string;
  readonly tmuxSocket: string;
  readonly jumpHost: string | null;
  readonly servers: readonly ConfiguredServer[];
}

/** Writes `configs/remote.yaml` into a folder, and returns the folder. */
export async function makeProject(lab: ProjectLaboratory, options: ProjectOptions = {}): Promise<string> {
  const dir = options.dir ?? await Deno.makeTempDir({ dir: lab.root, prefix: "project-" });
  const file = join(dir, "configs/remote.yaml");
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, stringify(merged(remoteConfig(lab), options.config ?? {})));
  return dir;
}

function remoteConfig(lab: ProjectLaboratory): Record<string, unknown> {
  return {
    jump_host: lab.jumpHost,
    connect_timeout_sec: 3,
    ssh_config: lab.sshConfig,
    gpu_free: {
      max_memory_used_mib: 1024,
      max_utilization_percent: 10,
      observe_sec: 1,
      sample_interval_ms: 100,
    },
    jobs: { tmux_socket: lab.tmuxSocket },
    servers: lab.servers.map(({ name, address, user, priority, dataReady }) => ({
      name,
      address,
      user,
      priority,
      remote_dir: "~/work/TIASJudgeModel",
      data_dir: "~/data/TIASJudgeModel",
      uv: "~/.local/bin/uv",
      data_ready: dataReady,
    })),
  };
}

function merged(
  own: Record<string, unknown>,
  other: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const result = { ...own };
  for (const [key, value] of Object.entries(other)) {
    const mine = own[key];
    result[key] = isMapping(mine) && isMapping(value) ? merged(mine, value) : value;
  }
  return result;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
