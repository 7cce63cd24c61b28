import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";

/** The servers meant by `--server`: all without one. @throws {UserError} for a name that the configuration lacks */
export function serversNamed(config: RemoteConfig, name: string | undefined): readonly ServerConfig[] {
  if (name === undefined) return config.servers;
  const server = config.servers.find((candidate) => candidate.name === name);
  if (server !== undefined) return [server];
  throw new UserError(
    message("config.unknown_server", {
      server: name,
      servers: config.servers.map((each) => each.name).join(", "),
    }),
    { exit: ExitCode.Usage, hint: message("config.unknown_server.hint") },
  );
}
