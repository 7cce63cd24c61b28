/**
 * Makes the executables.
 *
 *     deno task compile [TARGET...] [--each]
 *
 * Without a target all five are made; with `DENORT_BIN`, which is the base binary of one system, this machine's.
 * `DENO_COMPILER` names another Deno to compile with, as the base binary and its compiler must be of one version.
 */
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { version } from "../lib/cli/program.ts";
import { inExecutable, type PermissionSet, permissionSets, unionOf } from "../lib/system/permission_sets.ts";
import { chooseLanguage } from "../lib/text/message.ts";

/** The systems that executables are made for. */
export const targets = [
  "x86_64-pc-windows-msvc",
  "x86_64-apple-darwin",
  "aarch64-apple-darwin",
  "x86_64-unknown-linux-gnu",
  "aarch64-unknown-linux-gnu",
] as const;

/** One executable to be made. */
export interface Executable {
  readonly target: string;
  /** The module that it starts with, relative to the toolkit. */
  readonly module: string;
  /** Its name. */
  readonly file: string;
  readonly permissions: PermissionSet;
}

/** The umbrella for each target; with `each` the verbs as programs of their own too, with no more than their sets. */
export function planExecutables(
  chosen: readonly string[],
  each: boolean,
  sets: Readonly<Record<string, PermissionSet>>,
): Executable[] {
  return chosen.flatMap((target) => {
    const ending = target.includes("windows") ? ".exe" : "";
    const umbrella = {
      target,
      module: "cmd/tias_remote.ts",
      file: `tias-remote-${target}${ending}`,
      permissions: inExecutable(unionOf(Object.values(sets))),
    };
    const verbs = Object.entries(sets).map(([verb, set]) => ({
      target,
      module: `cmd/${verb}.ts`,
      file: `tias-remote-${verb}-${target}${ending}`,
      permissions: inExecutable(set),
    }));
    return each ? [umbrella, ...verbs] : [umbrella];
  });
}

/**
 * The flags of `deno compile` for a permission set. `knownFlags` is the help text of the Deno at hand: where it cannot
 * tell a program that a variable is unset, the program may read that variable.
 */
export function permissionFlags(set: PermissionSet, knownFlags: string): string[] {
  const canIgnore = knownFlags.includes("--ignore-env");
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ["--allow-read", set.read],
    ["--allow-write", set.write],
    ["--allow-net", set.net],
    ["--allow-run", set.run],
    ["--allow-env", canIgnore ? set.env : [...set.env, ...set.ignoredEnv]],
    ["--ignore-env", canIgnore ? set.ignoredEnv : []],
    ["--allow-sys", set.sys],
  ];
  // Without `--no-prompt` a program on a terminal would ask its user for what it may not.
  return [
    "--no-prompt",
    ...lists.flatMap(([flag, words]) => words.length === 0 ? [] : [`${flag}=${listed(words)}`]),
  ];
}

function listed(words: readonly string[]): string {
  const split = words.find((word) => word === "" || word.includes(","));
  if (split !== undefined) throw new Error(`Cannot write "${split}" in a list with commas`);
  return words.join(",");
}

/** What the command line asks for, or the word that it cannot ask for. */
export function readCommandLine(
  argv: readonly string[],
  host: string,
  baseIsGiven: boolean,
): { readonly targets: readonly string[]; readonly each: boolean } | { readonly unknown: string } {
  const named = argv.filter((word) => word !== "--each");
  const unknown = named.find((word) => !(targets as readonly string[]).includes(word));
  if (unknown !== undefined) return { unknown };
  return {
    targets: named.length > 0 ? named : baseIsGiven ? [host] : targets,
    each: argv.includes("--each"),
  };
}

// Thin doing from here on.

const root = fileURLToPath(new URL("..", import.meta.url));

async function main(): Promise<number> {
  const base = Deno.env.get("DENORT_BIN");
  const request = readCommandLine(Deno.args, Deno.build.target, base !== undefined);
  if ("unknown" in request) {
    say(
      `error: There is no target \`${request.unknown}\`; there are: ${targets.join(", ")}`,
      `エラー: \`${request.unknown}\` というターゲットはありません。あるのは ${targets.join(", ")} です`,
    );
    return 2;
  }
  const dist = join(root, "dist");
  const executables = planExecutables(request.targets, request.each, permissionSets);
  const fault = await compile(executables, Deno.env.get("DENO_COMPILER") ?? Deno.execPath(), dist) ??
    await findBroken(executables, dist);
  if (fault !== undefined) {
    say(...fault);
    return 1;
  }
  await writeChecksums(dist);
  return 0;
}

