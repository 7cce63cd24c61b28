/** A whole rental in memory and in virtual time: the fake Runpod, a Pod's inside, the Hub, this machine's disk. */

import type { TrainConfig } from "../../lib/config/train.ts";
import { drive } from "../../lib/rent/driver.ts";
import type { Begun, Done, Event, Reply } from "../../lib/rent/event.ts";
import { type Effect, type Ledger, newLedger } from "../../lib/rent/ledger.ts";
import { perform, type PodAddress, type PodSide, type RentalWorld } from "../../lib/rent/perform.ts";
import { RunpodClient } from "../../lib/rent/runpod_client.ts";
import type { PodFile, TrainingStatus } from "../../lib/rent/types.ts";
import { podVariable } from "../../lib/rent/watchdog_script.ts";
import type { WatchdogSign } from "../../lib/rent/watchdog_link.ts";
import { type FakePod, FakeRunpod, type FakeRunpodOptions } from "../lab/fake_runpod.ts";
import { VirtualClock } from "./virtual_clock.ts";

export const accountKey = "rpa_ACCOUNTSECRET0123456789";
export const files: readonly PodFile[] = [
  { path: "_CHECKPOINT_METADATA", size: 100, sha256: "a".repeat(64), gitSha1: "b".repeat(40) },
  { path: "params/d/0001", size: 12_000_000_000, sha256: "c".repeat(64), gitSha1: "d".repeat(40) },
];

/** What happens inside a Pod. */
export interface Inside {
  readonly startedAt: number;
  extendedTo: number;
  readonly tasks: Map<string, number>;
  trainingAt: number | null;
  stoppedAt: number | null;
  restartedAt: number | null;
}

export interface SimulationOptions {
  readonly recipe: TrainConfig;
  readonly runpod?: Partial<FakeRunpodOptions>;
  /** Seconds that the training takes; `Infinity` for one that hangs. */
  readonly trainingSec?: number;
  readonly exitCode?: number;
  /** False: the last checkpoint has no commit marker. */
  readonly committed?: boolean;
  /** The log is silent from so many seconds after the start. */
  readonly silentAfterSec?: number;
  readonly sshAfterSec?: number;
  /** The container is restarted so long after the training began, and has new host keys then. */
  readonly restartAfterSec?: number;
  /** HTTP status of the watchdog's own proof. */
  readonly proof?: number;
  readonly upload?: "works" | "refused" | "fails" | "hangs";
  readonly hubDiffers?: boolean;
  readonly downloadFails?: boolean;
  readonly rescueFails?: boolean;
  /** Called before (and after) everything that touches the world; may throw, wait for ever or send signals. */
  readonly hook?: (name: string, when: "before" | "after") => void | Promise<void>;
}

export interface Run {
  readonly ledger: Ledger | undefined;
}

const startSec = 5;
const taskSec = 60;
const uploadSec = 600;

export class Simulation {
  readonly clock = new VirtualClock(new Date("2026-11-30T22:00:00Z"));
  readonly api: FakeRunpod;
  readonly insides = new Map<FakePod, Inside>();
  readonly options: SimulationOptions;
  /** Texts that were written to this machine's disk, by name. */
  readonly disk = new Map<string, string>();
  hub: readonly PodFile[] | null = null;
  home: readonly PodFile[] | null = null;
  logsFetched = 0;
  finished = 0;
  trainingsSucceeded = 0;
  /** Pods that their watchdog deleted. */
  watchdogsFired = 0;
  readonly listeners = new Set<() => void>();
  readonly story: string[] = [];
  #hookOff = false;

  constructor(options: SimulationOptions) {
    this.options = options;
    this.api = new FakeRunpod({
      accountKey,
      now: () => this.clock.now().getTime(),
      ...options.runpod,
      onStart: (pod) =>
        this.insides.set(pod, {
          startedAt: this.#now(),
          extendedTo: 0,
          tasks: new Map(),
          trainingAt: null,
          stoppedAt: null,
          restartedAt: null,
        }),
    });
    this.clock.onJump = () => this.#live();
  }

