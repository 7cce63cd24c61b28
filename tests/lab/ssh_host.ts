/** One simulated ssh server: who may come in, and what a connection may do. */

import { readFileSync } from "node:fs";
import { connect, createServer, type Server as TcpServer, type Socket } from "node:net";
// @ts-types="npm:@types/ssh2@1.15.6"
import ssh2, { type AuthContext, type Connection, type ParsedKey, type ServerChannel } from "ssh2";
import type { Behaviour, LabEvent, ServerSpec } from "./spec.ts";
import { runCommand } from "./ssh_command.ts";

/** A server that can be stopped, started again on its port, and told to misbehave. */
export class SshHost {
  readonly #spec: ServerSpec;
  readonly #record: (event: Omit<LabEvent, "time">) => void;
  readonly #hostKey: string;
  readonly #userKey: ParsedKey;
  readonly #sockets = new Set<Socket>();
  #behaviour: Behaviour;
  #listener: TcpServer | undefined;
  #port = 0;
  #connections = 0;

  constructor(spec: ServerSpec, record: (event: Omit<LabEvent, "time">) => void) {
    this.#spec = spec;
    this.#record = record;
    this.#behaviour = spec.behaviour;
    this.#hostKey = readFileSync(spec.hostKeyFile, "utf8");
    this.#userKey = ssh2.utils.parseKey(readFileSync(spec.userKeyFile, "utf8")) as ParsedKey;
  }

  /** Listens, unless dead, and returns the port. */
  async start(): Promise<number> {
    if (this.#listener) return this.#port;
    await this.#listen();
    // A port that was just given up is one where nobody listens.
    if (this.#behaviour.dead) this.stop();
    return this.#port;
  }

  /** Gives up the port and breaks all connections. */
  stop(): number {
    this.#listener?.close();
    this.#listener = undefined;
    return this.drop();
  }

  /** Breaks all connections. */
  drop(): number {
    for (const socket of this.#sockets) socket.destroy();
    return this.#port;
  }

  /** Applies to connections from now on; who was dead and no longer is listens again. */
  async behave(behaviour: Behaviour): Promise<number> {
    const wasDead = this.#behaviour.dead;
    this.#behaviour = behaviour;
    if (behaviour.dead) return this.stop();
    return wasDead ? await this.start() : this.#port;
  }

  #listen(): Promise<void> {
    const listener = this.#listener = createServer((socket) => this.#welcome(socket));
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    listener.once("error", reject);
    listener.listen(this.#port, "127.0.0.1", () => {
      const address = listener.address();
      if (address !== null && typeof address === "object") this.#port = address.port;
      resolve();
    });
    return promise;
  }

  #welcome(socket: Socket): void {
    this.#event("connect");
    const number = ++this.#connections;
    const behaviour = this.#behaviour;
    this.#sockets.add(socket);
    // ssh2 writes in small pieces: with Nagle's algorithm each exchange would wait 40 ms for a delayed acknowledgement.
    socket.setNoDelay(true);
    socket.once("close", () => this.#sockets.delete(socket));
    // A client may disappear at any moment; there is nothing to be done about it.
    socket.on("error", () => {});
    if (behaviour.silent) return;

    // An ssh2 server for each socket: its connection event tells nothing that would lead back to a shared one's.
    const server = new ssh2.Server({ hostKeys: [this.#hostKey] }, (connection) => {
      connection.on("error", () => {});
      connection.on("authentication", (attempt) => this.#authenticate(attempt, behaviour));
      connection.once("ready", () => this.#serve(connection, socket, number, behaviour));
    });
    server.injectSocket(socket);
  }

  #authenticate(attempt: AuthContext, behaviour: Behaviour): void {
    const known = this.#spec.users.includes(attempt.username) && !behaviour.refuseAuthentication;
    if (!known || attempt.method !== "publickey" || !this.#proves(attempt)) {
      return attempt.reject(["publickey"]);
    }
    // Without a signature the client only asks whether this key would do.
    if (!attempt.signature) return attempt.accept();
    this.#event("auth", attempt.username);
    setTimeout(() => attempt.accept(), (behaviour.loginDelaySec ?? 0) * 1000);
  }

  #proves(attempt: ssh2.PublicKeyAuthContext): boolean {
    const key = this.#userKey;
    if (attempt.key.algo !== key.type || !attempt.key.data.equals(key.getPublicSSH())) return false;
    const { blob, signature, hashAlgo } = attempt;
    return !blob || !signature || key.verify(blob, signature, hashAlgo) === true;
  }

  #serve(connection: Connection, socket: Socket, number: number, behaviour: Behaviour): void {
    const { dropAfter } = behaviour;
    const breaks = dropAfter && (dropAfter.connection ?? number) === number;
    const cut = breaks ? { ...dropAfter, drop: () => socket.end(() => socket.destroy()) } : undefined;
    const run = (command: string | undefined, accept: () => ServerChannel) => {
      this.#event("exec", command);
      runCommand({ ...this.#spec, behaviour }, command, accept(), cut);
    };
    connection.on("session", (acceptSession) => {
      const session = acceptSession();
      session.on("exec", (accept, _reject, { command }) => run(command, accept));
      session.on("shell", (accept) => run(undefined, accept));
    });
    // What a jump host does.
    connection.on("tcpip", (accept, reject, { destIP, destPort }) => {
      this.#event("forward", `${destIP}:${destPort}`);
      const onward = connect(destPort, destIP);
      onward.setNoDelay(true);
      onward.once("error", () => reject());
      onward.once("connect", () => {
        const channel = accept();
        onward.removeAllListeners("error").on("error", () => channel.destroy());
        channel.on("error", () => onward.destroy()).on("close", () => onward.destroy());
        onward.on("close", () => channel.end());
        onward.pipe(channel).pipe(onward);
      });
    });
  }

  #event(event: LabEvent["event"], detail?: string): void {
    this.#record({ server: this.#spec.name, event, ...(detail === undefined ? {} : { detail }) });
  }
}
