import { join } from "node:path";
import type { TrainConfig } from "../config/train.ts";
import type { SshDestination, SshSettings } from "../ssh/arguments.ts";
import { type RemoteScript, runScript, type SshDeps } from "../ssh/connection.ts";
import type { Transcript } from "../ssh/framing.ts";
import type { Reply } from "./event.ts";
import { writeDurably } from "./ledger_file.ts";
import type { PodAddress } from "./perform.ts";

/**
 * How the system's ssh reaches one Pod: a configuration of its own, so that nothing of the user's applies, with a
 * known_hosts file of this Pod alone, because addresses and ports go from Pod to Pod. It can be used by hand:
 * `ssh -F lab/LOG/train/ssh_config NAME`.
 */
export function podSshConfig(pod: PodAddress, identity: string, knownHosts: string): string {
  // ssh replaces `%` sequences in paths; `%%` is a plain one.
  const path = (text: string) => `"${text.replaceAll("%", "%%")}"`;
  return `Host ${pod.name}
  HostName ${pod.host}
  Port ${pod.port}
  User root
  IdentityFile ${path(identity)}
  IdentitiesOnly yes
  HostKeyAlias ${pod.name}
  UserKnownHostsFile ${path(knownHosts)}
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
  PasswordAuthentication no
  KbdInteractiveAuthentication no
`;
}

/** Where a Pod's ssh is to be told of. */
export interface PodConnectionPlan {
  readonly recipe: Pick<TrainConfig, "ssh">;
  /** The run's folder on this machine. */
  readonly folder: string;
  /** Absolute path of the private key. */
  readonly identity: string;
}

export class PodConnection {
  readonly #deps: SshDeps;
  readonly #plan: PodConnectionPlan;
  #written = "";

  constructor(deps: SshDeps, plan: PodConnectionPlan) {
    this.#deps = deps;
    this.#plan = plan;
  }

  /** What `Connection` needs for a call that `signal` can end. */
  async prepare(
    pod: PodAddress,
    signal: AbortSignal,
  ): Promise<{ deps: SshDeps; settings: SshSettings; destination: SshDestination }> {
    const { recipe, folder, identity } = this.#plan;
    const config = join(folder, "ssh_config");
    const text = podSshConfig(pod, identity, join(folder, `known_hosts_${pod.name}_${pod.restarts}`));
    if (text !== this.#written) {
      await writeDurably(config, text);
      this.#written = text;
    }
    return {
      deps: { ...this.#deps, interrupted: signal },
      settings: { jump_host: null, connect_timeout_sec: recipe.ssh.connect_timeout_sec, ssh_config: config },
      destination: { user: "root", address: pod.name },
    };
  }

  /** Runs one script; no answer is a reason, not an exception. */
  async run(pod: PodAddress, script: RemoteScript, signal: AbortSignal): Promise<Reply<Transcript>> {
    const { deps, settings, destination } = await this.prepare(pod, signal);
    const result = await runScript(deps, settings, destination, script);
    if (result.ok) return result;
    const { kind, detail } = result.failure;
    return { ok: false, detail: detail === "" ? kind : `${kind}: ${detail}` };
  }
}
