/**
 * The laboratory over real OpenSSH servers, with the interface of `laboratory.ts`.
 *
 * As root on Linux each server is a network namespace with the specification's address on port 22, and the client
 * (through {@linkcode Laboratory.ssh}, which enters its namespace) reaches the bastion alone. Otherwise they listen at
 * loopback ports.
 */

import { userInfo } from "node:os";
import { basename, join } from "node:path";
import { assembleLaboratory, JUMP, makePremises, type Site } from "./common.ts";
import { findProgram } from "./system_path.ts";
import { BASTION_ADDRESS, inNamespace, makeNetwork, type Network, NetworkError } from "./namespaces.ts";
import type { Behaviour } from "./spec.ts";
import { type SshConfigHost, writeSshConfig } from "./ssh_config.ts";
import { type Place, SSHD, Sshd } from "./sshd.ts";
import type { Laboratory, LaboratoryOptions } from "./types.ts";

/** Whether {@linkcode startOpenSshLaboratory} can work here. */
export function openSshAvailable(): { readonly available: boolean; readonly reason?: string } {
  if (Deno.build.os !== "linux") return { available: false, reason: "it was only tried on Linux" };
  try {
    Deno.statSync(SSHD);
    return { available: true };
  } catch {
    return { available: false, reason: `${SSHD} is not installed` };
  }
}

/** What differs from the simulated laboratory: the user is always the current one. */
export interface OpenSshOptions extends Omit<LaboratoryOptions, "user"> {
  /** Loopback ports also where namespaces would work. */
  readonly loopback?: boolean;
}

/** A laboratory of real sshds. */
export interface OpenSshLaboratory extends Laboratory {
  /** Whether it has a network of its own, in which the jump host is the only way to the servers. */
  readonly isolated: boolean;
}

/** Starts a laboratory whose servers are real sshds. */
export async function startOpenSshLaboratory(options: OpenSshOptions): Promise<OpenSshLaboratory> {
  await using starting = new AsyncDisposableStack();
  const premises = await makePremises({ ...options, user: userInfo().username }, starting);
  const { root, user, userKeyFile, sites } = premises;
  // Privilege separation needs the folder, which is missing after a boot where the service never started.
  if (isRoot()) await Deno.mkdir("/run/sshd", { recursive: true, mode: 0o755 });

  const network = isRoot() && !options.loopback ? await tryNetwork(root, sites) : undefined;
  if (network) starting.use(network);
  const servers = new Map<Site, Sshd>();
  const hosts = await Promise.all(sites.map(async (site, number): Promise<SshConfigHost> => {
    const place = network ? placeIn(network, site, number) : freePlace();
    const sshd = starting.use(new Sshd(site, place, `${userKeyFile}.pub`));
    servers.set(site, sshd);
    await sshd.open();
    return {
      alias: site.address,
      hostName: place.host,
      port: place.port,
      user,
      hostKeyFile: site.hostKeyFile,
    };
  }));
  const sshConfig = await writeSshConfig(root, userKeyFile, hosts);
  const control = (site: Site) => {
    const sshd = servers.get(site) as Sshd;
    return {
      drop: () => sshd.drop(),
      stop: () => sshd.stop(),
      start: () => sshd.start(),
      setBehaviour: (behaviour: Behaviour) => sshd.setBehaviour(behaviour),
      events: () => sshd.events(),
    };
  };
  const ssh = network ? await writeClient(root, network) : await findProgram("ssh");
  const laboratory = await assembleLaboratory(premises, { ssh, sshConfig, control }, starting.move());
  return { ...laboratory, isolated: network !== undefined };
}

function isRoot(): boolean {
  return Deno.uid() === 0;
}

/** None in a container, say, where even root may not make namespaces. */
async function tryNetwork(root: string, sites: readonly Site[]): Promise<Network | undefined> {
  const servers = sites.filter((site) => site.options.name !== JUMP);
  try {
    return await makeNetwork(basename(root), servers.map(ipAddress), servers.length < sites.length);
  } catch (error) {
    if (error instanceof NetworkError || error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** An address that is a name needs a number. */
function ipAddress({ address }: Site, number: number): string {
  return /^[0-9.]+$/.test(address) ? address : `192.168.23.${14 + number}`;
}

function placeIn(network: Network, site: Site, number: number): Place {
  const { name } = site.options;
  const namespace = (name === JUMP ? network.bastion : network.servers[number]) ?? "";
  const host = name === JUMP ? BASTION_ADDRESS : ipAddress(site, number);
  return { host, port: 22, prefix: inNamespace(namespace) };
}

/** A port that was just given up; sshd does not tell which one it took for 0. */
function freePlace(): Place {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return { host: "127.0.0.1", port: listener.addr.port, prefix: [] };
}

/** An ssh program that starts in the client's namespace. */
async function writeClient(root: string, network: Network): Promise<string> {
  const file = join(root, "ssh");
  const command = inNamespace(network.client, await findProgram("ssh"));
  await Deno.writeTextFile(file, `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`, { mode: 0o755 });
  return file;
}