/** What went wrong, in English and in Japanese. */
type Fault = readonly [english: string, japanese: string];

/** Makes the executables in `folder` with the Deno at `deno`, until something goes wrong. */
export async function compile(
  executables: readonly Executable[],
  deno: string,
  folder: string,
): Promise<Fault | undefined> {
  const { out: knownFlags } = await run(deno, ["compile", "--help=full"]);
  const bundles = join(folder, ".bundles");
  try {
    for (const executable of executables) {
      const fault = await compileOne(executable, deno, knownFlags, folder, bundles);
      if (fault !== undefined) return fault;
      const { size } = await Deno.stat(join(folder, executable.file));
      const line = `${executable.file} ${(size / 1e6).toFixed(1)} MB`;
      say(line, line);
    }
  } finally {
    await Deno.remove(bundles, { recursive: true }).catch(() => {});
  }
}

async function compileOne(
  { target, module, file, permissions }: Executable,
  deno: string,
  knownFlags: string,
  folder: string,
  bundles: string,
): Promise<Fault | undefined> {
  // Only what the program can load, in few files: smaller than whole packages, and twice as fast to start.
  const bundle = join(bundles, basename(module, ".ts"));
  const bundled = await run(deno, ["bundle", "-q", "--code-splitting", "--outdir", bundle, module]);
  if (bundled.code !== 0) {
    return [
      `${bundled.err}\nerror: ${module} could not be bundled`,
      `${bundled.err}\nエラー: ${module} をまとめられませんでした`,
    ];
  }
  const output = join(folder, file);
  const compiled = await run(deno, [
    "compile",
    ...["-q", "--no-check", "--no-config", "--no-lock", "--target", target, "--output", output],
    ...permissionFlags(permissions, knownFlags),
    join(bundle, `${basename(module, ".ts")}.js`),
  ]);
  return compiled.code === 0 ? undefined : compileFault(target, compiled.err);
}

/** What a failed `deno compile` means; `err` is what it said. */
export function compileFault(target: string, err: string): Fault {
  if (!/base binary|denort/.test(err)) {
    return [
      `${err}\nerror: ${target} could not be compiled`,
      `${err}\nエラー: ${target} をコンパイルできませんでした`,
    ];
  }
  const cause = /^ *\d+: (?!Setting up)(.*)$/m.exec(err)?.[1] ?? "?";
  return [
    `error: The base binary for ${target} cannot be had: ${cause}\nhint: deno compile downloads it from dl.deno.land; where that cannot be reached, name a base binary (denort) of the same version with DENORT_BIN`,
    `エラー: ${target} のベースバイナリが手に入りません：${cause}\nヒント: deno compile は dl.deno.land からダウンロードします。届かない環境では，同じ版のベースバイナリ (denort) を DENORT_BIN で指定してください`,
  ];
}

/** A foreign base binary makes a program that does not come as far as telling its version. It is removed. */
async function findBroken(executables: readonly Executable[], folder: string): Promise<Fault | undefined> {
  for (const { target, file } of executables) {
    if (target !== Deno.build.target) continue;
    if ((await run(join(folder, file), ["--version"])).out.trim() === version) continue;
    await Deno.remove(join(folder, file));
    return [
      `error: ${file} would not start\nhint: The base binary (DENORT_BIN) must be of the same version as the Deno that compiles (DENO_COMPILER)`,
      `エラー: ${file} は起動しません\nヒント: ベースバイナリ (DENORT_BIN) はコンパイルする Deno (DENO_COMPILER) と同じ版でなければなりません`,
    ];
  }
}

async function writeChecksums(folder: string): Promise<void> {
  const files = (await Array.fromAsync(Deno.readDir(folder)))
    .map(({ name }) => name)
    .filter((name) => name.startsWith("tias-remote-"))
    .toSorted();
  const lines: string[] = [];
  for (const name of files) {
    const digest = await crypto.subtle.digest("SHA-256", await Deno.readFile(join(folder, name)));
    lines.push(`${hexadecimal(new Uint8Array(digest))}  ${name}\n`);
  }
  await Deno.writeTextFile(join(folder, "SHA256SUMS"), lines.join(""));
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function run(program: string, args: string[]): Promise<{ code: number; out: string; err: string }> {
  const { code, stdout, stderr } = await new Deno.Command(program, {
    args,
    cwd: root,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

function say(english: string, japanese: string): void {
  const language = chooseLanguage(Deno.env.get("TIAS_REMOTE_LANG"), navigator.language);
  Deno.stderr.writeSync(new TextEncoder().encode(`${language === "ja" ? japanese : english}\n`));
}

if (import.meta.main) Deno.exit(await main());
