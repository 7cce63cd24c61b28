/** Programs as a test plays them. */

import type { Clock, ProcessSpec, ProcessStatus, RunningProcess } from "../../lib/system/context.ts";

/** How a program behaves: it ends with a code at once, with its input, or only when it is killed. */
export type Behaviour = { readonly code: number; readonly when: "at once" | "input ends" | "killed" };

/** A clock whose sleeps end at once, or only when they are given up. */
export function clockThat(sleeps: "ends at once" | "never ends"): Clock {
  return {
    now: () => new Date(0),
    sleep: (_, signal) =>
      sleeps === "ends at once" || signal?.aborted
        ? Promise.resolve()
        : new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true })),
  };
}

/** A `start` that notes what it was asked for. */
export function fakeStart(behaviour: Behaviour) {
  const started: ProcessSpec[] = [];
  let killed = 0;
  const start = (spec: ProcessSpec): RunningProcess => {
    started.push(spec);
    const { promise, resolve } = Promise.withResolvers<ProcessStatus>();
    if (behaviour.when === "at once") resolve({ code: behaviour.code, signal: null });
    const empty = () => new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
    return {
      stdin: new WritableStream({
        close: () =>
          behaviour.when === "input ends" ? resolve({ code: behaviour.code, signal: null }) : undefined,
      }),
      stdout: empty(),
      stderr: empty(),
      status: promise,
      kill() {
        killed += 1;
        resolve({ code: 143, signal: "SIGTERM" });
      },
    };
  };
  return { start, started, killed: () => killed };
}
