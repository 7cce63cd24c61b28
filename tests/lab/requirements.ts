/** What a test needs of this system. */

import { hidingAvailable } from "./hide.ts";
import { openSshAvailable } from "./openssh.ts";

/** For `hide`, `tmux: false` and the like: what is not a program, but must be possible. */
export const HIDING = "a way to hide programs";

/**
 * The head of a test that needs programs: ignored, with the reason in its name, where one is missing.
 *
 * ```ts ignore
 * Deno.test({ ...needing(["tmux"], "kill ends the session"), fn: … });
 * ```
 */
export function needing(programs: readonly string[], name: string): { name: string; ignore: boolean } {
  const missing = programs.filter((program) => !isThere(program));
  if (missing.length === 0) return { name, ignore: false };
  return { name: `${name} (ignored: ${missing.join(", ")} missing)`, ignore: true };
}

function isThere(program: string): boolean {
  if (program === HIDING) return hidingAvailable();
  if (program === "sshd") return openSshAvailable().available;
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  return folders.some((folder) => isFile(`${folder}/${program}`));
}

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}
