/** Real POSIX shells for tests of the scripts that are sent to servers. */

/** The shells of this machine, each as the words that start it: `sh` first, which every Unix has. */
export const shells: readonly (readonly string[])[] = await findShells();

async function findShells(): Promise<string[][]> {
  const candidates = [["sh"], ["dash"], ["bash"], ["bash", "--posix"], ["busybox", "sh"]];
  const found = await Promise.all(candidates.map(async ([program = "", ...args]) => {
    try {
      const { success } = await new Deno.Command(program, { args: [...args, "-c", ":"] }).output();
      return success;
    } catch {
      return false;
    }
  }));
  return candidates.filter((_shell, at) => found[at]);
}

/** Of a test that needs a POSIX shell, paths as Unix has them, or links, which Windows grants to few. */
export const onUnix = { ignore: Deno.build.os === "windows" };

export interface ShellAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `script`, given as standard input is to a server's shell, and returns what it printed. */
export async function runShell(
  script: string,
  { shell = ["sh"], args = [], env = {}, stdin = "", cwd }: {
    shell?: readonly string[];
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    stdin?: string | Uint8Array;
    cwd?: string;
  } = {},
): Promise<ShellAnswer> {
  const [program = "sh", ...options] = shell;
  const child = new Deno.Command(program, {
    args: [...options, "-c", script, ...args],
    env: { PATH: Deno.env.get("PATH") ?? "", ...env },
    clearEnv: true,
    ...(cwd === undefined ? {} : { cwd }),
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const sending = (async () => {
    const writer = child.stdin.getWriter();
    try {
      await writer.write(typeof stdin === "string" ? new TextEncoder().encode(stdin) : stdin);
      await writer.close();
    } catch {
      // The script did not want it.
    }
  })();
  const { code, stdout, stderr } = await child.output();
  await sending;
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

/** A folder of its own for one test, removed with it: `await using folder = await temporaryFolder()`. */
export async function temporaryFolder(): Promise<{ readonly path: string } & AsyncDisposable> {
  const path = await Deno.realPath(await Deno.makeTempDir({ prefix: "tias-remote-test-" }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

/** Puts executable shell scripts into `folder`, to stand before the real programs on a PATH. */
export async function writePrograms(
  folder: string,
  programs: Readonly<Record<string, string>>,
): Promise<void> {
  await Deno.mkdir(folder, { recursive: true });
  for (const [name, text] of Object.entries(programs)) {
    await Deno.writeTextFile(`${folder}/${name}`, `#!/bin/sh\n${text}`, { mode: 0o755 });
  }
}
