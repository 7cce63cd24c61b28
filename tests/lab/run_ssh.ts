/** Runs commands on a laboratory's hosts by its ssh program. */

import type { Laboratory, LaboratoryHost } from "./types.ts";

/** How to connect. */
export interface SshOptions {
  readonly stdin?: Uint8Array;
  /** Default: where the laboratory has a jump host. */
  readonly jump?: boolean;
  readonly user?: string;
}

/** How a command ended: ssh's own failure is exit code 255. */
export interface SshResult {
  readonly code: number;
  readonly bytes: Uint8Array;
  readonly stdout: string;
  readonly stderr: string;
}

/** The arguments of ssh for a command on a host. */
export function sshArgs(
  lab: Laboratory,
  host: LaboratoryHost,
  command: string,
  options: SshOptions = {},
): string[] {
  const { jump = lab.jump !== undefined && host !== lab.jump, user = host.user } = options;
  const hop = jump && lab.jump ? ["-J", lab.jump.address] : [];
  return ["-F", lab.sshConfig, "-T", "-o", "BatchMode=yes", ...hop, `${user}@${host.address}`, command];
}

/** Runs a command to its end. */
export async function runSsh(
  lab: Laboratory,
  host: LaboratoryHost,
  command: string,
  options: SshOptions = {},
): Promise<SshResult> {
  const child = spawnSsh(lab, host, command, options);
  const feed = async () => {
    const writer = child.stdin.getWriter();
    // The command need not read it all.
    await writer.write(options.stdin ?? new Uint8Array()).then(() => writer.close(), () => {});
  };
  const [{ code, stdout: bytes, stderr }] = await Promise.all([child.output(), feed()]);
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, bytes, stdout: text(bytes), stderr: text(stderr) };
}

/** Starts a command. */
export function spawnSsh(lab: Laboratory, host: LaboratoryHost, command: string, options: SshOptions = {}) {
  return new Deno.Command(lab.ssh, {
    args: sshArgs(lab, host, command, options),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}
