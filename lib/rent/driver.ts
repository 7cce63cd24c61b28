import type { Clock, Context } from "../system/context.ts";
import type { Event } from "./event.ts";
import type { Effect, Ledger } from "./ledger.ts";
import type { LedgerStore } from "./ledger_file.ts";
import { close } from "./moves.ts";
import { endsEffect, nextStep } from "./next_step.ts";

/** What the driver works with. */
export interface DriverWorld {
  readonly clock: Clock;
  readonly onSignal: Context["onSignal"];
  readonly store: Pick<LedgerStore, "save">;
  perform(ledger: Ledger, effect: Effect, signal: AbortSignal): Promise<Event>;
  /** Tells the user what happened; `before` and `after` are the ledger around it. */
  tell(event: Event, before: Ledger, after: Ledger): Promise<void>;
  /** Takes the keys out of a text that nobody wrote with them in mind. */
  conceal(text: string): string;
  /** The ledger could not be written; the work goes on from memory. */
  unwritten(fault: unknown): Promise<void>;
}

/**
 * Goes through a rental to its end: decide, write down, do, decide. The ledger is on the disk before every effect, so
 * that the program may be killed at any instant. A ledger that cannot be written ends a rental that has not begun, and
 * is no reason to leave one that has.
 */
export async function drive(world: DriverWorld, start: Ledger, first: Event | undefined): Promise<Ledger> {
  let ledger = start;
  let signals = 0;
  let heard = 0;
  let running = new AbortController();
  const now = () => Math.floor(world.clock.now().getTime() / 1000);
  const stopListening = world.onSignal(() => {
    signals++;
    if (endsEffect(ledger, signals)) running.abort();
  });
  // A bug in what is only told must not leave a Pod behind; it comes out when the run is over.
  let untold: unknown;
  const step = async (event: Event) => {
    const before = ledger;
    ledger = decide(before, event, world.conceal);
    await world.tell(event, before, ledger).catch((fault) => untold ??= fault);
  };
  try {
    if (first !== undefined) await step(first);
    for (;;) {
      if (signals > heard) {
        heard = signals;
        await step({ kind: "signal", at: now(), count: heard });
      }
      try {
        await world.store.save(ledger);
      } catch (fault) {
        await world.unwritten(fault);
        if (ledger.next.do === "create") {
          await step({ kind: "unwritten", at: now(), detail: world.conceal(describe(fault)) });
          continue;
        }
      }
      const effect = ledger.next;
      running = new AbortController();
      // One that came in the meantime may want something else to be done.
      if (signals > heard) continue;
      const event = await attempt(world, ledger, effect, running.signal, now);
      // What was found out before a signal cut it short counts: a success above all.
      if (running.signal.aborted && event.kind === "fault") continue;
      await step(event);
      if (effect.do !== "finish") continue;
      await world.store.save(ledger).catch(world.unwritten);
      if (untold !== undefined) throw untold;
      return ledger;
    }
  } finally {
    stopListening();
  }
}

/** A bug in the deciding ends a rental as any other fault does, unless a finished training could be lost by it. */
function decide(ledger: Ledger, event: Event, conceal: (text: string) => string): Ledger {
  try {
    return nextStep(ledger, event);
  } catch (fault) {
    if (ledger.succeededAt !== null || ledger.outcome !== null) throw fault;
    return close(ledger, { kind: "fault", detail: conceal(describe(fault)) }, event.at);
  }
}

async function attempt(
  world: DriverWorld,
  ledger: Ledger,
  effect: Effect,
  signal: AbortSignal,
  now: () => number,
): Promise<Event> {
  try {
    return await world.perform(ledger, effect, signal);
  } catch (fault) {
    return { kind: "fault", at: now(), detail: world.conceal(describe(fault)) };
  }
}

function describe(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
