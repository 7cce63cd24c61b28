/**
 * `gpus --observe 0` against the same probe sent by raw parallel ssh, on 1, 8 and 32 simulated servers, in turn, so
 * that what disturbs one disturbs the other. "survey" is the work itself, measured like the raw calls from a process
 * that already runs; "command" is `deno run cmd/gpus.ts` with the start of Deno and the loading of modules.
 *
 *     deno run -A bench/gpus.ts
 */
import { fileURLToPath } from "node:url";
import { openProject } from "../lib/config/project.ts";
import { probeScript } from "../lib/gpu/probe.ts";
import { surveyServers } from "../lib/gpu/survey.ts";
import { framingScript } from "../lib/ssh/framing.ts";
import { shellAssignments } from "../lib/ssh/quote.ts";
import { realContext } from "../lib/system/real.ts";
import { startLaboratory } from "../tests/lab/laboratory.ts";
import type { Laboratory } from "../tests/lab/types.ts";

const toolkit = fileURLToPath(new URL("..", import.meta.url));
const rounds = 20;

async function main(): Promise<void> {
  const world = realContext();
  print("| servers | raw ssh | survey | ratio | whole command |");
  print("| --- | --- | --- | --- | --- |");
  for (const count of [1, 8, 32]) {
    await using lab = await startLaboratory({
      servers: Array.from({ length: count }, (_, index) => ({ name: `server${index}` })),
    });
    const project = await lab.project({ config: { connect_timeout_sec: 30 } });
    const { config } = await openProject({ ...world, cwd: () => project }, undefined);
    const raw: number[] = [];
    const survey: number[] = [];
    const command: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const turns = [
        async () => raw.push(await timeOf(() => rawProbes(lab))),
        async () =>
          survey.push(
            await timeOf(() => surveyServers(world, config, () => ({ seconds: 0, intervalMs: 500 }))),
          ),
      ];
      // Whoever comes first finds the machine in another mood.
      for (const turn of round % 2 === 0 ? turns : turns.reverse()) await turn();
      command.push(await timeOf(() => wholeCommand(project)));
    }
    const [a, b, c] = [median(raw), median(survey), median(command)];
    print(
      `| ${count} | ${a.toFixed(0)} ms | ${b.toFixed(0)} ms | ${(b / a).toFixed(2)} | ${c.toFixed(0)} ms |`,
    );
  }
  Deno.exit();
}

/** The probe sent to every server at once by ssh alone: what one would write by hand. */
async function rawProbes(lab: Laboratory): Promise<void> {
  const probe = probeScript("~/work/TIASJudgeModel", { seconds: 0, intervalMs: 500 });
  const text = new TextEncoder().encode(
    shellAssignments({ nonce: "bench", ...probe.values }) + framingScript + probe.text,
  );
  await Promise.all(lab.servers.map(async ({ user, address }) => {
    const ssh = new Deno.Command("ssh", {
      args: ["-F", lab.sshConfig, "-T", "-o", "BatchMode=yes", `${user}@${address}`, "sh"],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    const writer = ssh.stdin.getWriter();
    await writer.write(text);
    await writer.close();
    const { success } = await ssh.output();
    if (!success) throw new Error("Cannot measure: ssh failed");
  }));
}

async function wholeCommand(project: string): Promise<void> {
  const args = ["run", "-q", "-A", `${toolkit}cmd/gpus.ts`, "--observe", "0", "--json"];
  const { success } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: project,
    stdout: "null",
    stderr: "null",
  }).output();
  if (!success) throw new Error("Cannot measure: gpus failed");
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

await main();
