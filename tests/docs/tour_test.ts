/** The first session that both READMEs show: each of its lines is run, in order, and must print what is shown. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { type Launch, tell, toolkit } from "../cmd/story.ts";
import { FakeHub } from "../lab/fake_hub.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { RunpodLab } from "../lab/runpod_lab.ts";
import { alice, flipping, quiet } from "../lab/scenarios.ts";
import { makeTrainProject } from "../lab/train_project.ts";
import type { Laboratory } from "../lab/types.ts";

const languages = ["en", "ja"] as const;
type Language = (typeof languages)[number];
const files = { en: `${toolkit}README.md`, ja: `${toolkit}README.ja.md` };

/** One line of the tour, and what the README shows below it. */
interface Shown {
  readonly command: readonly string[];
  readonly output: string;
}

/** The lines of the section of the first session, in their order. */
function tour(language: Language): Shown[] {
  const text = Deno.readTextFileSync(files[language]);
  const section = text.split(/^## /m).find((part) => part.includes("$ tias-remote init ")) ?? "";
  const blocks = [...section.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, block = ""]) => block);
  return blocks.flatMap((block) => block.split(/^\$ tias-remote /m).slice(1)).map((part) => {
    const [line = "", ...output] = part.split("\n");
    return { command: line.split(" "), output: output.join("\n").trim() };
  });
}

/** The verbs that need a rented machine; the others are told in a laboratory of servers. */
const renting = new Set(["train", "stop", "sweep"]);

/** Both streams in one, as on a terminal; the verb's own permission set, and the folders that it declares there. */
const launch: Launch = (lab, project, [verb = "", ...rest]) => ({
  program: "sh",
  args: [
    "-c",
    'exec "$0" "$@" 2>&1',
    Deno.execPath(),
    "run",
    "-q",
    "--no-prompt",
    `--config=${toolkit}deno.json`,
    `-P=${verb}`,
    `--allow-read=${project}`,
    ...writable(verb, project),
    ...(verb === "permissions"
      ? []
      : renting.has(verb)
      ? ["--allow-net=127.0.0.1"]
      : [`--allow-run=${sshOf(lab)}`]),
    `${toolkit}cmd/${verb}.ts`,
    ...rest,
  ],
});

function writable(verb: string, project: string): string[] {
  const folders: Readonly<Record<string, readonly string[]>> = {
    init: ["configs"],
    pull: ["runs"],
    train: ["lab", "checkpoints"],
    stop: ["lab"],
  };
  return (folders[verb] ?? []).map((folder) => `--allow-write=${join(project, folder)}`);
}

/** An ssh that knows the servers by its system's configuration, as a person's does. */
const sshOf = (lab: Laboratory) => join(lab.root, "ssh");

/** What must differ: times, versions, folders, ports, and names and sizes that follow from them. */
function steady(text: string, lab?: Laboratory): string {
  const here = lab === undefined ? text : text
    .replaceAll(
      new RegExp(`${lab.root}/(?:TIASJudgeModel|train-[0-9a-f]+)/`, "g"),
      "/home/you/TIASJudgeModel/",
    )
    .replaceAll(new RegExp(`${lab.root}/(?:Newton|Archimedes)`, "g"), "/home/you")
    .replaceAll(lab.root, "")
    .replaceAll(/you@127\.0\.0\.1:\d+/g, "you@HOST");
  return here.trim()
    .replaceAll(/you@192\.168\.23\.1\d:22\b/g, "you@HOST")
    .replaceAll(/\d{4}-\d\d-\d\d[ _]\d\d[:-]\d\d[:-]\d\d(?: [+-]\d{4})?/g, "TIME")
    .replaceAll(/[\d.]+ KiB/g, "SIZE")
    .replaceAll(/OpenSSH_.*/g, "OpenSSH")
    .replaceAll(/(tias-train-night-)[0-9a-f]{8}/g, "$1ID")
    .replaceAll(/\d+ (s|min|秒|分)(?= ago|前|$)/gm, "AGE")
    // Servers are told of as they get done.
    .replaceAll(/^(?:Newton|Archimedes)(?=: 2 |：2 )/gm, "SERVER")
    // Whether this machine can be kept awake is its own affair.
    .replaceAll(/^.*systemd-inhibit.*\n/gm, "");
}

/** A line `…` stands for one omitted line or more. */
function compare(real: string, shown: string, line: string): void {
  const lines = shown.split("\n").map((text) =>
    text.trim() === "…" ? "(?:.*\n)+?" : `${RegExp.escape(text)}\n`
  );
  if (!new RegExp(`^${lines.join("")}$`).test(`${real}\n`)) assert.equal(real, shown, line);
}

