/**
 * `deno task demo`: the whole way from looking to a finished job, with the real commands through the system's real
 * ssh, against a laboratory that is made for it and taken away again.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseLanguage } from "../../lib/text/message.ts";
import { demoText } from "./demo_text.ts";
import { startLaboratory } from "./laboratory.ts";
import { alice, flipping, quiet } from "./scenarios.ts";

const toolkit = fileURLToPath(new URL("../..", import.meta.url));
const language = chooseLanguage(Deno.env.get("TIAS_REMOTE_LANG"), navigator.language);
const text = demoText[language];

const sampleJob = `#!/bin/sh
echo "this job sees CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES, data in $TIAS_DATA_ROOT"
for epoch in 1 2 3 4 5; do
  echo "epoch $epoch: loss 0.$((60 / epoch))"
  sleep 1
done
echo "model saved"
`;

function say(...lines: readonly string[]): void {
  Deno.stdout.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
}

async function isInstalled(program: string): Promise<boolean> {
  try {
    await new Deno.Command(program, { args: ["-V"], stdout: "null", stderr: "null" }).output();
    return true;
  } catch {
    return false;
  }
}

/** Runs one command of tias-remote in `project`, with exactly its permission set, and shows what it prints. */
async function show(project: string, verb: string, ...args: string[]): Promise<void> {
  const line = ["tias-remote", verb, ...args].join(" ");
  say("", `$ ${line}`);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      `-P=${verb}`,
      `--allow-read=${project}`,
      `--config=${join(toolkit, "deno.json")}`,
      join(toolkit, "cmd", `${verb}.ts`),
      `--lang=${language}`,
      ...args,
    ],
    cwd: project,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (code !== 0) throw new Error(text.failed(line, code));
}

async function demo(): Promise<void> {
  say(text.welcome);
  await using laboratory = await startLaboratory({
    jump: true,
    servers: [
      {
        name: "Newton",
        priority: 1,
        scenario: {
          gpus: [...flipping.gpus ?? [], { frames: [{ utilization: 0, memory: 520 }], processes: [alice] }],
        },
      },
      { name: "Archimedes", priority: 2, scenario: quiet(2) },
    ],
  });
  const project = await laboratory.project({
    config: { gpu_free: { observe_sec: 3, sample_interval_ms: 250 } },
  });
  await Deno.writeTextFile(join(project, "train.sh"), sampleJob);

  say("", text.gpus);
  await show(project, "gpus");
  say("", text.gpusAfter, "", text.push);
  await show(project, "push");
  say("", text.run);
  await show(project, "run", "--name", "demo", "--observe", "1", "--", "sh", "train.sh");
  say("", text.logs);
  await show(project, "logs", "demo", "-f");
  say("", text.status);
  await show(project, "status", "--observe", "1");
}

for (const program of ["ssh", "tmux"]) {
  if (!await isInstalled(program)) {
    say(text.needs(program));
    Deno.exit(1);
  }
}
// Ctrl-C must take the laboratory away as well: the running command ends, and with it the demo.
for (const signal of ["SIGINT", "SIGTERM"] as const) Deno.addSignalListener(signal, () => {});
try {
  await demo();
  say("", text.done, "", ...text.next);
} catch (error) {
  say("", error instanceof Error ? error.message : String(error));
  Deno.exitCode = 1;
}
Deno.exit();
