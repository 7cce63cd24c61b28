/** The home of a simulated server's user, with the stand-in programs and the environment of a login. */

import { join } from "node:path";
import { hide } from "./hide.ts";
import { renderScenario, type Scenario } from "./scenario.ts";
import { quiet } from "./scenarios.ts";
import { exists, findProgram, SYSTEM_PATH } from "./system_path.ts";
import type { ServerOptions } from "./types.ts";

/** A home that was made. */
export interface Home {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** The login shell by its path, after what it is started by, if anything. */
  readonly shell: readonly string[];
  setScenario(scenario: Scenario): Promise<void>;
}

/** Makes the home of the laboratory's `number`-th server below `root`. */
export async function makeHome(
  root: string,
  options: ServerOptions,
  user: string,
  number: number,
): Promise<Home> {
  const path = join(root, options.name);
  const lab = join(path, ".lab");
  const scenario = options.scenario ?? quiet();
  for (const folder of ["bin", "tmp", "tmux"]) await Deno.mkdir(join(lab, folder), { recursive: true });
  await Deno.mkdir(join(path, ".local/bin"), { recursive: true });

  const hidden = new Set(options.hide);
  if (options.tmux === false) hidden.add("tmux");
  if (scenario.absent) hidden.add("nvidia-smi");
  const enter = hidden.size === 0 ? [] : await hide(hidden, join(lab, "hidden"));

  for (const program of ["nvidia-smi", "ps"]) {
    if (!hidden.has(program)) await copyStandIn(program, join(lab, "bin"));
  }
  if (options.uv !== false) await copyStandIn("uv", join(path, ".local/bin"));
  for (const [name, script] of Object.entries(options.programs ?? {})) {
    await Deno.writeTextFile(join(lab, "bin", name), script, { mode: 0o755 });
  }

  const shell = await findProgram(options.shell ?? "sh");
  const home: Home = {
    path,
    shell: [...enter, shell],
    env: {
      HOME: path,
      USER: user,
      LOGNAME: user,
      SHELL: shell,
      PATH: [join(lab, "bin"), ...SYSTEM_PATH].join(":"),
      TMPDIR: join(lab, "tmp"),
      // The same socket name on two servers is two sockets.
      TMUX_TMPDIR: join(lab, "tmux"),
      // sshd sets these, and by them bash knows that it has to read .bashrc.
      SSH_CLIENT: "127.0.0.1 40022 22",
      SSH_CONNECTION: "127.0.0.1 40022 127.0.0.1 22",
    },
    setScenario: (scenario) => setScenario(lab, scenario, number, hidden),
  };
  await home.setScenario(scenario);
  return home;
}

async function setScenario(lab: string, scenario: Scenario, number: number, hidden: ReadonlySet<string>) {
  // By rename: a program that reads it meanwhile reads the old one or the new one.
  const next = join(lab, `scenario-${crypto.randomUUID()}`);
  await Deno.writeTextFile(next, renderScenario(scenario, number));
  await Deno.rename(next, join(lab, "scenario"));

  const standIn = join(lab, "bin/nvidia-smi");
  if (!scenario.absent) {
    if (!await exists(standIn)) await copyStandIn("nvidia-smi", join(lab, "bin"));
    return;
  }
  if (await exists(standIn)) await Deno.remove(standIn);
  if (hidden.has("nvidia-smi")) return;
  for (const folder of SYSTEM_PATH) {
    if (!await exists(join(folder, "nvidia-smi"))) continue;
    throw new Error(`Cannot take nvidia-smi away: ${folder} has a real one; start the server with it absent`);
  }
}

async function copyStandIn(program: string, folder: string): Promise<void> {
  // Renamed into its place: a script must not be run half written.
  const part = join(folder, `.${program}`);
  await Deno.copyFile(join(import.meta.dirname ?? ".", "bin", program), part);
  await Deno.chmod(part, 0o755);
  await Deno.rename(part, join(folder, program));
}
