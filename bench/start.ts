/**
 * The start of `--help`, against that of an empty program: as an executable and as a script, in turn, so that what
 * disturbs one disturbs the other. Executables need a base binary: `DENORT_BIN`, and `DENO_COMPILER` of its version.
 *
 *     deno run -A bench/start.ts
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { permissionSets } from "../lib/system/permission_sets.ts";
import { compile, planExecutables } from "../scripts/compile.ts";

const toolkit = fileURLToPath(new URL("..", import.meta.url));
const rounds = 41;

interface Program {
  readonly name: string;
  readonly words: readonly string[];
  /** Bytes of the executable. */
  readonly size?: number;
}

async function main(): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "tias-remote-bench-" });
  try {
    const empty = join(folder, "empty.ts");
    await Deno.writeTextFile(empty, "");
    const scripts: Program[] = [
      { name: "an empty script", words: [Deno.execPath(), "run", "-q", "--no-config", empty] },
      { name: "cmd/gpus.ts --help", words: verb("gpus", "--help") },
      { name: "cmd/train.ts --help", words: verb("train", "--help") },
    ];
    print("| program | size | start | against empty |");
    print("| --- | --- | --- | --- |");
    if (Deno.env.has("DENORT_BIN")) await compare(await executables(folder, empty));
    await compare(scripts);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

function verb(name: string, ...words: string[]): string[] {
  return [
    Deno.execPath(),
    "run",
    "-q",
    "--no-prompt",
    `-P=${name}`,
    join(toolkit, "cmd", `${name}.ts`),
    ...words,
  ];
}

async function executables(folder: string, empty: string): Promise<Program[]> {
  const [umbrella, ...each] = planExecutables([Deno.build.target], true, permissionSets);
  const gpus = each.find(({ module }) => module === "cmd/gpus.ts");
  if (umbrella === undefined || gpus === undefined) throw new Error("Cannot measure: there is no plan");
  const bare = { ...umbrella, module: empty, file: "empty" };
  const fault = await compile(
    [bare, umbrella, gpus],
    Deno.env.get("DENO_COMPILER") ?? Deno.execPath(),
    folder,
  );
  if (fault !== undefined) throw new Error(fault[0]);
  const program = async (name: string, file: string, ...words: string[]) => {
    const path = join(folder, file);
    return { name, words: [path, ...words], size: (await Deno.stat(path)).size };
  };
  return [
    await program("an empty executable", bare.file),
    await program("tias-remote --help", umbrella.file, "--help"),
    await program("gpus alone --help", gpus.file, "--help"),
  ];
}

/** One row for each program; the first is what the others are compared with. */
async function compare(programs: readonly Program[]): Promise<void> {
  const times = programs.map((): number[] => []);
  // The first start leaves compiled code behind for the later ones, here as for a user.
  for (let round = -1; round < rounds; round++) {
    for (const [index, { words }] of programs.entries()) {
      const time = await timeOf(words);
      if (round >= 0) times[index]?.push(time);
    }
  }
  const medians = times.map(median);
  for (const [index, { name, size }] of programs.entries()) {
    const mine = medians[index] ?? NaN;
    const ratio = index === 0 ? "" : (mine / (medians[0] ?? NaN)).toFixed(2);
    print(
      `| ${name} | ${size === undefined ? "" : `${(size / 1e6).toFixed(1)} MB`} | ${
        mine.toFixed(0)
      } ms | ${ratio} |`,
    );
  }
}

async function timeOf([program = "", ...args]: readonly string[]): Promise<number> {
  const start = performance.now();
  const { success } = await new Deno.Command(program, { args, stdout: "null", stderr: "null" }).output();
  if (!success) throw new Error(`Cannot measure: ${program} failed`);
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

await main();
