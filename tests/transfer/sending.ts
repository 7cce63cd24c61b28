/** Running the server's half on this machine, by a real shell with real tars. */

import { join } from "node:path";
import { framingScript } from "../../lib/ssh/framing.ts";
import { shellAssignments } from "../../lib/ssh/quote.ts";
import { sendScript, sendValues } from "../../lib/transfer/send_script.ts";
import { readSent, type Sent } from "../../lib/transfer/sent.ts";
import { parsePattern } from "../../lib/transfer/whitelist.ts";
import { read } from "./reading.ts";
import { concat } from "./tar_builder.ts";

const nonce = "0123456789abcdef0123456789abcdef";
export const windows = Deno.build.os === "windows";

export interface Answer {
  readonly sent: Sent;
  readonly archive: Uint8Array;
}

/** Runs the script as `sh` does on a server; `path` replaces PATH. */
export async function send(
  folder: string,
  runId: string,
  patterns: readonly string[],
  options: { path?: string; shell?: string[]; onlyPlan?: boolean; remoteDir?: string; cwd?: string } = {},
): Promise<Answer> {
  const values = sendValues({
    remoteDir: options.remoteDir ?? folder,
    runId,
    patterns: patterns.map(parsePattern),
    onlyPlan: options.onlyPlan ?? false,
  });
  const [program = "sh", ...args] = options.shell ?? ["sh"];
  const child = new Deno.Command(program, {
    args: [...args, "-c", 'eval "$(cat)"'],
    cwd: options.cwd ?? folder,
    env: {
      HOME: folder,
      TAR_OPTIONS: "--sparse",
      ...(options.path === undefined ? {} : { PATH: options.path }),
    },
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const script = shellAssignments({ nonce, ...values }) + framingScript + sendScript;
  await new Blob([script]).stream().pipeTo(child.stdin);
  const parts: Uint8Array[] = [];
  const sent = await readSent(child.stdout, nonce, {
    plan() {},
    archive: (bytes) => void parts.push(bytes.slice()),
  });
  await child.status;
  return { sent, archive: concat(...parts) };
}

/** Names and contents of the members, or the rule. */
export function filesOf(archive: Uint8Array): string[] | string {
  const reading = read(archive);
  return "rule" in reading ? reading.rule : reading.files.map(({ path }) => path).sort();
}

export async function withRun(
  files: Readonly<Record<string, string>>,
  test: (folder: string, run: string) => Promise<void>,
) {
  const folder = await Deno.makeTempDir();
  try {
    const run = join(folder, "runs/r");
    await Deno.mkdir(run, { recursive: true });
    for (const [name, content] of Object.entries(files)) {
      await Deno.mkdir(join(run, name, ".."), { recursive: true });
      await Deno.writeTextFile(join(run, name), content);
    }
    await test(folder, run);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Folders to put in front of PATH: one for each tar that this machine has. */
export async function tars(
  folder: string,
): Promise<{ name: string; path: string; keepsHardLinks: boolean }[]> {
  const system = Deno.env.get("PATH") ?? "";
  const kinds = [
    { name: "GNU tar", program: "/usr/bin/tar", keepsHardLinks: true },
    { name: "bsdtar", program: "/usr/bin/bsdtar", keepsHardLinks: false },
    { name: "busybox", program: "/bin/busybox", keepsHardLinks: false },
  ];
  const found: { name: string; path: string; keepsHardLinks: boolean }[] = [];
  for (const { name, program, keepsHardLinks } of kinds) {
    if (!await Deno.stat(program).then(() => true, () => false)) continue;
    const bin = join(folder, `bin-${name.replace(" ", "-")}`);
    await Deno.mkdir(bin);
    await Deno.symlink(program, join(bin, "tar"));
    // Where the tar is not GNU's, find is not either.
    if (name === "busybox") await Deno.symlink(program, join(bin, "find"));
    if (name === "bsdtar") {
      const plain = '#!/bin/sh\ncase "$*" in *-printf*) exit 1 ;; esac\nexec /usr/bin/find "$@"\n';
      await Deno.writeTextFile(join(bin, "find"), plain, { mode: 0o755 });
    }
    found.push({ name, path: `${bin}:${system}`, keepsHardLinks });
  }
  return found;
}