  /** Ctrl-C. */
  signal(): void {
    for (const listener of [...this.listeners]) listener();
  }

  /** `train`, until it ends or is killed. */
  async train(first?: Event): Promise<Ledger> {
    const saved = this.disk.get("ledger");
    const ledger = saved === undefined ? this.#newLedger() : JSON.parse(saved) as Ledger;
    const event = first ?? (saved === undefined ? undefined : { kind: "resumed", at: this.#now() } as const);
    const world = this.#world();
    return await drive(
      {
        clock: world.clock,
        store: world.store,
        onSignal: (listener) => {
          this.listeners.add(listener);
          return () => this.listeners.delete(listener);
        },
        perform: (state, effect, signal) => this.#performed(world, state, effect, signal),
        tell: () => this.#hooked("tell", () => {}),
        unwritten: async () => {},
        conceal: (text) => text.replaceAll(accountKey, "***"),
      },
      ledger,
      event,
    );
  }

  /** Everything that a client waits for is forgotten; nothing of it goes on. */
  kill(): void {
    this.clock.forget();
    this.listeners.clear();
  }

  withoutHook(): this {
    this.#hookOff = true;
    return this;
  }

  /** No client is there any more, and time goes on. */
  passAllDeadlines(): void {
    for (let hour = 0; hour < 24; hour++) this.clock.jump(3_600_000);
  }

  #newLedger(): Ledger {
    const { recipe } = this.options;
    const id = (number: number) => number.toString(16).padStart(32, "0");
    return newLedger({
      log: "night",
      prefix: recipe.name_prefix,
      name: `${recipe.name_prefix}-night-0123abcd`,
      begunAt: this.#now(),
      plan: {
        candidates: recipe.gpus.map(({ id: gpu, attempts, pause_sec }) => ({
          gpu,
          attempts,
          pauseSec: pause_sec,
        })),
        limitSec: recipe.limit_hours * 3600,
        graceSec: recipe.watchdog_grace_min * 60,
        extensionSec: recipe.upload_extension_hours * 3600,
        hourlyCapUsd: recipe.max_hourly_usd,
        steps: 3,
        expectedCheckpoint: 1499,
        watchSec: recipe.watch_sec,
      },
      ids: { steps: [id(1), id(2), id(3)], train: id(4), uploads: [id(5), id(6)] },
    });
  }

  #world(): RentalWorld {
    const hooked = this.#hooked;
    const save = (name: string, text: string) =>
      hooked(`write ${name}`, () => void this.disk.set(name, text));
    const api = new RunpodClient(
      { clock: this.clock, fetch: (input, init) => this.#fetch(String(input), init) },
      { base: "http://runpod.test/v2", key: accountKey },
    );
    return {
      clock: {
        now: () => this.clock.now(),
        sleep: (ms, signal) => hooked("wait", () => this.clock.sleep(ms, signal)),
      },
      recipe: this.options.recipe,
      publicKey: "ssh-ed25519 AAAA test",
      api,
      pod: this.#podSide(),
      hub: {
        compare: (_step, list) =>
          hooked<Done<null>>("hub compare", () => {
            const same = this.hub !== null && JSON.stringify(this.hub) === JSON.stringify(list) &&
              this.options.hubDiffers !== true;
            return same
              ? { ok: true, value: null }
              : { ok: false, detail: "the Hub has other files", retry: false };
          }),
        download: (_step, list) =>
          hooked<Done<{ folder: string }>>("hub download", () => {
            if (this.options.downloadFails) return { ok: false, detail: "503", retry: true };
            this.home = list;
            return { ok: true, value: { folder: "/home/ckpt/1499" } };
          }),
      },
      store: {
        save: (ledger) => save("ledger", JSON.stringify(ledger)),
        saveList: (list) => save("list", JSON.stringify(list)),
        loadList: () => Promise.resolve(JSON.parse(this.disk.get("list") ?? "[]")),
      },
      finish: () => hooked("finish", () => void this.finished++),
    };
  }

  async #performed(world: RentalWorld, ledger: Ledger, effect: Effect, signal: AbortSignal): Promise<Event> {
    this.story.push(effect.do);
    return await perform(world, ledger, effect, signal);
  }

