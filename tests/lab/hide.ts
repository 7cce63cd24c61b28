/**
 * Takes programs of this system away from the commands of one server, and from nobody else.
 *
 * A PATH without them would not do: a script may well add `/usr/bin` to it. So each command gets a mount namespace of
 * its own, in which an overlay with whiteouts lies over the folders of the programs. (Linux, as root or where users
 * may have namespaces.)
 */

import { join } from "node:path";
import { exists, SYSTEM_PATH } from "./system_path.ts";

/** Whether programs can be hidden here. */
export function hidingAvailable(): boolean {
  if (Deno.build.os !== "linux") return false;
  try {
    const [program = "", ...args] = entering(overlay("/usr/share", "/usr/bin"));
    return new Deno.Command(program, { args: [...args, "true"], stdin: "null", stderr: "null" }).outputSync()
      .success;
  } catch {
    return false;
  }
}

/**
 * What to start a command by so that it does not find `programs`: nothing, where they are not there anyway.
 * `folder` is made for the whiteouts.
 */
export async function hide(programs: ReadonlySet<string>, folder: string): Promise<string[]> {
  const covered = new Set<string>();
  for (const directory of SYSTEM_PATH) {
    for (const program of programs) {
      if (await exists(join(directory, program))) covered.add(await Deno.realPath(directory));
    }
  }
  if (covered.size === 0) return [];
  await Deno.mkdir(folder);
  for (const program of programs) {
    const args = [join(folder, program), "c", "0", "0"];
    const { success, stderr } = await new Deno.Command("mknod", { args, stdin: "null" }).output();
    if (!success) throw new Error(`Cannot hide '${program}': ${new TextDecoder().decode(stderr)}`);
  }
  return entering([...covered].map((directory) => overlay(folder, directory)).join("\n"));
}

function overlay(upper: string, lower: string): string {
  return `mount -t overlay -o ro,lowerdir=${upper}:${lower} overlay ${lower} || exit 126`;
}

/** An argument vector that runs `script` in a new mount namespace before the arguments that follow it. */
function entering(script: string): string[] {
  const namespace = Deno.uid() === 0 ? ["--mount"] : ["--mount", "--map-root-user"];
  const path = "PATH=/usr/bin:/bin:/usr/sbin:/sbin";
  return ["/usr/bin/unshare", ...namespace, "/bin/sh", "-c", `(${path}\n${script}\n) && exec "$@"`, "hide"];
}
