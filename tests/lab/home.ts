/** The home of a simulated server's user, with the stand-in programs and the environment of a login. */

import { join } from "node:path";
import { renderScenario, type Scenario } from "./scenario.ts";
import { quiet } from "./scenarios.ts";
import type { ServerOptions } from "./types.ts";

/** Where the real programs are. */
const SYSTEM_PATH = ["/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin", "/opt/homebrew/bin"];

/** A home that was made. */
export interface Home {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
  /** Login shell, by its path. */
  readonly shell: string;
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

  for (const program of ["nvidia-smi", "ps"]) await copyStandIn(program, join(lab, "bin"));
  if (options.uv !== false) await copyStandIn("uv", join(path, ".local/bin"));
  for (const [name, script] of Object.entries(options.programs ?? {})) {
    await Deno.writeTextFile(join(lab, "bin", name), script, { mode: 0o755 });
  }

  const hide = new Set(options.hide);
  if (options.tmux === false) hide.add("tmux");
  if (scenario.absent) hide.add("nvidia-smi");
  const systemPath = hide.size === 0 ? SYSTEM_PATH : [await makeBase(join(lab, "base"), hide)];

  const shell = await findProgram(options.shell ?? "sh");
  const home: Home = {
    path,
    shell,
    env: {
      HOME: path,
      USER: user,
      LOGNAME: user,
      SHELL: shell,
      PATH: [join(lab, "bin"), ...systemPath].join(":"),
      TMPDIR: join(lab, "tmp"),
      // The same socket name on two servers is two sockets.
      TMUX_TMPDIR: join(lab, "tmux"),
      // sshd sets these, and by them bash knows that it has to read .bashrc.
      SSH_CLIENT: "127.0.0.1 40022 22",
      SSH_CONNECTION: "127.0.0.1 40022 127.0.0.1 22",
    },
    setScenario: (scenario) => setScenario(lab, scenario, number, systemPath),
  };
  await home.setScenario(scenario);
  return home;
}

/** The path of a program of this system. */
export async function findProgram(name: string): Promise<string> {
  if (name.includes("/")) return name;
  for (const folder of SYSTEM_PATH) {
    if (await exists(join(folder, name))) return join(folder, name);
  }
  throw new Error(`Cannot find the program '${name}' in ${SYSTEM_PATH.join(", ")}`);
}

async function setScenario(lab: string, scenario: Scenario, number: number, systemPath: readonly string[]) {
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
  for (const folder of systemPath) {
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

/** A folder with links to all programs of the system except some. */
async function makeBase(folder: string, hide: ReadonlySet<string>): Promise<string> {
  await Deno.mkdir(folder);
  const programs = new Map<string, string>();
  // The first folder of the path wins, so it comes last here.
  for (const directory of SYSTEM_PATH.toReversed()) {
    if (!await exists(directory)) continue;
    for await (const { name } of Deno.readDir(directory)) programs.set(name, join(directory, name));
  }
  for (const name of hide) programs.delete(name);
  await Promise.all([...programs].map(([name, program]) => Deno.symlink(program, join(folder, name))));
  return folder;
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}
