import { join } from "node:path";
import type { Clock } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";

/**
 * Keeps a second `train` of the same run from this machine. The system lets go of it when the program ends, however it
 * ends.
 *
 * @throws {UserError} when another one holds it
 */
export async function lockRun(clock: Clock, folder: string, log: string): Promise<Disposable> {
  await Deno.mkdir(folder, { recursive: true });
  const file = await Deno.open(join(folder, ".lock"), { write: true, create: true });
  if (await tryLock(clock, file)) return { [Symbol.dispose]: () => file.close() };
  file.close();
  throw new UserError(message("rent.locked", { log }), { hint: message("rent.locked.hint") });
}

async function tryLock(clock: Clock, file: Deno.FsFile): Promise<boolean> {
  if (typeof file.tryLock === "function") return await file.tryLock(true);
  // Deno 2.4 can only wait for a lock; one that is free is had at once.
  const over = new AbortController();
  const late = clock.sleep(1000, over.signal).then(() => over.signal.aborted);
  return await Promise.race([file.lock(true).then(() => over.abort()).then(() => true), late]);
}
