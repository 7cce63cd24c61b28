/** Where the programs of this system are. */

import { join } from "node:path";

/** As a login would have it. */
export const SYSTEM_PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"];

/** The path of a program. */
export async function findProgram(name: string): Promise<string> {
  if (name.includes("/")) return name;
  for (const folder of SYSTEM_PATH) {
    if (await exists(join(folder, name))) return join(folder, name);
  }
  throw new Error(`Cannot find the program '${name}' in ${SYSTEM_PATH.join(", ")}`);
}

/** Whether a file or folder is there. */
export async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
