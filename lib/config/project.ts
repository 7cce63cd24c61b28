import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { parseConfig } from "./document.ts";
import { type RemoteConfig, remoteSchema, type ServerConfig } from "./remote.ts";

/** The folder that `push` sends and that `runs/` lies in, with its configuration. */
export interface Project {
  /** Absolute. */
  readonly root: string;
  /** Absolute; it need not be called `remote.yaml`. */
  readonly configFile: string;
  /** As the file has it, but with `TIAS_REMOTE_JUMP` obeyed and `ssh_config` made absolute. */
  readonly config: RemoteConfig;
}

/**
 * Finds and reads the project: the folder above the `configs/` of `configFlag`; without one, the nearest ancestor of
 * the current directory that has `configs/remote.yaml`. `TIAS_REMOTE_JUMP` overrides `jump_host`.
 *
 * @throws {UserError} exit code 2 when there is none, it cannot be read, it is invalid, or this machine is one of
 * its servers (the tool would ssh to itself)
 */
export async function openProject(
  deps: Pick<Context, "cwd" | "env" | "hostname">,
  configFlag: string | undefined,
): Promise<Project> {
  const configFile = configFlag === undefined
    ? await nearestConfig(deps.cwd())
    : resolve(deps.cwd(), configFlag);
  const source = await readConfig(configFile);
  const config = parseConfig(source, configFile, remoteSchema);
  refuseOwnHost(deps, config);
  const root = dirname(dirname(configFile));
  return { root, configFile, config: override(config, deps.env("TIAS_REMOTE_JUMP"), root) };
}

async function nearestConfig(start: string): Promise<string> {
  for (let folder = start;; folder = dirname(folder)) {
    const candidate = join(folder, "configs", "remote.yaml");
    try {
      if ((await Deno.stat(candidate)).isFile) return candidate;
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw outOfReach(candidate, error);
      if (!(error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory)) {
        throw unreadable(candidate, error);
      }
    }
    if (dirname(folder) === folder) {
      throw new UserError(message("config.not_found", { folder: start }), {
        exit: ExitCode.Usage,
        hint: message("config.not_found.hint"),
      });
    }
  }
}

async function readConfig(file: string): Promise<string> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw outOfReach(file, error);
    throw unreadable(file, error);
  }
}

function unreadable(file: string, cause: unknown): UserError {
  return new UserError(message("config.unreadable", { file, problem: (cause as Error).message }), {
    exit: ExitCode.Usage,
    hint: message("config.not_found.hint"),
    cause,
  });
}

/**
 * Makes sure that the project can be read, not its configuration alone: an executable started deeper in the project
 * reaches only that.
 *
 * @throws {UserError} exit code 2
 */
export async function requireReadable({ root }: Pick<Project, "root">): Promise<void> {
  const { state } = await Deno.permissions.query({ name: "read", path: root });
  if (state !== "granted") throw outOfReach(root, undefined);
}

/** Deno's sandbox may not read there: the project lies outside what this program was started for. */
function outOfReach(file: string, cause: unknown): UserError {
  return new UserError(message("config.out_of_reach", { file }), {
    exit: ExitCode.Usage,
    hint: message("config.out_of_reach.hint"),
    cause,
  });
}

function override(config: RemoteConfig, jump: string | undefined, root: string): RemoteConfig {
  const sshConfig = config.ssh_config;
  return {
    ...config,
    // The empty string means a direct connection, from inside the laboratory's network.
    ...(jump === undefined ? {} : { jump_host: jump === "" ? null : jump }),
    ...(sshConfig === undefined || isAbsolute(sshConfig) ? {} : { ssh_config: join(root, sshConfig) }),
  };
}

/** Stops a run on one of the servers themselves. */
function refuseOwnHost(deps: Pick<Context, "env" | "hostname">, config: RemoteConfig): void {
  if (deps.env("TIAS_REMOTE_ALLOW_SELF") === "1") return;
  const server = ownServer(deps, config);
  if (server === undefined) return;
  throw new UserError(message("config.own_host", { server: server.name }), {
    exit: ExitCode.Usage,
    hint: message("config.own_host.hint"),
  });
}

/** The server whose name this machine has; host names are compared without case and domain. */
export function ownServer(deps: Pick<Context, "hostname">, config: RemoteConfig): ServerConfig | undefined {
  const own = shortHostName(deps.hostname());
  return config.servers.find(({ name }) => name.toLowerCase() === own);
}

function shortHostName(name: string): string {
  return (name.split(".")[0] ?? "").toLowerCase();
}
