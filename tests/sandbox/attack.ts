/**
 * What a bug or a bad package in a verb might try. It runs with a verb's permissions, as a script or compiled with the
 * umbrella's and what the verb gives up, and prints how each attempt ended: "done", "denied", or another error.
 */
import { keepOnlyFor } from "../../lib/system/privileges.ts";

/** Where to attack. All of it exists, and anything that runs with full rights reaches all of it. */
export interface Targets {
  readonly read: readonly string[];
  readonly list: readonly string[];
  readonly write: readonly string[];
  readonly run: readonly string[];
  readonly port: number;
  readonly env: readonly string[];
}

const attempts: Record<string, () => unknown> = {};
const [verb = "", json = "{}"] = Deno.args;
const targets = JSON.parse(json) as Targets;

for (const path of targets.read) {
  attempts[`read ${path}`] = () => Deno.readTextFile(path);
  attempts[`look at ${path}`] = () => Deno.stat(path);
}
for (const path of targets.list) attempts[`list ${path}`] = () => Array.fromAsync(Deno.readDir(path));
for (const path of targets.write) {
  attempts[`write ${path}`] = () => Deno.writeTextFile(path, "attacked");
  attempts[`link ${path}`] = () => Deno.symlink("/etc/passwd", `${path}.link`);
}
for (const program of targets.run) {
  attempts[`run ${program}`] = () => new Deno.Command(program, { stdin: "null" }).output();
}
for (const name of targets.env) attempts[`variable ${name}`] = () => Deno.env.get(name);
attempts["all variables"] = () => {
  const all = Deno.env.toObject();
  // Where some variables are to be seen as unset, Deno shows those that may be read.
  if (!targets.env.some((name) => name in all)) throw new Deno.errors.NotCapable();
};
attempts["connect"] = async () => (await Deno.connect({ hostname: "127.0.0.1", port: targets.port })).close();
attempts["fetch"] = async () => await (await fetch(`http://127.0.0.1:${targets.port}/`)).body?.cancel();
attempts["listen"] = () => Deno.listen({ port: 0 }).close();
attempts["look up a name"] = () => Deno.resolveDns("localhost", "A");
attempts["load a library"] = () => Deno.dlopen("libc.so.6", {}).close();
attempts["learn of the system"] = () => Deno.osRelease();
attempts["ask for more"] = async () => {
  const { state } = await Deno.permissions.request({ name: "read", path: targets.list[0] ?? "/" });
  if (state !== "granted") throw new Deno.errors.NotCapable();
};

if (Deno.build.standalone) keepOnlyFor(verb);
const ends: Record<string, string> = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt();
    ends[name] = "done";
  } catch (error) {
    ends[name] = error instanceof Deno.errors.NotCapable ? "denied" : String(error);
  }
}
await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(ends)));
