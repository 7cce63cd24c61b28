/** What the laboratories have in common, whichever ssh server plays in them. */

import { basename, join } from "node:path";
import { type Home, makeHome } from "./home.ts";
import { generateKey } from "./keys.ts";
import { endProcesses, endTmux } from "./processes.ts";
import { makeProject, type ProjectLaboratory } from "./project.ts";
import type { LabEvent } from "./spec.ts";
import type {
  Laboratory,
  LaboratoryHost,
  LaboratoryOptions,
  LaboratoryServer,
  ServerOptions,
} from "./types.ts";

/** The jump host's name. */
export const JUMP = "labpc";

/** One machine of a laboratory, on disk. */
export interface Site {
  readonly options: ServerOptions;
  readonly address: string;
  readonly home: Home;
  readonly hostKeyFile: string;
}

/** A laboratory on disk, before any ssh server runs. */
export interface Premises {
  readonly root: string;
  readonly user: string;
  readonly userKeyFile: string;
  /** The servers, then the jump host. */
  readonly sites: readonly Site[];
}

/** Makes root, homes and keys; `stack` gets what ends the processes of the homes and removes it all. */
export async function makePremises(
  { servers, jump, user = "hasegawa" }: LaboratoryOptions,
  stack: AsyncDisposableStack,
): Promise<Premises> {
  // Not below TMPDIR, which is long on macOS: the path of a tmux socket has little more than 100 bytes.
  const root = await Deno.realPath(await Deno.makeTempDir({ dir: "/tmp", prefix: "lab-" }));
  stack.defer(() => Deno.remove(root, { recursive: true }));
  const userKeyFile = join(root, "user");
  await generateKey(userKeyFile);

  const jumpHost = jump ? [{ name: JUMP, address: JUMP, ...(jump === true ? {} : jump) }] : [];
  const sites = await Promise.all([...servers, ...jumpHost].map(async (options, place): Promise<Site> => {
    const hostKeyFile = join(root, `host-${options.name}`);
    const [home] = await Promise.all([makeHome(root, options, user, place), generateKey(hostKeyFile)]);
    return { options, address: options.address ?? `192.168.23.${14 + place}`, home, hostKeyFile };
  }));
  stack.defer(async () => {
    for (const { home } of sites) await endTmux(home.env["TMUX_TMPDIR"] ?? "");
    await endProcesses(root);
  });
  return { root, user, userKeyFile, sites };
}

/** What only the ssh server can do to, and know of, one of its machines. */
export type Control = Pick<LaboratoryHost, "drop" | "stop" | "start" | "setBehaviour"> & {
  /** All events of the machine. */
  events(): Promise<LabEvent[]>;
};

/** How a running laboratory is reached and steered. */
export interface Access {
  readonly ssh: string;
  readonly sshConfig: string;
  control(site: Site): Control;
}

/** Puts a running laboratory together; `running` ends it. */
export function assembleLaboratory(
  premises: Premises,
  access: Access,
  running: AsyncDisposableStack,
): Laboratory {
  const { root, user, sites } = premises;
  const hosts = sites.map((site): LaboratoryServer => {
    const control = access.control(site);
    const events = async (event?: LabEvent["event"]) =>
      (await control.events()).filter((each) => event === undefined || each.event === event);
    return {
      ...control,
      name: site.options.name,
      address: site.address,
      user,
      home: site.home.path,
      env: site.home.env,
      setScenario: site.home.setScenario,
      events,
      connections: async () => (await events("connect")).length,
    };
  });
  const jump = hosts.find(({ name }) => name === JUMP);
  const servers = hosts.filter((host) => host !== jump);
  const events = async (event?: LabEvent["event"]) =>
    (await Promise.all(hosts.map((host) => host.events(event)))).flat();
  const project: ProjectLaboratory = {
    root,
    sshConfig: access.sshConfig,
    tmuxSocket: basename(root),
    jumpHost: jump ? JUMP : null,
    servers: sites.slice(0, servers.length).map(({ options, address }, place) => ({
      name: options.name,
      address,
      user,
      priority: options.priority ?? place + 1,
      dataReady: options.dataReady ?? true,
    })),
  };
  return {
    root,
    ssh: access.ssh,
    sshConfig: access.sshConfig,
    tmuxSocket: project.tmuxSocket,
    servers,
    jump,
    server: (name) => {
      const server = servers.find((server) => server.name === name);
      if (!server) throw new Error(`Cannot find the server '${name}': the laboratory has none of that name`);
      return server;
    },
    events,
    connections: async () => (await events("connect")).length,
    project: (options) => makeProject(project, options),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
