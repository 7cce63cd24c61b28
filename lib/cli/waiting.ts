import type { Context } from "../system/context.ts";

/**
 * Shows `line(secondsLeft)` on a terminal, anew each second, until `work` has ended, and leaves no trace of it.
 * Elsewhere `line(seconds)` is one line at the start.
 */
export async function whileWaiting<T>(
  world: Pick<Context, "err" | "clock">,
  seconds: number,
  line: (secondsLeft: number) => string,
  work: Promise<T>,
): Promise<T> {
  // It may fail while the first line is still being written; the failure is met at the await below.
  work.catch(() => {});
  if (!world.err.isTerminal) {
    await world.err.write(`${line(seconds)}\n`);
    return await work;
  }
  const over = new AbortController();
  const ticking = (async () => {
    for (let left = seconds; !over.signal.aborted; left = Math.max(0, left - 1)) {
      await world.err.write(`\r\x1b[K${line(left)}`);
      await world.clock.sleep(1000, over.signal);
    }
    await world.err.write("\r\x1b[K");
  })();
  try {
    return await work;
  } finally {
    over.abort();
    await ticking;
  }
}
