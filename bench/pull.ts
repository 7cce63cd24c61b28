/**
 * `pull` beside the plain way, `ssh … tar -cf - | tar -xf -`, from a real OpenSSH server on the loopback interface.
 *
 *     deno run -A bench/pull.ts [ROUNDS [large|many]]
 *
 * Both ways take turns, so that what else the machine does falls on both. Needs sshd, GNU tar and 4 GiB in the
 * folder for temporary files.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startOpenSshLaboratory } from "../tests/lab/openssh.ts";

const rounds = Number(Deno.args[0] ?? 5);
const only = Deno.args[1];
const command = fileURLToPath(new URL("../cmd/pull.ts", import.meta.url));

interface Load {
  readonly run: string;
  readonly files: number;
  /** Bytes of each. */
  readonly size: number;
}

const allLoads: readonly Load[] = [
  { run: "large", files: 200, size: Math.ceil(2 ** 30 / 200) },
  { run: "many", files: 10_000, size: 4096 },
];
const loads = allLoads.filter(({ run }) => only === undefined || run === only);

await using lab = await startOpenSshLaboratory({ servers: [{ name: "Newton" }], loopback: true });
const server = lab.server("Newton");
const remote = join(server.home, "work/TIASJudgeModel/runs");

for (const { run, files, size } of loads) {
  const folder = join(remote, run, "figures");
  await Deno.mkdir(folder, { recursive: true });
  const bytes = new Uint8Array(size);
  for (let index = 0; index < files; index++) {
    for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    await Deno.writeFile(join(folder, `${index}.png`), bytes);
  }
}

for (const { run, files, size } of loads) {
  const plain: number[] = [];
  const pulled: number[] = [];
  let peak = 0;
  for (let round = 0; round < rounds; round++) {
    plain.push(await timed(plainly(run, join(lab.root, `plain-${run}-${round}`))));
    const target = await lab.project();
    const { seconds, kibibytes } = await timedPull(run, target);
    pulled.push(seconds);
    peak = Math.max(peak, kibibytes);
    // Many small files stay until the end: ext4 is slow to make files where some were just removed.
    if (size < 2 ** 20) continue;
    await Deno.remove(target, { recursive: true });
    await Deno.remove(join(lab.root, `plain-${run}-${round}`), { recursive: true });
  }
  const ratio = median(pulled) / median(plain);
  const total = (files * size / 2 ** 20).toFixed(0);
  await Deno.stdout.write(
    new TextEncoder().encode(
      `${files} files, ${total} MiB: ssh+tar ${show(plain)}, pull ${show(pulled)}, ratio ${
        ratio.toFixed(2)
      }, ` +
        `peak ${(peak / 1024).toFixed(0)} MiB\n`,
    ),
  );
}

function plainly(run: string, folder: string): Deno.Command {
  const ssh = `${lab.ssh} -F '${lab.sshConfig}' ${server.user}@${server.address}`;
  const pipe =
    `mkdir '${folder}' && ${ssh} 'tar -cf - -C work/TIASJudgeModel/runs ${run}' | tar -xf - -C '${folder}'`;
  return new Deno.Command("sh", { args: ["-c", pipe], cwd: lab.root, stdin: "null", stderr: "null" });
}

async function timed(command: Deno.Command): Promise<number> {
  const began = performance.now();
  const { success } = await command.output();
  const seconds = (performance.now() - began) / 1000;
  if (!success) throw new Error("the plain way failed");
  return seconds;
}

/** Time, and the largest resident memory of the client (ssh and the server are not counted). */
async function timedPull(run: string, project: string): Promise<{ seconds: number; kibibytes: number }> {
  const began = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", command, run, "--server", "Newton"],
    cwd: project,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    env: { TIAS_REMOTE_SSH: lab.ssh },
  }).spawn();
  let kibibytes = 0;
  const watching = setInterval(() => {
    try {
      const status = Deno.readTextFileSync(`/proc/${child.pid}/status`);
      kibibytes = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? kibibytes);
    } catch {
      // It has ended.
    }
  }, 50);
  const { success } = await child.status;
  const seconds = (performance.now() - began) / 1000;
  clearInterval(watching);
  if (!success) throw new Error("the pull failed");
  return { seconds, kibibytes };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function show(values: readonly number[]): string {
  return `${median(values).toFixed(2)} s (${Math.min(...values).toFixed(2)}–${
    Math.max(...values).toFixed(2)
  })`;
}