const job = `#!/bin/sh
mkdir -p runs/exp-1/figures runs/exp-1/checkpoints
for epoch in 1 2 3; do echo "epoch $epoch: loss 0.$((60 / epoch))"; done
echo "epochs: 3" >runs/exp-1/config.yaml
echo png >runs/exp-1/figures/loss.png
echo weights >runs/exp-1/checkpoints/last.pt
until [ -e ~/go ]; do sleep 0.1; done
`;

for (const language of languages) {
  Deno.test({
    ...needing(["ssh", "tmux"], `the first session prints what the README shows, in ${language}`),
    async fn(t) {
      const df =
        "#!/bin/sh\nprintf 'F 1024-blocks Used Available Capacity M\\n/dev/sda 9 9 500000000 9%% /\\n'\n";
      await using lab = await startLaboratory({
        user: "you",
        jump: true,
        servers: [
          {
            name: "Newton",
            uv: false,
            programs: { df },
            scenario: {
              gpus: [...flipping.gpus ?? [], {
                frames: [{ utilization: 0, memory: 520 }],
                processes: [alice],
              }],
            },
          },
          { name: "Archimedes", programs: { df }, scenario: quiet(1) },
        ],
      });
      await Deno.writeTextFile(sshOf(lab), `#!/bin/sh\nexec ssh -F '${lab.sshConfig}' "$@"\n`, {
        mode: 0o755,
      });
      const { home } = lab.server("Archimedes");
      await Deno.mkdir(`${home}/data/TIASJudgeModel`, { recursive: true });
      await Deno.writeTextFile(`${home}/data/TIASJudgeModel/scan.dcm`, "");
      const project = join(lab.root, "TIASJudgeModel");
      await Deno.mkdir(project);
      await Deno.writeTextFile(join(project, "train.sh"), job);

      for (
        const { command, output } of tour(language).filter(({ command: [verb = ""] }) => !renting.has(verb))
      ) {
        const line = command.join(" ");
        await t.step(line, async () => {
          const { out } = await tell(lab, project, command, {
            language,
            launch,
            env: { TIAS_REMOTE_SSH: sshOf(lab) },
            // The job ends when its log is followed, and not before.
            onText: () => line.startsWith("logs ") ? Deno.writeTextFile(`${home}/go`, "") : undefined,
          });
          compare(steady(out, lab), steady(output), line);
        });
      }
    },
  });

  Deno.test({
    ...needing(["ssh", "setsid", "curl"], `a rental and its end print what the README shows, in ${language}`),
    async fn(t) {
      await using hub = new FakeHub({ pageSize: 100 });
      await using pods = await RunpodLab.start();
      const { root, env } = await makeTrainProject(pods, hub, { trainingSec: 600 });
      for (
        const { command, output } of tour(language).filter(({ command: [verb = ""] }) => renting.has(verb))
      ) {
        const line = command.join(" ");
        await t.step(line, async () => {
          const { out } = await tell(pods.lab, root, command, {
            language,
            launch,
            env,
            // Here this machine dies, in the midst of the training.
            onText: (text, child) => {
              if (line === "train --log night" && /step \d|ステップ \d/.test(text)) child.kill("SIGKILL");
            },
          });
          compare(steady(out, pods.lab), steady(output), line);
        });
      }
      assert.deepEqual(pods.api.alive(), []);
    },
  });
}

Deno.test("the tour has every verb but gpus, whose table stands above it, and completion", async () => {
  const verbs = new Set(tour("en").map(({ command: [verb] }) => verb));
  const all = await Array.fromAsync(Deno.readDir(`${toolkit}cmd`), ({ name }) => name.replace(".ts", ""));
  const missing = all.filter((verb) => verb !== "tias_remote" && !verbs.has(verb)).toSorted();
  assert.deepEqual(missing, ["completion", "gpus"]);
});

Deno.test("both READMEs load the completion of each shell as the completion itself says", async () => {
  for (const shell of ["bash", "zsh", "fish", "powershell"]) {
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-q",
        `--config=${toolkit}deno.json`,
        "-P=completion",
        `${toolkit}cmd/completion.ts`,
        shell,
      ],
    }).output();
    const [, file = "", line = ""] = /^# In (\S+): (.+)$/m.exec(new TextDecoder().decode(stdout)) ?? [];
    for (const readme of Object.values(files)) {
      const row = (await Deno.readTextFile(readme)).split("\n").find((text) => text.endsWith(`  ${line}`));
      assert.ok(line !== "" && row?.startsWith(`${file} `), `${readme}: ${file} ${line}`);
    }
  }
});
