/** A world without effects: buffers for streams, a clock that a test turns, and nothing that it did not allow. */

import type {
  Clock,
  Context,
  EnvironmentName,
  Input,
  Output,
  ProcessSpec,
  RunningProcess,
} from "../lib/system/context.ts";

/** Collects what is written. */
export class BufferOutput implements Output {
  readonly #chunks: Uint8Array[] = [];
  readonly isTerminal: boolean;
  readonly columns: number;

  constructor({ isTerminal = false, columns = 80 }: { isTerminal?: boolean; columns?: number } = {}) {
    this.isTerminal = isTerminal;
    this.columns = columns;
  }

  write(data: string | Uint8Array): Promise<void> {
    this.#chunks.push(typeof data === "string" ? new TextEncoder().encode(data) : data.slice());
    return Promise.resolve();
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#chunks.flatMap((chunk) => [...chunk]));
  }

  get text(): string {
    return new TextDecoder().decode(this.bytes);
  }
}

/** Stands still until a test moves it on. */
export class FakeClock implements Clock {
  #now: number;
  #sleepers: { readonly until: number; readonly wake: () => void }[] = [];

  constructor(start = new Date("2026-01-02T03:04:05Z")) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const sleeper = { until: this.#now + milliseconds, wake: done };
      const remove = () => this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
      function done() {
        remove();
        signal?.removeEventListener("abort", done);
        resolve();
      }
      this.#sleepers.push(sleeper);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  /** Sleepers that still wait, as milliseconds from now. */
  get waiting(): number[] {
    return this.#sleepers.map(({ until }) => until - this.#now).sort((a, b) => a - b);
  }

  /** Moves on by `milliseconds`, waking sleepers in their order and letting each do what it then does. */
  async tick(milliseconds: number): Promise<void> {
    const end = this.#now + milliseconds;
    await settle();
    for (;;) {
      const [next] = this.#sleepers.filter(({ until }) => until <= end).sort((a, b) => a.until - b.until);
      if (next === undefined) break;
      this.#now = Math.max(this.#now, next.until);
      next.wake();
      await settle();
    }
    this.#now = end;
  }
}

/** Lets everything that can go on without time or input go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}

export interface TestContext extends Context {
  readonly out: BufferOutput;
  readonly err: BufferOutput;
  readonly clock: FakeClock;
  /** As Ctrl-C does. */
  interrupt(): void;
}

/**
 * Buffers, terminals off, a clock that stands still. Everything else must be given: an effect that a test did not
 * expect throws.
 */
export function testContext(
  given: {
    readonly env?: Readonly<Partial<Record<EnvironmentName, string>>>;
    readonly out?: BufferOutput;
    readonly err?: BufferOutput;
    readonly input?: Input;
    readonly os?: string;
    readonly cwd?: string;
    readonly hostname?: string;
    readonly random?: (length: number) => Uint8Array;
    readonly start?: (spec: ProcessSpec) => RunningProcess;
  } = {},
): TestContext {
  const unexpected = (what: string) => (): never => {
    throw new Error(`Unexpected call: ${what}`);
  };
  const { cwd, hostname } = given;
  const controller = new AbortController();
  return {
    out: given.out ?? new BufferOutput(),
    err: given.err ?? new BufferOutput(),
    input: given.input ?? { isTerminal: false, readLine: unexpected("readLine") },
    clock: new FakeClock(),
    os: given.os ?? "linux",
    env: (name) => given.env?.[name],
    cwd: cwd === undefined ? unexpected("cwd") : () => cwd,
    hostname: hostname === undefined ? unexpected("hostname") : () => hostname,
    random: given.random ?? unexpected("random"),
    start: given.start ?? unexpected("start"),
    fetch: unexpected("fetch"),
    interrupted: controller.signal,
    onSignal: unexpected("onSignal"),
    interrupt: () => controller.abort(),
  };
}

/** Random bytes that are the same each time: 0, 1, 2 … */
export function countingRandom(): (length: number) => Uint8Array {
  let next = 0;
  return (length) => Uint8Array.from({ length }, () => next++ % 256);
}
