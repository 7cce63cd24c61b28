import type { RemoteConfig, ServerConfig } from "../config/remote.ts";

/** What a connection needs to know of the configuration. */
export type SshSettings = Pick<RemoteConfig, "jump_host" | "connect_timeout_sec" | "ssh_config">;
export type SshDestination = Pick<ServerConfig, "user" | "address">;

/**
 * The arguments of `ssh` for running `command` on a server, through the jump host if there is one: by `-J`, or by a
 * command of our own.
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
  hop: "jump" | { readonly proxyCommand: string } = "jump",
): string[] {
  const options = [
    ...(hop === "jump" ? [] : [`ProxyCommand=${hop.proxyCommand}`]),
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
    ...(settings.jump_host === null || hop !== "jump" ? [] : ["-J", settings.jump_host]),
    ...options.flatMap((option) => ["-o", option]),
    `${destination.user}@${destination.address}`,
    command,
  ];
}

/**
 * What `-J` means, spelled out, for an ssh that cannot start itself for it: older ones of Windows look for an `ssh`
 * without its folder (https://github.com/PowerShell/Win32-OpenSSH/issues/1172). Other than `-J` it gives the hop a time
 * limit. `undefined` for several hops, and for what cannot be written without quotes, which Windows' ssh misreads.
 */
export function proxyCommand(settings: SshSettings, program: string): string | undefined {
  const hop = /^((?:[\w.-]+@)?[\w.-]+)(?::(\d+))?$/.exec(settings.jump_host ?? "");
  const files = [program, ...(settings.ssh_config === undefined ? [] : [settings.ssh_config])];
  if (hop === null || files.some((file) => /["'`$;&|<>^]/.test(file))) return undefined;
  const [, destination = "", port] = hop;
  // A percent sign would begin one of ssh's own words, such as `%h`.
  const [ssh = "", config] = files.map((file) => file.replaceAll("%", "%%")).map((file) =>
    /\s/.test(file) ? `"${file}"` : file
  );
  return [
    ssh,
    ...(config === undefined ? [] : ["-F", config]),
    "-o BatchMode=yes",
    `-o ConnectTimeout=${settings.connect_timeout_sec}`,
    ...(port === undefined ? [] : [`-p ${port}`]),
    "-W [%h]:%p",
    destination,
  ].join(" ");
}

/** The ssh program: `TIAS_REMOTE_SSH`, else the system's own. */
export function sshProgram(override: string | undefined, os: string): string {
  if (override !== undefined && override !== "") return override;
  return os === "windows" ? "C:\\Windows\\System32\\OpenSSH\\ssh.exe" : "ssh";
}
