/** A server without a network: what ssh would run there is run here by `sh`, in a home and with programs of its own. */

import { join } from "node:path";
import type { RunningProcess } from "../../lib/system/context.ts";
import type { ServerConfig } from "../../lib/config/remote.ts";
import { type Disk, realDisk } from "../../lib/transfer/disk.ts";
import { type PullDeps, type PullListener, type PullOutcome, pullRun } from "../../lib/transfer/pull.ts";
import { parsePattern, type Pattern } from "../../lib/transfer/whitelist.ts";
import { byteStream } from "../system/byte_stream.ts";
import { wide } from "./reading.ts";

const server: ServerConfig = {
  name: "Newton",
  address: "192.168.23.14",
  user: "hasegawa",
  priority: 1,
  remote_dir: "~/work",
  data_dir: "~/data",
  uv: "uv",
  data_ready: true,
};

export interface PullOptions {
  readonly patterns?: readonly Pattern[];
  readonly limits?: typeof wide;
  readonly onlyPlan?: boolean;
  readonly disk?: Disk;
  readonly patience?: number;
  readonly interrupted?: AbortSignal;
  readonly listener?: Partial<PullListener>;
  /** Changes what the server's side says on its way here. */
  readonly through?: (stdout: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array>;
}

export class LocalServer implements AsyncDisposable {
  readonly #root: string;
  /** Ends of the standard errors of what was started: whoever inherited them is gone then. */
  readonly #ends: Promise<void>[] = [];

  private constructor(root: string) {
    this.#root = root;
  }

  static async start(): Promise<LocalServer> {
    const root = await Deno.makeTempDir({ prefix: "pull-" });
    await Deno.mkdir(join(root, "home/work/runs/r"), { recursive: true });
    await Deno.mkdir(join(root, "bin"));
    await Deno.mkdir(join(root, "project"));
    return new LocalServer(root);
  }

  /** Where the files come to. */
  get runs(): string {
    return join(this.#root, "project/runs");
  }

  get home(): string {
    return join(this.#root, "home");
  }

  /** A file of the run `r` on the server. */
  async write(name: string, content: string | Uint8Array): Promise<void> {
    const path = join(this.home, "work/runs/r", name);
    await Deno.mkdir(join(path, ".."), { recursive: true });
    await Deno.writeFile(path, typeof content === "string" ? new TextEncoder().encode(content) : content);
  }

  /** Empties the run. */
  async clear(): Promise<void> {
    await Deno.remove(join(this.home, "work/runs/r"), { recursive: true });
    await Deno.mkdir(join(this.home, "work/runs/r"));
  }

  /** A program that comes before the system's. */
  async program(name: string, script: string): Promise<void> {
    await Deno.writeTextFile(join(this.#root, "bin", name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }

  pull(options: PullOptions = {}): Promise<PullOutcome> {
    const deps: PullDeps = {
      clock: {
        now: () => new Date(),
        sleep: (milliseconds, signal) =>
          new Promise((resolve) => {
            const timer = setTimeout(done, milliseconds);
            function done() {
              clearTimeout(timer);
              resolve();
            }
            signal?.addEventListener("abort", done, { once: true });
          }),
      },
      env: () => undefined,
      os: Deno.build.os,
      random: (length) => crypto.getRandomValues(new Uint8Array(length)),
      interrupted: options.interrupted ?? new AbortController().signal,
      start: ({ args }) => this.#start(args.at(-1) ?? "", options.through),
      disk: options.disk ?? realDisk,
      ...(options.patience === undefined ? {} : { patience: options.patience }),
    };
    return pullRun(deps, { jump_host: null, connect_timeout_sec: 15 }, {
      server,
      runId: "r",
      patterns: options.patterns ?? ["figures/*.png", "config.yaml"].map(parsePattern),
      limits: options.limits ?? wide,
      runs: this.runs,
      onlyPlan: options.onlyPlan ?? false,
    }, { plan() {}, waiting() {}, received() {}, ...options.listener });
  }

  /** Path → content of everything in the project, directories with a slash; empty while nothing was ever placed. */
  async placed(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    const visit = async (path: string) => {
      for await (const { name, isDirectory, isSymlink } of Deno.readDir(join(this.#root, "project", path))) {
        const inner = path === "" ? name : `${path}/${name}`;
        if (isDirectory) {
          found[`${inner}/`] = "";
          await visit(inner);
        } else {
          const file = join(this.#root, "project", inner);
          found[inner] = isSymlink ? `-> ${await Deno.readLink(file)}` : await Deno.readTextFile(file);
        }
      }
    };
    await visit("");
    return found;
  }

  #start(command: string, through: PullOptions["through"]): RunningProcess {
    const child = new Deno.Command("sh", {
      args: ["-c", command],
      cwd: this.home,
      env: { HOME: this.home, PATH: `${join(this.#root, "bin")}:${Deno.env.get("PATH")}` },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ends.push(promise);
    return {
      stdin: child.stdin,
      stdout: through === undefined ? child.stdout : byteStream(through(child.stdout)),
      stderr: child.stderr.pipeThrough(new TransformStream({ flush: () => resolve() })),
      status: child.status,
      kill() {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has ended already.
        }
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#ends);
    await Deno.remove(this.#root, { recursive: true });
  }
}
