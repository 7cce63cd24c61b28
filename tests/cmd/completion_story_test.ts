import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import type { Laboratory } from "../lab/types.ts";
import { writePrograms } from "../shell.ts";
import { tell, toolkit } from "./story.ts";

/** A project of a laboratory in which `tias-remote` is a program in the PATH. */
interface Desk {
  readonly project: string;
  readonly env: Readonly<Record<string, string>>;
}

async function makeDesk(lab: Laboratory): Promise<Desk> {
  const project = await lab.project();
  const bin = `${project}/bin`;
  const words = [
    Deno.execPath(),
    ...[
      "run",
      "-q",
      "--no-prompt",
      `--config=${toolkit}deno.json`,
      "-P=completion",
      `--allow-read=${project}/configs`,
    ],
    `${toolkit}cmd/tias_remote.ts`,
  ];
  await writePrograms(bin, { "tias-remote": `exec ${quoted(words)} "$@"\n` });
  const env = {
    HOME: project,
    PATH: `${bin}:${Deno.env.get("PATH")}`,
    LC_ALL: "C.UTF-8",
    TERM: "dumb",
    NO_COLOR: "1",
    TIAS_REMOTE_LANG: "en",
    DENO_DIR: await denoFolder(),
  };
  return { project, env };
}

async function denoFolder(): Promise<string> {
  const { stdout } = await new Deno.Command(Deno.execPath(), { args: ["info", "--json"] }).output();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

interface Said {
  readonly out: string;
  readonly err: string;
}

async function inShell({ project, env }: Desk, shell: string[], script: string): Promise<Said> {
  const [program = "", ...args] = shell;
  const { stdout, stderr } = await new Deno.Command(program, {
    args: [...args, script],
    cwd: project,
    env,
    clearEnv: true,
    stdin: "null",
  }).output();
  return { out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** The words that a shell's own completion finds for a line; the last is the one at the cursor. */
type Completing = (desk: Desk, words: readonly string[]) => Promise<Said>;

const quoted = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");

const shells: Readonly<Record<string, Completing>> = {
  bash: (desk, words) =>
    inShell(
      desk,
      ["bash", "--noprofile", "--norc", "-c"],
      `eval "$(tias-remote completion bash)"
COMP_WORDS=(tias-remote ${quoted(words)}) COMP_CWORD=${words.length}
_tias_remote tias-remote
[ "\${#COMPREPLY[@]}" -eq 0 ] || printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // The widget's own variables and builtins exist only while a key is handled, so they are played here.
  zsh: (desk, words) =>
    inShell(
      desk,
      ["zsh", "-f", "-c"],
      `autoload -Uz compinit && compinit -u -D
eval "$(tias-remote completion zsh)"
compadd() { print -rl -- "\${proposed[@]}"; }
_files() { :; }
words=(tias-remote ${quoted(words)}) CURRENT=${words.length + 1} PREFIX=${quoted(words.slice(-1))}
_tias_remote`,
    ),
  fish: async (desk, words) => {
    const line = ["tias-remote", ...words].join(" ");
    const said = await inShell(
      desk,
      ["fish", "--no-config", "-c"],
      `tias-remote completion fish | source; complete -C '${line}'`,
    );
    return { ...said, out: said.out.replaceAll(/\t.*/g, "") };
  },
};

const verbs = ["gpus", "push", "run", "status", "logs", "kill", "pull", "init", "doctor", "completion"];

for (const [shell, complete] of Object.entries(shells)) {
  Deno.test({
    ...needing(["ssh", "tmux", shell], `${shell} completes verbs, flags, servers and running jobs`),
    async fn() {
      await using lab = await startLaboratory({
        servers: [{ name: "Newton" }, { name: "Archimedes", behaviour: { dead: true } }],
      });
      const desk = await makeDesk(lab);
      const started = await tell(lab, desk.project, [
        ..."run --name exp1 --observe 0 --no-push -- sleep 60".split(" "),
      ]);
      assert.equal(started.code, 0, started.err);
      const found = async (...words: string[]) => {
        const { out, err } = await complete(desk, words);
        assert.equal(err, "");
        return out.split("\n").filter((line) => line !== "");
      };
      const all = await found("");
      for (const verb of verbs) assert.ok(all.includes(verb), `${verb} in ${all}`);
      assert.deepEqual((await found("pu")).toSorted(), ["pull", "push"]);
      assert.deepEqual(await found("gpus", "--o"), ["--observe"]);
      assert.deepEqual((await found("push", "--server", "")).toSorted(), ["Archimedes", "Newton"]);
      assert.deepEqual(await found("logs", ""), ["exp1"]);
      assert.deepEqual(await found("kill", "e"), ["exp1"]);
      assert.deepEqual(await found("completion", "p"), ["powershell"]);

      await Deno.remove(`${desk.project}/configs/remote.yaml`);
      assert.ok(!(await found("push", "--server", "N")).includes("Newton"), "quiet without a configuration");
    },
  });
}

/** Types lines into an interactive shell; `\t` is the Tab key. What it draws is not looked at. */
async function typeInto({ project, env }: Desk, shell: string, lines: readonly string[]): Promise<void> {
  const child = new Deno.Command("script", {
    args: ["-qec", shell, "/dev/null"],
    cwd: project,
    env: { ...env, PS1: "READY> ", PROMPT: "READY> " },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keys = child.stdin.getWriter();
  const left = [...lines, "exit"];
  let seen = "";
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    seen += text;
    if (!/READY> [^\n]*$/.test(seen)) continue;
    seen = "";
    const line = left.shift();
    if (line === undefined) continue;
    await keys.write(new TextEncoder().encode(`${line}\r`));
  }
  await keys.close().catch(() => {});
  await child.status;
  assert.deepEqual(left, [], "every line was asked for");
}

const interactive = [
  ["bash", "bash --noprofile --norc -i", [`eval "$(tias-remote completion bash)"`]],
  ["zsh", "zsh -f -i", [`autoload -Uz compinit && compinit -u -D; eval "$(tias-remote completion zsh)"`]],
] as const;

Deno.test.each(interactive)(
  "%s completes at the Tab key, also behind the = of a flag",
  async (shell, start, setup) => {
    if (needing(["ssh", "script", shell], "").ignore) return;
    await using lab = await startLaboratory({ servers: [{ name: "Newton" }, { name: "Archimedes" }] });
    const desk = await makeDesk(lab);
    const use = shell === "bash" ? "complete -o default -F _tias_remote words" : "compdef _tias_remote words";
    // `words` is completed like tias-remote, and then tells what the shell made of the line.
    await Deno.writeTextFile(
      `${desk.project}/bin/words`,
      `#!/bin/sh\n[ "$1" = completion ] && exec tias-remote "$@"\nprintf '<%s>' "$@"\n`,
      { mode: 0o755 },
    );
    await typeInto(desk, start, [
      ...setup,
      use,
      "words gp\t--obs\t0 >one",
      "words doctor --server=New\t--js\t>two",
      "words push --server Ar\t>three",
      "words run -- conf\t>four",
    ]);
    const told = (name: string) => Deno.readTextFile(`${desk.project}/${name}`);
    assert.equal(await told("one"), "<gpus><--observe><0>");
    assert.equal(await told("two"), "<doctor><--server=Newton><--json>");
    assert.equal(await told("three"), "<push><--server><Archimedes>");
    assert.equal(await told("four"), "<run><--><configs/>", "file names where nothing is proposed");
  },
);
