import { UserError } from "../system/errors.ts";

/** What `work` gives, or the fault that it ends with: an examination goes on where a command would end. */
export async function orFault<T>(work: () => T | Promise<T>): Promise<T | UserError> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof UserError) return fault;
    throw fault;
  }
}
