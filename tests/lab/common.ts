/** What the laboratories have in common, whichever ssh server plays in them. */

import { join } from "node:path";
import { readEvents } from "./events.ts";
import { findProgram, type Home, makeHome } from "./home.ts";
import { generateKey } from "./keys.ts";
import { endProcesses, endTmux } from "./processes.ts";
import { makeProject } from "./project.ts";
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
  readonly eventsFile: string;
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
  const eventsFile = join(root, "events.log");
  await Promise.all([generateKey(userKeyFile), Deno.writeTextFile(eventsFile, "")]);

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
  return { root, user, userKeyFile, eventsFile, sites };
}

/** What only the ssh server can do to one of its machines. */
export type HostControl = Pick<LaboratoryHost, "drop" | "stop" | "start" | "setBehaviour">;

/** Puts a running laboratory together; `running` ends it. */
export async function assembleLaboratory(
  premises: Premises,
  sshConfig: string,
  control: (site: Site) => HostControl,
  running: AsyncDisposableStack,
  ssh?: string,
): Promise<Laboratory> {
  const { root, user, eventsFile, sites } = premises;
  const hosts = sites.map((site): LaboratoryServer => {
    const server = site.options.name;
    return {
      name: server,
      address: site.address,
      user,
      home: site.home.path,
      env: site.home.env,
      connections: async () => (await readEvents(eventsFile, { server, event: "connect" })).length,
      events: (event) => readEvents(eventsFile, { server, event }),
      setScenario: site.home.setScenario,
      ...control(site),
    };
  });
  const jump = hosts.find(({ name }) => name === JUMP);
  const servers = hosts.filter((host) => host !== jump);
  const tmuxSocket = root.slice(root.lastIndexOf("/") + 1);
  const configured = sites.slice(0, servers.length).map(({ options, address }, place) => ({
    name: options.name,
    address,
    user,
    priority: options.priority ?? place + 1,
    dataReady: options.dataReady ?? true,
  }));
  return {
    root,
    ssh: ssh ?? await findProgram("ssh"),
    sshConfig,
    tmuxSocket,
    servers,
    jump,
    server: (name) => {
      const server = servers.find((server) => server.name === name);
      if (!server) throw new Error(`Cannot find the server '${name}': the laboratory has none of that name`);
      return server;
    },
    connections: async () => (await readEvents(eventsFile, { event: "connect" })).length,
    events: (event?: LabEvent["event"]) => readEvents(eventsFile, { event }),
    project: (options) =>
      makeProject(
        { root, sshConfig, tmuxSocket, jumpHost: jump ? JUMP : null, servers: configured },
        options,
      ),
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}
