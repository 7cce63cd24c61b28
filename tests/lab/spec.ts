/** What the laboratory and the process of its ssh servers tell each other. */

/** How a server misbehaves; nothing of it by default. */
export interface Behaviour {
  /** No one listens at the port. */
  readonly dead?: boolean;
  /** TCP connects, then the server says nothing. */
  readonly silent?: boolean;
  /** No key is accepted. */
  readonly refuseAuthentication?: boolean;
  /** Seconds between the right key and its acceptance. */
  readonly loginDelaySec?: number;
  /** What the login prints on stdout before the command; anything, with or without a newline at its end. */
  readonly noise?: string;
  /** The account has no shell: each command answers with one sentence and exit status 1. */
  readonly accountClosed?: boolean;
  /** The network breaks in the middle of a command. */
  readonly dropAfter?: {
    /** At least 1: no more bytes than that of the command's `stdout` (the default) or `stdin` get through. */
    readonly bytes: number;
    readonly stream?: "stdout" | "stdin";
    /** Only in the connection of this number, the first of the server being 1; default each. */
    readonly connection?: number;
  };
}

/** A server as its process needs to know it. */
export interface ServerSpec {
  readonly name: string;
  /** Private host key. */
  readonly hostKeyFile: string;
  /** Public key of the one user. */
  readonly userKeyFile: string;
  readonly users: readonly string[];
  /** The login shell by its path, after what it is started by, if anything. */
  readonly shell: readonly string[];
  readonly home: string;
  /** The whole environment of a command. */
  readonly env: Readonly<Record<string, string>>;
  readonly behaviour: Behaviour;
}

/** The specification file of one process: its servers, and where it writes down what happened. */
export interface ProcessSpec {
  readonly servers: readonly ServerSpec[];
  readonly eventsFile: string;
}

/** A line on the process's stdin; it answers each by one {@linkcode Reply} line on stdout, in order. */
export type Order =
  | { readonly server: string; readonly do: "drop" | "stop" | "start" }
  | { readonly server: string; readonly do: "behave"; readonly behaviour: Behaviour };

/** An order is done; without an order, a server is ready. A dead or stopped server keeps its port number. */
export interface Reply {
  readonly server: string;
  readonly port: number;
}

/** A line of the events file. */
export interface LabEvent {
  /** ISO 8601, UTC; absent where the server's log has none. */
  readonly time?: string;
  readonly server: string;
  readonly event: "connect" | "auth" | "exec" | "forward";
  /** The user name, the command, or the destination. */
  readonly detail?: string;
}
