import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { shellQuote } from "./quote.ts";

/** What a connection needs to know of the configuration. */
export type SshSettings = Pick<RemoteConfig, "jump_host" | "connect_timeout_sec" | "ssh_config">;
export type SshDestination = Pick<ServerConfig, "user" | "address">;

/**
 * The arguments of `ssh` for running `command` on a server.
 *
 * The user's own configuration stays in force (ports, keys, aliases), but nothing in it may turn a plain command into
 * something else: no terminal, no `RemoteCommand`, no forwardings, and we never become the master of a shared
 * connection. Windows' OpenSSH has no connection sharing; a `ControlPath` there breaks every connection
 * (https://github.com/PowerShell/Win32-OpenSSH/issues/405).
 */
export function sshArguments(
  settings: SshSettings,
  destination: SshDestination,
  command: string,
  os: string,
): string[] {
  const options = [
    "BatchMode=yes",
    `ConnectTimeout=${settings.connect_timeout_sec}`,
    "ServerAliveInterval=15",
    "ServerAliveCountMax=3",
    "RequestTTY=no",
    "RemoteCommand=none",
    "ClearAllForwardings=yes",
    "ControlMaster=no",
    ...(os === "windows" ? ["ControlPath=none"] : []),
  ];
  return [
    ...(settings.ssh_config === undefined ? [] : ["-F", settings.ssh_config]),
    "-T",
    ...(settings.jump_host === null ? [] : ["-J", settings.jump_host]),
    ...options.flatMap((option) => ["-o", option]),
    `${destination.user}@${destination.address}`,
    command,
  ];
}

/** The ssh program: `TIAS_REMOTE_SSH`, else the system's own. */
export function sshProgram(override: string | undefined, os: string): string {
  if (override !== undefined && override !== "") return override;
  return os === "windows" ? "C:\\Windows\\System32\\OpenSSH\\ssh.exe" : "ssh";
}

/** The line with which a person attaches to a job's terminal. */
export function attachCommand(
  settings: SshSettings,
  destination: SshDestination,
  tmuxSocket: string,
  job: string,
): string {
  return [
    "ssh",
    ...(settings.ssh_config === undefined ? [] : ["-F", shellQuote(settings.ssh_config)]),
    ...(settings.jump_host === null ? [] : ["-J", shellQuote(settings.jump_host)]),
    "-t",
    shellQuote(`${destination.user}@${destination.address}`),
    // `=` asks tmux for exactly this name; unquoted, zsh as a login shell would take it for a command to look up.
    `"tmux -L ${tmuxSocket} attach -t '=${job}'"`,
  ].join(" ");
}