  #hooked = async <T>(name: string, work: () => T | Promise<T>): Promise<T> => {
    if (!this.#hookOff) await this.options.hook?.(name, "before");
    const result = await work();
    if (!this.#hookOff) await this.options.hook?.(name, "after");
    return result;
  };

  async #fetch(url: string, init?: RequestInit): Promise<Response> {
    const name = `${init?.method} ${new URL(url).pathname.replace(/pod\d+\w/, ":id")}`;
    if (!this.#hookOff) await this.options.hook?.(name, "before");
    const text = typeof init?.body === "string" ? init.body : "";
    const request = new Request(url, { ...init, signal: null });
    const { response, misfortune } = this.api.meet(request, text);
    if (misfortune?.kind === "drop") throw new TypeError("error sending request: connection reset");
    if (misfortune?.kind === "hang") {
      return await new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")), { once: true })
      );
    }
    const body = await this.clock.during(() => response.text());
    if (!this.#hookOff) await this.options.hook?.(name, "after");
    return {
      status: response.status,
      headers: response.headers,
      text: () => Promise.resolve(body),
    } as Response;
  }

  #podSide(): PodSide {
    const { options } = this;
    const reached = <T>(name: string, address: PodAddress, work: (inside: Inside) => T): Promise<Reply<T>> =>
      this.#hooked<Reply<T>>(`ssh ${name}`, () => {
        const inside = this.#insideAt(address);
        if (inside === undefined) return { ok: false, detail: "refused" };
        if (inside.restartedAt !== null && address.restarts === 0) {
          return { ok: false, detail: "host_key_changed: REMOTE HOST IDENTIFICATION HAS CHANGED" };
        }
        return { ok: true, value: work(inside) };
      });
    const doing = <T>(
      name: string,
      address: PodAddress,
      work: (inside: Inside) => Done<T>,
    ): Promise<Done<T>> =>
      reached(name, address, work).then((reply) => reply.ok ? reply.value : { ...reply, retry: true });
    const sign = (inside: Inside, pod: FakePod): WatchdogSign => ({
      ageSec: 3,
      until: this.#until(pod, inside),
      proof: options.proof ?? 200,
    });
    const begin = (id: string) => (inside: Inside): Begun => {
      if (!inside.tasks.has(id)) inside.tasks.set(id, this.#now());
      return { kind: "started" };
    };
    const seen = (id: string, seconds: number, exit: number) => (inside: Inside) => {
      const over = this.#now() - (inside.tasks.get(id) ?? this.#now()) >= seconds;
      return { running: !over, exitCode: over ? exit : null, said: over ? `exit ${exit}` : "" };
    };
    return {
      sign: (at) => reached("sign", at, (inside) => sign(inside, this.#podAt(at))),
      extend: (at, until) =>
        reached("extend", at, (inside) => {
          inside.extendedTo = until;
          return sign(inside, this.#podAt(at));
        }),
      beginStep: (at, index, id) =>
        reached("begin step", at, (inside) => index === 1 ? { kind: "done" } : begin(id)(inside)),
      lookStep: (at, _index, id) => reached("look step", at, seen(id, taskSec, 0)),
      beginTraining: (at) =>
        reached("begin training", at, (inside) => {
          inside.trainingAt ??= this.#now();
          return { kind: "started" };
        }),
      look: (at) => reached("look", at, (inside) => this.#status(inside)),
      listCheckpoint: (at) => doing("list", at, () => ({ ok: true, value: files })),
      beginUpload: (at, { id }) =>
        doing("begin upload", at, (inside) => {
          begin(id)(inside);
          return { ok: true, value: null };
        }),
      lookUpload: (at, id) =>
        reached("look upload", at, (inside) => {
          const works = options.upload === undefined || options.upload === "works";
          const seconds = options.upload === "hangs" ? Infinity : uploadSec;
          const status = seen(id, seconds, works ? 0 : 1)(inside);
          if (status.exitCode === 0) this.hub = files;
          const commit = status.exitCode === 0 ? "e".repeat(40) : null;
          return { ...status, commit, final: options.upload === "refused" };
        }),
      stopTraining: (at) =>
        reached("stop training", at, (inside) => {
          inside.stoppedAt ??= this.#now();
          return null;
        }),
      fetchLogs: (at) =>
        reached("fetch logs", at, () => {
          this.logsFetched++;
          return null;
        }),
      rescue: (at, _step, list) =>
        doing("rescue", at, () => {
          if (options.rescueFails) return { ok: false, detail: "cut", retry: true };
          this.home = list;
          return { ok: true, value: { folder: "/home/ckpt/1499" } };
        }),
    };
  }

  #status(inside: Inside): TrainingStatus {
    const { trainingSec = 3600, exitCode = 0, committed = true, silentAfterSec = Infinity } = this.options;
    const age = (inside.restartedAt ?? this.#now()) - (inside.trainingAt ?? this.#now());
    const over = inside.stoppedAt === null && age >= trainingSec;
    const success = over && exitCode === 0;
    if (success && committed) this.trainingsSucceeded++;
    return {
      running: !over && inside.stoppedAt === null && inside.restartedAt === null,
      exitCode: over ? exitCode : null,
      logAgeSec: Math.max(0, age - Math.min(silentAfterSec, trainingSec)),
      bar: "",
      step: 100,
      loss: 0.5,
      checkpoint: success ? 1499 : 1000,
      committed: success ? committed : true,
    };
  }

  #podAt({ port }: PodAddress): FakePod {
    const pod = this.api.alive().find((each) => each.direct?.port === port);
    if (pod === undefined) throw new Error("no Pod");
    return pod;
  }

  #insideAt({ port }: PodAddress): Inside | undefined {
    const pod = this.api.alive().find((each) => each.direct?.port === port);
    return pod === undefined ? undefined : this.insides.get(pod);
  }

  #until(pod: FakePod, inside: Inside): number {
    const deadline = Number(pod.request.env?.[podVariable.deadline]);
    const extension = Number(pod.request.env?.[podVariable.extension]);
    return Math.max(deadline, Math.min(inside.extendedTo, deadline + extension));
  }

  /** What goes on in the Pods by itself. */
  #live(): void {
    for (const pod of this.api.alive()) {
      const inside = this.insides.get(pod);
      if (inside === undefined) continue;
      const age = this.#now() - inside.startedAt;
      if (age >= startSec && pod.status === "PROVISIONING") {
        pod.status = "RUNNING";
        pod.containerAt = this.clock.now().getTime();
      }
      const { restartAfterSec = Infinity } = this.options;
      if (inside.restartedAt === null && this.#now() - (inside.trainingAt ?? Infinity) >= restartAfterSec) {
        inside.restartedAt = this.#now();
        pod.containerAt = this.clock.now().getTime();
      }
      if (age >= (this.options.sshAfterSec ?? 40) && pod.status === "RUNNING") {
        pod.direct ??= { host: "203.0.113.9", port: 10_000 + this.api.pods.indexOf(pod) };
      }
      if (this.#now() < this.#until(pod, inside)) continue;
      this.watchdogsFired++;
      this.api.end(pod);
    }
  }

  #now(): number {
    return Math.floor(this.clock.now().getTime() / 1000);
  }
}
