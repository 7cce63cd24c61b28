/** Executables for tests: made where a base binary is named, since to download one is not a test's business. */
import { join } from "node:path";
import { compile, type Executable } from "../../scripts/compile.ts";

/** The head of a test that needs executables: ignored, with the reason in its name, where none can be made. */
export function compiling(name: string): { name: string; ignore: boolean } {
  if (Deno.env.has("DENORT_BIN")) return { name, ignore: false };
  return { name: `${name} (ignored: DENORT_BIN names no base binary)`, ignore: true };
}

/** A folder of executables that disposal removes. */
export interface Executables extends AsyncDisposable {
  path(file: string): string;
}

/** Makes executables for this machine with `DENO_COMPILER`, else with the Deno that runs the test. */
export async function makeExecutables(plan: readonly Executable[]): Promise<Executables> {
  const folder = await Deno.makeTempDir({ prefix: "tias-remote-executables-" });
  const made = {
    path: (file: string) => join(folder, file),
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
  const fault = await compile(plan, Deno.env.get("DENO_COMPILER") ?? Deno.execPath(), folder);
  if (fault === undefined) return made;
  await made[Symbol.asyncDispose]();
  throw new Error(fault[0]);
}
