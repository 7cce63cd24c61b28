import type { SshDestination, SshSettings } from "./arguments.ts";
import { shellQuote } from "./quote.ts";

/** The line with which a person runs `command` on a server. */
export function commandByHand(settings: SshSettings, destination: SshDestination, command: string): string {
  return [
    "ssh",
    ...(settings.ssh_config === undefined ? [] : ["-F", shellQuote(settings.ssh_config)]),
    ...(settings.jump_host === null ? [] : ["-J", shellQuote(settings.jump_host)]),
    shellQuote(`${destination.user}@${destination.address}`),
    shellQuote(command),
  ].join(" ");
}
