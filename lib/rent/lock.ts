import { join } from "node:path";
import { message, UserError } from "../system/errors.ts";

/**
 * Keeps a second `train` of the same run from this machine. The system lets go of it when the program ends, however it
 * ends.
 *
 * @throws {UserError} when another one holds it
 */
export async function lockRun(folder: string, log: string): Promise<Disposable> {
  await Deno.mkdir(folder, { recursive: true });
  const file = await Deno.open(join(folder, ".lock"), { write: true, create: true });
  if (await file.tryLock(true)) return { [Symbol.dispose]: () => file.close() };
  file.close();
  throw new UserError(message("rent.locked", { log }), { hint: message("rent.locked.hint") });
}
