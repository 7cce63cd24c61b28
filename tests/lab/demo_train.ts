/**
 * `deno task demo:train`: rent, train, take the model home, delete the Pod, with the real commands and the system's
 * real ssh, against a Runpod and a Hub that are made for it and taken away again.
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { chooseLanguage } from "../../lib/text/message.ts";
import { FakeHub } from "./fake_hub.ts";
import { RunpodLab } from "./runpod_lab.ts";
import { makeTrainProject } from "./train_project.ts";

const toolkit = fileURLToPath(new URL("../..", import.meta.url));
const language = chooseLanguage(Deno.env.get("TIAS_REMOTE_LANG"), navigator.language);
const text = {
  ja: {
    begin: "模擬の Runpod と Hugging Face Hub を相手に，学習を 1 回通します（1 分ほどかかります）",
    home: "持ち帰ったもの：",
    records: "記録：",
    sweep: "もう Pod はありません：",
  },
  en: {
    begin:
      "One training from beginning to end, against a simulated Runpod and Hugging Face Hub (about a minute)",
    home: "What came home:",
    records: "Records:",
    sweep: "No Pod is left:",
  },
}[language];

function say(...lines: readonly string[]): void {
  Deno.stdout.writeSync(new TextEncoder().encode(lines.map((line) => `${line}\n`).join("")));
}

async function show(folder: string): Promise<void> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) await show(path);
    else say(`  ${path}  ${(await Deno.stat(path)).size}`);
  }
}

await using hub = new FakeHub({ pageSize: 100 });
await using pods = await RunpodLab.start();
const project = await makeTrainProject(pods, hub, { trainingSec: 8 });

async function run(verb: string, ...args: string[]): Promise<void> {
  say("", `$ tias-remote ${[verb, ...args].join(" ")}`);
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-q",
      `-P=${verb}`,
      `--allow-net=127.0.0.1`,
      `--allow-read=${project.root}`,
      `--allow-write=${project.root}`,
      `--config=${join(toolkit, "deno.json")}`,
      join(toolkit, "cmd", `${verb}.ts`),
      `--lang=${language}`,
      ...args,
    ],
    cwd: project.root,
    env: { ...project.env },
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).output();
  if (code !== 0) throw new Error(`Cannot go on: ${verb} ended with ${code}`);
}

say(text.begin);
await run("train", "--log", "night");
say("", text.home);
await show(project.localDir);
say("", text.records);
await show(join(project.root, "lab"));
say("", text.sweep);
await run("sweep");
