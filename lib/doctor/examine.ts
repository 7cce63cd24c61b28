import { openProject, ownServer, type Project } from "../config/project.ts";
import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { runScript } from "../ssh/connection.ts";
import { askSsh, findRoute } from "../ssh/local.ts";
import type { Context } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";
import { checkupScript } from "./checkup_script.ts";
import { faultFinding, sshFinding } from "./here_findings.ts";
import { orFault } from "./or_fault.ts";
import { serverFindings } from "./server_findings.ts";
import { type Finding, type Group, well } from "./types.ts";

/** This machine's group, and the project if its servers may be examined. */
export interface HereLook {
  readonly group: Group;
  readonly project: Project | undefined;
}

/** Looks at the configuration, at this machine's name and at its ssh; connects nowhere. */
export async function examineHere(world: Context, configFlag: string | undefined): Promise<HereLook> {
  const project = await orFault(() => openProject(allowingSelf(world), configFlag));
  const ssh = await orFault(() => askSsh(world, ["-V"]));
  const findings = [
    project instanceof UserError ? faultFinding("configuration", project) : well(
      "configuration",
      message("doctor.configuration", { file: project.configFile, count: project.config.servers.length }),
    ),
    ...(project instanceof UserError ? [] : [selfFinding(world, project.config)]),
    ssh instanceof UserError ? faultFinding("ssh", ssh) : sshFinding(ssh.err),
  ];
  const stopped = project instanceof UserError || findings.some(({ level }) => level === "problem");
  return { group: { place: "here", name: null, findings }, project: stopped ? undefined : project };
}

/** Examines all servers at once, one connection each. */
export function examineServers(
  world: Context,
  config: RemoteConfig,
  servers: readonly ServerConfig[],
): Promise<Group[]> {
  return Promise.all(servers.map(async (server) => {
    const [route, { answer, heard }] = await Promise.all([
      findRoute(world, config, `${server.user}@${server.address}`),
      (async () => {
        const answer = await runScript(world, config, server, checkupScript(server));
        return { answer, heard: world.clock.now() };
      })(),
    ]);
    const findings = serverFindings({ server, settings: config, route, answer, heard });
    return { place: "server", name: server.name, findings } as const;
  }));
}

/** The guard against running on a server becomes a finding here, not the end. */
function allowingSelf(world: Context): Context {
  return { ...world, env: (name) => name === "TIAS_REMOTE_ALLOW_SELF" ? "1" : world.env(name) };
}

function selfFinding(world: Context, config: RemoteConfig): Finding {
  const own = ownServer(world, config);
  if (own === undefined) return well("self", message("doctor.self"));
  if (world.env("TIAS_REMOTE_ALLOW_SELF") === "1") {
    return well("self", message("doctor.self.allowed", { server: own.name }));
  }
  return faultFinding(
    "self",
    new UserError(message("config.own_host", { server: own.name }), {
      hint: message("config.own_host.hint"),
    }),
  );
}
