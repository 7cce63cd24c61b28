import type { SshDestination, SshSettings } from "./arguments.ts";
import { shellQuote } from "./quote.ts";

/** The line with which a person runs `command` on a server. */
export function commandByHand(settings: SshSettings, destination: SshDestination, command: string): string {
  return lineByHand(settings, destination, [], shellQuote(command));
}

/** The line with which a person attaches to a job's terminal. */
export function attachCommand(
  settings: SshSettings,
  destination: SshDestination,
  tmuxSocket: string,
  job: string,
): string {
  // `=` asks tmux for exactly this name; unquoted, zsh as a login shell would take it for a command to look up.
  return lineByHand(settings, destination, ["-t"], `"tmux -L ${tmuxSocket} attach -t '=${job}'"`);
}

function lineByHand(
  settings: SshSettings,
  destination: SshDestination,
  options: readonly string[],
  quotedCommand: string,
): string {
  return [
    "ssh",
    ...(settings.ssh_config === undefined ? [] : ["-F", shellQuote(settings.ssh_config)]),
    ...(settings.jump_host === null ? [] : ["-J", shellQuote(settings.jump_host)]),
    ...options,
    shellQuote(`${destination.user}@${destination.address}`),
    quotedCommand,
  ].join(" ");
}
