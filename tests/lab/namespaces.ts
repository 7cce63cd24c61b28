/** Network namespaces of Linux, in which a laboratory has the specification's own addresses and a real bastion. */

/** By its path: `/usr/sbin` is not in everybody's PATH. */
const IP = "/usr/sbin/ip";

/** A network of a client, perhaps a bastion, and servers; nobody else's network is touched. */
export interface Network extends AsyncDisposable {
  /** Names of the namespaces. */
  readonly client: string;
  readonly bastion: string | undefined;
  readonly servers: readonly string[];
}

/** This user, or this system, cannot have namespaces. */
export class NetworkError extends Error {
  override readonly name = "NetworkError";
}

/** The bastion's address as the client sees it. */
export const BASTION_ADDRESS = "10.0.0.2";

/** The program `argv` in a namespace; without `argv`, what to put before one. */
export function inNamespace(name: string, ...argv: string[]): string[] {
  return [IP, "netns", "exec", name, ...argv];
}

/**
 * Makes the network in which each of `addresses` is a server that the bastion alone can reach, or the client alone
 * where there is no bastion.
 *
 * @throws {NetworkError}
 */
export async function makeNetwork(
  id: string,
  addresses: readonly string[],
  bastion: boolean,
): Promise<Network> {
  await using making = new AsyncDisposableStack();
  const client = `${id}-client`;
  const gateway = bastion ? `${id}-bastion` : client;
  const servers = addresses.map((_, place) => `${id}-${place}`);
  const names = [...new Set([client, gateway, ...servers])];
  // The interfaces of a namespace go with it.
  for (const name of names) making.defer(() => ip(["netns", "delete", name]).catch(() => {}));

  await ip([], [
    ...names.map((name) => `netns add ${name}`),
    ...(bastion ? [`link add out0 netns ${client} type veth peer name in0 netns ${gateway}`] : []),
    ...servers.map((name, place) =>
      `link add lan${place} netns ${gateway} type veth peer name eth0 netns ${name}`
    ),
  ]);
  const interfaces = new Map<string, string[]>(names.map((name) => [name, ["link set lo up"]]));
  const attach = (name: string, device: string, own: string, peer: string) =>
    interfaces.get(name)?.push(`address add ${own} peer ${peer}/32 dev ${device}`, `link set ${device} up`);
  if (bastion) {
    attach(client, "out0", "10.0.0.1", BASTION_ADDRESS);
    attach(gateway, "in0", BASTION_ADDRESS, "10.0.0.1");
  }
  for (const [place, address] of addresses.entries()) {
    attach(gateway, `lan${place}`, "192.168.23.1", address);
    attach(servers[place] ?? "", "eth0", address, "192.168.23.1");
  }
  await Promise.all([...interfaces].map(([name, lines]) => ip(["-netns", name], lines)));

  const made = making.move();
  return {
    client,
    bastion: bastion ? gateway : undefined,
    servers,
    [Symbol.asyncDispose]: () => made.disposeAsync(),
  };
}

async function ip(args: readonly string[], batch: readonly string[] = []): Promise<void> {
  const child = new Deno.Command(IP, {
    args: batch.length > 0 ? [...args, "-batch", "-"] : [...args],
    stdin: "piped",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(batch.map((line) => `${line}\n`).join("")));
  await writer.close();
  const { success, stderr } = await child.output();
  if (!success) {
    throw new NetworkError(`Cannot set up the network: ${new TextDecoder().decode(stderr).trim()}`);
  }
}
