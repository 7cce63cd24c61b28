/** Ends what was started on a laboratory's servers and outlived its connection. */

import { join } from "node:path";

/** Ends the tmux servers that have their sockets in `folder`, the TMUX_TMPDIR of one home. */
export async function endTmux(folder: string): Promise<void> {
  for await (const user of Deno.readDir(folder)) {
    for await (const socket of Deno.readDir(join(folder, user.name))) {
      await new Deno.Command("tmux", {
        args: ["-S", join(folder, user.name, socket.name), "kill-server"],
        stdin: "null",
        stdout: "null",
        // A socket whose server has ended by itself is none to complain about.
        stderr: "null",
      }).output();
    }
  }
}

/** Ends the processes whose HOME is below `root`, known from /proc; elsewhere than on Linux, nothing. */
export async function endProcesses(root: string): Promise<void> {
  if (Deno.build.os !== "linux") return;
  // More than once: a process may start another while it is looked for.
  for (let pids = await processesBelow(root); pids.length > 0; pids = await processesBelow(root)) {
    for (const pid of pids) endProcess(pid);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Kills a process that may have ended already. */
export function endProcess(pid: number): void {
  try {
    Deno.kill(pid, "SIGKILL");
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound) && !(error instanceof TypeError)) throw error;
  }
}

/** The pids of a process's descendants as long as their program's name begins with `name`. */
export async function descendantsOf(ancestor: number, name: string): Promise<number[]> {
  const { stdout } = await new Deno.Command("/bin/ps", {
    args: ["-A", "-o", "pid=,ppid=,comm="],
    stdin: "null",
  }).output();
  const processes = new TextDecoder().decode(stdout).trim().split("\n").map((line) =>
    line.trim().split(/ +/)
  );
  const children = (parent: string): string[] =>
    processes.flatMap(([pid = "", ppid, program]) =>
      ppid === parent && program?.startsWith(name) ? [pid, ...children(pid)] : []
    );
  return children(String(ancestor)).map(Number);
}

async function processesBelow(root: string): Promise<number[]> {
  const found: number[] = [];
  for await (const { name } of Deno.readDir("/proc")) {
    if (!/^[1-9][0-9]*$/.test(name)) continue;
    try {
      // Empty for a process that is ending.
      const environment = await Deno.readTextFile(`/proc/${name}/environ`);
      if (`\0${environment}`.includes(`\0HOME=${root}/`)) found.push(Number(name));
    } catch {
      // It has ended, or it is someone else's.
    }
  }
  return found;
}
