/**
 * Rented Pods without a rent: the fake Runpod on a loopback port, whose Pods are ssh servers of a laboratory beside a
 * container that really runs the start command, really restarts it when it ends, and takes everything with it when the
 * Pod goes.
 */

import { join } from "node:path";
import { type FakePod, FakeRunpod, type FakeRunpodOptions } from "./fake_runpod.ts";
import { startLaboratory } from "./laboratory.ts";
import { endProcess } from "./processes.ts";
import { SYSTEM_PATH } from "./system_path.ts";
import type { Laboratory, LaboratoryServer } from "./types.ts";

export interface RunpodLabOptions extends Partial<Omit<FakeRunpodOptions, "now" | "onStart" | "onEnd">> {
  /** How many Pods there can be in all; default 2. */
  readonly machines?: number;
  /** Programs on every Pod, name to script. */
  readonly programs?: Readonly<Record<string, string>>;
}

/** A Pod's container. */
interface Container {
  readonly server: LaboratoryServer;
  child: Deno.ChildProcess | undefined;
  over: boolean;
  done: Promise<void>;
}

export class RunpodLab implements AsyncDisposable {
  readonly lab: Laboratory;
  readonly api: FakeRunpod;
  readonly #containers = new Map<FakePod, Container>();
  readonly #free: LaboratoryServer[];
  #server: Deno.HttpServer<Deno.NetAddr> | undefined;

  private constructor(lab: Laboratory, options: RunpodLabOptions) {
    this.lab = lab;
    this.#free = [...lab.servers];
    this.api = new FakeRunpod({
      accountKey: "rpa_ACCOUNTSECRET0123456789",
      ...options,
      now: () => Date.now(),
      onStart: (pod) => this.#begin(pod),
      onEnd: (pod) => this.#end(pod),
    });
  }

  static async start(options: RunpodLabOptions = {}): Promise<RunpodLab> {
    const lab = await startLaboratory({
      user: "root",
      servers: Array.from({ length: options.machines ?? 2 }, (_, number) => ({
        name: `machine${number + 1}`,
        behaviour: { dead: true },
        ...(options.programs === undefined ? {} : { programs: options.programs }),
      })),
    });
    const pods = new RunpodLab(lab, options);
    pods.#server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => pods.api.handle(request),
    );
    return pods;
  }

  /** For `api_url`. */
  get url(): string {
    return `http://127.0.0.1:${this.#server?.addr.port}/v2`;
  }

  /** The private key with which the Pods let people in. */
  get identity(): string {
    return join(this.lab.root, "user");
  }

  /** A folder that each Pod has for itself under one name, as its volume; a recipe's `volume.path`. */
  get volume(): string {
    return join(this.lab.root, "workspace");
  }

  /** Everything in a Pod's container ends, and Runpod starts it anew; its volume stays. */
  async restart(pod: FakePod): Promise<void> {
    const container = this.#containers.get(pod);
    if (container?.child === undefined) return;
    endGroup(container.child.pid);
    await endProcessesOf(container.server.home);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const pod of this.api.alive()) this.api.end(pod);
    await Promise.all([...this.#containers.values()].map(({ done }) => done));
    await this.#server?.shutdown();
    await this.lab[Symbol.asyncDispose]();
  }

  #begin(pod: FakePod): void {
    const server = this.#free.shift();
    if (server === undefined) throw new Error("Cannot start a Pod: the laboratory has no machine left");
    const container: Container = { server, child: undefined, over: false, done: Promise.resolve() };
    this.#containers.set(pod, container);
    container.done = this.#live(pod, container);
  }

  async #live(pod: FakePod, container: Container): Promise<void> {
    const { server } = container;
    await Deno.mkdir(this.volume, { recursive: true });
    await server.setBehaviour({});
    const port = await portOf(this.lab, server);
    while (!container.over) {
      container.child = this.#startContainer(pod, server);
      if (pod.status === "PROVISIONING") pod.status = "RUNNING";
      pod.containerAt = Date.now();
      pod.direct = { host: "127.0.0.1", port };
      await container.child.status;
      // What else ran in the container ends with its first process.
      endGroup(container.child.pid);
      if (!container.over) await new Promise((resolve) => setTimeout(resolve, 300));
    }
    await endProcessesOf(server.home);
  }

  #startContainer({ request, id, key }: FakePod, server: LaboratoryServer): Deno.ChildProcess {
    const words = request.args === undefined || request.args === ""
      ? [...request.entrypoint ?? [], ...request.cmd ?? []]
      // The service splits the one text into words as a shell would.
      : ["sh", "-c", `exec ${request.args}`];
    const [program = "false", ...args] = words;
    return new Deno.Command("setsid", {
      args: [program, ...args],
      clearEnv: true,
      env: {
        ...server.env,
        PATH: [join(server.home, ".lab/bin"), ...SYSTEM_PATH].join(":"),
        ...request.env,
        RUNPOD_POD_ID: id,
        RUNPOD_API_KEY: key,
      },
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).spawn();
  }

  #end(pod: FakePod): void {
    const container = this.#containers.get(pod);
    if (container === undefined || container.over) return;
    container.over = true;
    void container.server.setBehaviour({ dead: true });
    if (container.child !== undefined) endGroup(container.child.pid);
    container.done = container.done.then(() => endProcessesOf(container.server.home));
  }
}

/** `setsid` made the first process the leader of its group. */
function endGroup(leader: number): void {
  try {
    Deno.kill(-leader, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** The port that the laboratory's ssh configuration has for a server. */
async function portOf(lab: Laboratory, server: LaboratoryServer): Promise<number> {
  const config = await Deno.readTextFile(lab.sshConfig);
  const entry = config.slice(config.indexOf(`Host ${server.address}\n`));
  return Number(/Port (\d+)/.exec(entry)?.[1]);
}

/** Ends everything that has this home: the container, its watchdog, and what came over ssh. */
async function endProcessesOf(home: string): Promise<void> {
  for (let rounds = 0; rounds < 3; rounds++) {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^[1-9]\d*$/.test(name)) continue;
      const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
      if (`\0${environment}\0`.includes(`\0HOME=${home}\0`)) endProcess(Number(name));
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
