/** One real sshd of a laboratory, with the session script that leads its logins into the laboratory's home. */

import { join } from "node:path";
import type { Site } from "./common.ts";
import { descendantsOf, endProcess } from "./processes.ts";
import { quoted } from "./scenario.ts";
import type { Behaviour, LabEvent } from "./spec.ts";

/** Where it is installed. */
export const SSHD = "/usr/sbin/sshd";

/** Where one sshd listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
  /** What to start it by, such as `ip netns exec NAME`. */
  readonly prefix: readonly string[];
}

/** An sshd that can be stopped, and started again. */
export class Sshd implements AsyncDisposable {
  readonly #site: Site;
  readonly #place: Place;
  readonly #userKeyFile: string;
  readonly #log: string;
  #behaviour: Behaviour = {};
  #listener: Deno.ChildProcess | undefined;

  constructor(site: Site, place: Place, userKeyFile: string) {
    this.#site = site;
    this.#place = place;
    this.#userKeyFile = userKeyFile;
    this.#log = this.#path("sshd.log");
  }

  /** Starts with the behaviour that its options ask for. */
  async open(): Promise<void> {
    await Deno.mkdir(this.#path("exec"));
    await Deno.writeTextFile(this.#log, "");
    await Deno.writeTextFile(this.#path("sshd_config"), await this.#config());
    await this.setBehaviour(this.#site.options.behaviour ?? {});
    await this.start();
  }

  async start(): Promise<void> {
    if (this.#listener || this.#behaviour.dead) return;
    const before = (await Deno.readTextFile(this.#log)).length;
    const [program = SSHD, ...args] = [...this.#place.prefix, SSHD, "-D", "-f", this.#path("sshd_config")];
    this.#listener = new Deno.Command(program, {
      args: [...args, "-E", this.#log],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
    const ended = this.#listener.status.then(() => true);
    const pause = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), 10));
    for (;;) {
      const log = (await Deno.readTextFile(this.#log)).slice(before);
      if (log.includes("Server listening on")) return;
      if (await Promise.race([ended, pause()])) throw new Error(`Cannot start sshd: ${log}`);
    }
  }

  async stop(): Promise<void> {
    const listener = this.#listener;
    if (!listener) return;
    this.#listener = undefined;
    // Stopped first, so that it starts no other session meanwhile.
    listener.kill("SIGSTOP");
    await endSessions(listener);
    listener.kill("SIGKILL");
    await listener.status;
  }

  async drop(): Promise<void> {
    if (this.#listener) await endSessions(this.#listener);
  }

  /** @throws for what only the simulated server can do. */
  async setBehaviour(behaviour: Behaviour): Promise<void> {
    for (const name of ["silent", "loginDelaySec", "dropAfter"] as const) {
      if (behaviour[name]) throw new Error(`Cannot make a real sshd misbehave by '${name}'`);
    }
    const wasDead = this.#behaviour.dead;
    this.#behaviour = behaviour;
    await this.#write("session", sessionScript(this.#site, this.#path("exec"), behaviour));
    const keys = behaviour.refuseAuthentication ? "" : await Deno.readTextFile(this.#userKeyFile);
    await this.#write("authorized_keys", keys);
    if (behaviour.dead) await this.stop();
    else if (wasDead) await this.start();
  }

  /** Connections, logins and forwardings in the order of the log, then the commands in theirs. */
  async events(): Promise<LabEvent[]> {
    const server = this.#site.options.name;
    const events: LabEvent[] = [];
    for (const line of (await Deno.readTextFile(this.#log)).split("\n")) {
      for (const [event, pattern] of LOG_LINES) {
        const found = line.match(pattern);
        if (found) events.push({ server, event, ...(found[1] ? { detail: found.slice(1).join(":") } : {}) });
      }
    }
    const commands: LabEvent[] = [];
    for await (const { name } of Deno.readDir(this.#path("exec"))) {
      const file = join(this.#path("exec"), name);
      const time = ((await Deno.stat(file)).mtime ?? new Date(0)).toISOString();
      commands.push({ time, server, event: "exec", detail: await Deno.readTextFile(file) });
    }
    return [...events, ...commands.sort((a, b) => (a.time ?? "").localeCompare(b.time ?? ""))];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #path(name: string): string {
    return join(this.#site.home.path, ".lab", name);
  }

  async #write(name: string, text: string): Promise<void> {
    await Deno.writeTextFile(this.#path(`.${name}`), text);
    await Deno.rename(this.#path(`.${name}`), this.#path(name));
  }

  async #config(): Promise<string> {
    const lines = [
      `ListenAddress ${this.#place.host}`,
      `Port ${this.#place.port}`,
      `HostKey ${this.#site.hostKeyFile}`,
      `AuthorizedKeysFile ${this.#path("authorized_keys")}`,
      "AuthenticationMethods publickey",
      "PermitRootLogin yes",
      // The keys lie below a world-writable folder.
      "StrictModes no",
      "UsePAM no",
      "PidFile none",
      "PrintMotd no",
      "MaxStartups 100",
      // The log is how the laboratory knows what happened.
      "LogLevel DEBUG1",
      // The login shell that runs the session script must not read the real home's files first.
      `SetEnv HOME=${this.#site.home.path}`,
      `ForceCommand exec /bin/sh ${this.#path("session")}`,
    ];
    // Since 9.8 a few refused logins would shut out the loopback address for all; an older sshd refuses the word.
    if (await this.#isSince98()) lines.push("PerSourcePenalties no");
    return lines.map((line) => `${line}\n`).join("");
  }

  async #isSince98(): Promise<boolean> {
    const { stderr } = await new Deno.Command(SSHD, { args: ["-V"], stdin: "null" }).output();
    const [, major, minor] = new TextDecoder().decode(stderr).match(/OpenSSH_([0-9]+)\.([0-9]+)/) ?? [];
    return Number(major) * 100 + Number(minor) >= 908;
  }
}

/** A session is one process or two, by the user's privileges; its command stays. */
async function endSessions(listener: Deno.ChildProcess): Promise<void> {
  for (const pid of await descendantsOf(listener.pid, "sshd")) endProcess(pid);
}

const LOG_LINES: readonly (readonly [LabEvent["event"], RegExp])[] = [
  ["connect", /Connection from \S+ port [0-9]+ /],
  ["auth", /Accepted publickey for (\S+) /],
  ["forward", /server_request_direct_tcpip: .*target (\S+) port ([0-9]+)/],
];

/** What runs in the place of each command: notes it, and runs it in the laboratory's home and environment. */
function sessionScript({ home }: Site, execFolder: string, { accountClosed, noise }: Behaviour): string {
  if (accountClosed) return "echo This account is currently not available.\nexit 1\n";
  const env = Object.entries(home.env).map(([name, value]) => `${name}=${value}`);
  const start = [...env, ...home.shell].map(quoted).join(" ");
  return `printf '%s' "$SSH_ORIGINAL_COMMAND" >${quoted(execFolder)}/$$
cd ${quoted(home.path)}
printf '%s' ${quoted(noise ?? "")}
exec env -i ${start} \${SSH_ORIGINAL_COMMAND:+-c "$SSH_ORIGINAL_COMMAND"}
`;
}
