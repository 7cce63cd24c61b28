/** A laboratory as its users see it, whichever ssh server plays in it. */

import type { Scenario } from "./scenario.ts";
import type { Behaviour, LabEvent } from "./spec.ts";

/** One server of a laboratory to be started. */
export interface ServerOptions {
  readonly name: string;
  /** The name by which ssh and remote.yaml know it; default `192.168.23.14` and on. */
  readonly address?: string;
  /** Default: one unused GPU. */
  readonly scenario?: Scenario;
  readonly behaviour?: Behaviour;
  /** Default: its place in the list, from 1. */
  readonly priority?: number;
  /** Default true. */
  readonly dataReady?: boolean;
  /** Login shell: a program's name or path; default `sh`. */
  readonly shell?: string;
  /** False hides tmux; short for `hide: ["tmux"]`. */
  readonly tmux?: boolean;
  /** False leaves `~/.local/bin/uv` out. */
  readonly uv?: boolean;
  /** Programs that are not installed there. */
  readonly hide?: readonly string[];
  /** Programs of its own, name to shell script, found before the real ones. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** A laboratory to be started. */
export interface LaboratoryOptions {
  readonly servers: readonly ServerOptions[];
  /** With a jump host named `labpc`, which may misbehave as well; default none. */
  readonly jump?: boolean | { readonly behaviour?: Behaviour };
  /** The user of all servers; default `hasegawa`. */
  readonly user?: string;
}

/** A running ssh server. */
export interface LaboratoryHost {
  readonly name: string;
  /** What to give to ssh, after `user@`. */
  readonly address: string;
  readonly user: string;
  readonly home: string;
  /** TCP connections so far. */
  connections(): Promise<number>;
  /** What happened so far, in order; with `event`, that alone. */
  events(event?: LabEvent["event"]): Promise<LabEvent[]>;
  /** Breaks all connections now. */
  drop(): Promise<void>;
  /** Breaks all connections and refuses further ones. */
  stop(): Promise<void>;
  /** Is there again after a stop, under the same address and key. */
  start(): Promise<void>;
  /** Misbehaves like this, and no longer as before, in connections from now on. */
  setBehaviour(behaviour: Behaviour): Promise<void>;
}

/** A running server with GPUs. */
export interface LaboratoryServer extends LaboratoryHost {
  /** The environment of its commands. */
  readonly env: Readonly<Record<string, string>>;
  /** Its programs answer by `scenario` from now on, at once and as a whole. */
  setScenario(scenario: Scenario): Promise<void>;
}

/** A running laboratory; disposal ends all that runs in it and removes its folder. */
export interface Laboratory extends AsyncDisposable {
  /** Everything of the laboratory is below this folder. */
  readonly root: string;
  /** The ssh program to use; only through it are the servers sure to be reached. */
  readonly ssh: string;
  /** For `ssh -F`. */
  readonly sshConfig: string;
  /** A tmux socket name that no other laboratory has. */
  readonly tmuxSocket: string;
  readonly servers: readonly LaboratoryServer[];
  readonly jump: LaboratoryHost | undefined;
  /** @throws if no server has that name. */
  server(name: string): LaboratoryServer;
  /** TCP connections to all servers so far, the jump host's among them. */
  connections(): Promise<number>;
  /** What happened so far, host after host. */
  events(event?: LabEvent["event"]): Promise<LabEvent[]>;
  /** Makes a project folder with a `configs/remote.yaml` for this laboratory; returns the folder. */
  project(options?: ProjectOptions): Promise<string>;
}

/** What differs in a project. */
export interface ProjectOptions {
  /** Default: a new folder below the root. */
  readonly dir?: string;
  /** Keys of remote.yaml in the place of the laboratory's own; mappings are merged. */
  readonly config?: Readonly<Record<string, unknown>>;
}
