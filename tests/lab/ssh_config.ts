/** The ssh configuration by which the real ssh finds a laboratory's servers, and them alone. */

/** A host as ssh must know it. */
export interface SshConfigHost {
  /** What the user types. */
  readonly alias: string;
  /** Where it really is; default: the alias itself. */
  readonly hostName?: string;
  readonly port: number;
  readonly user: string;
  readonly hostKeyFile: string;
}

/** Writes `config` and `known_hosts` into the root, and returns the path of the first. */
export async function writeSshConfig(
  root: string,
  userKeyFile: string,
  hosts: readonly SshConfigHost[],
): Promise<string> {
  const knownHosts = await Promise.all(hosts.map(async ({ alias, hostName = alias, port, hostKeyFile }) => {
    const name = port === 22 ? hostName : `[${hostName}]:${port}`;
    return `${name} ${await Deno.readTextFile(`${hostKeyFile}.pub`)}`;
  }));
  await Deno.writeTextFile(`${root}/known_hosts`, knownHosts.join(""));
  const entries = hosts.map(({ alias, hostName = alias, port, user }) =>
    `Host ${alias}\n  HostName ${hostName}\n  Port ${port}\n  User ${user}\n`
  );
  const everyHost = `Host *
  IdentityFile "${userKeyFile}"
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile "${root}/known_hosts"
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
`;
  await Deno.writeTextFile(`${root}/config`, [...entries, everyHost].join("\n"));
  return `${root}/config`;
}
