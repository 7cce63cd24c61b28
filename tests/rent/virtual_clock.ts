import { setImmediate } from "node:timers";
import type { Clock } from "../../lib/system/context.ts";

interface Timer {
  readonly at: number;
  readonly resolve: () => void;
}

/**
 * A clock that jumps to the next thing that is waited for as soon as nothing else is going on. Work that is not
 * waiting for this clock says so by `during`.
 */
export class VirtualClock implements Clock {
  #now: number;
  #timers: Timer[] = [];
  #busy = 0;
  #pumping = false;
  /** Called after each jump. */
  onJump: () => void = () => {};

  constructor(start: Date) {
    this.#now = start.getTime();
  }

  now(): Date {
    return new Date(this.#now);
  }

  sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer: Timer = { at: this.#now + milliseconds, resolve: done };
      const remove = () => {
        this.#timers = this.#timers.filter((each) => each !== timer);
        done();
      };
      function done() {
        signal?.removeEventListener("abort", remove);
        resolve();
      }
      signal?.addEventListener("abort", remove, { once: true });
      this.#timers.push(timer);
      this.#pump();
    });
  }

  /** Time stands still meanwhile. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work();
    } finally {
      this.#busy--;
    }
  }

  /** Forgets who waits: their program was killed. */
  forget(): void {
    this.#timers = [];
  }

  /** The machine was asleep, or nobody was there. */
  jump(milliseconds: number): void {
    this.#now += milliseconds;
    this.onJump();
  }

  #pump(): void {
    if (this.#pumping) return;
    this.#pumping = true;
    const turn = () => {
      if (this.#timers.length === 0) {
        this.#pumping = false;
        return;
      }
      if (this.#busy === 0) {
        const next = this.#timers.reduce((first, each) => each.at < first.at ? each : first);
        this.#timers = this.#timers.filter((each) => each !== next);
        this.#now = Math.max(this.#now, next.at);
        this.onJump();
        next.resolve();
      }
      setImmediate(turn);
    };
    setImmediate(turn);
  }
}
