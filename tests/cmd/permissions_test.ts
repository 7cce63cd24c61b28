// deno-lint-ignore-file no-control-regex
import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";
import { tell, toolkit } from "./story.ts";

const verbs = ["gpus", "push", "run", "status", "logs", "kill", "pull", "init", "doctor", "completion"];
const escapes = new RegExp("\\x1b");

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function deno(
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    ...options,
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

Deno.test.each(verbs.map((verb) => [verb]))(
  "%s --help needs no more than its permission set, in a pipe",
  async (verb) => {
    const help = await deno([
      "run",
      "-q",
      "--no-prompt",
      `-P=${verb}`,
      `${toolkit}cmd/${verb}.ts`,
      "--help",
      "--lang",
      "ja",
    ], {
      cwd: "/",
      env: { NO_COLOR: "" },
    });
    assert.equal(help.code, 0, help.err);
    assert.match(help.out, /^使い方\n {2}tias-remote /);
    assert.equal(help.err, "", "no warning of an experimental feature, which cron would mail");
    assert.ok(!escapes.test(help.out));
  },
);

Deno.test.each(verbs.map((verb) => [verb]))(
  "%s --help needs no more than its permission set, on a terminal",
  async (verb) => {
    if (needing(["script"], "").ignore) return;
    const command =
      `'${Deno.execPath()}' run -q --no-prompt -P=${verb} '${toolkit}cmd/${verb}.ts' --help --lang en`;
    const terminal = await new Deno.Command("script", { args: ["-qec", command, "/dev/null"], stdin: "null" })
      .output();
    const text = new TextDecoder().decode(terminal.stdout);
    assert.equal(terminal.code, 0, text);
    assert.match(text, /USAGE\r\n {2}tias-remote /);
  },
);

Deno.test({
  ...needing(["ssh", "tmux", "script"], "every verb works on a terminal with exactly its permission set"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    const onTerminal = async (verb: string, ...args: string[]) => {
      const words = [
        Deno.execPath(),
        "run",
        "-q",
        "--no-prompt",
        `--config=${toolkit}deno.json`,
        `-P=${verb}`,
        `--allow-read=${project}`,
        `${toolkit}cmd/${verb}.ts`,
        "--lang=en",
        ...args,
      ];
      const command = words.map((word) => `'${word}'`).join(" ");
      const { code, stdout } = await new Deno.Command("script", {
        args: ["-qec", command, "/dev/null"],
        cwd: project,
        env: { NO_COLOR: "" },
        stdin: "null",
      }).output();
      return { code, text: new TextDecoder().decode(stdout) };
    };
    const gpus = await onTerminal("gpus");
    assert.match(gpus.text, /Observing 1 server\(s\): 1 s left/, "a countdown");
    assert.match(gpus.text, /\x1b\[32munused\x1b\[0m/, "in colour");
    assert.equal((await onTerminal("push")).code, 0);
    assert.equal((await onTerminal("run", "--name", "t", "--observe", "0", "--", "sleep", "20")).code, 0);
    assert.match((await onTerminal("status", "--observe", "0")).text, /t +Newton +0 +.*running/);
    assert.match((await onTerminal("logs", "t")).text, /=== \[.*start Newton GPU 0/);
    assert.match((await onTerminal("kill", "t")).text, /Stopped t on Newton/);
    assert.match((await onTerminal("doctor")).text, /\x1b\[32mok\x1b\[0m +Reached as hasegawa@/);
  },
});

Deno.test({
  ...needing(["ssh"], "a project is found from its folders, by --config from anywhere, and nowhere else"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    await Deno.mkdir(`${project}/src/deep`, { recursive: true });
    const script = [`${toolkit}cmd/gpus.ts`, "--observe", "0", "--lang", "en"];
    const allowed = [
      "run",
      "-q",
      "--no-prompt",
      "-P=gpus",
      `--allow-read=${project}`,
      `--config=${toolkit}deno.json`,
    ];

    assert.equal((await deno([...allowed, ...script], { cwd: `${project}/src/deep` })).code, 0);
    assert.equal(
      (await deno([...allowed, ...script, "--config", `${project}/configs/remote.yaml`], { cwd: "/" })).code,
      0,
    );

    const outside = await deno([
      "run",
      "-q",
      "--no-prompt",
      "-P=gpus",
      ...script,
      "--config",
      `${project}/configs/remote.yaml`,
    ], {
      cwd: "/",
    });
    assert.equal(outside.code, 2);
    assert.match(
      outside.err,
      /error: tias-remote was started without the right to read .*remote\.yaml\nhint: .*--allow-read=PROJECT/,
    );
    const nowhere = await deno(["run", "-q", "-A", ...script], { cwd: lab.root });
    assert.equal(nowhere.code, 2);
    assert.match(
      nowhere.err,
      /error: There is no configs\/remote\.yaml in .* or in a folder above it\nhint: Go to/,
    );
  },
});

Deno.test({
  ...needing(
    ["ssh"],
    "an ssh program that was not declared is not started, and the error says how to allow it",
  ),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    const own = `${lab.root}/ssh`;
    await Deno.writeTextFile(own, "#!/bin/sh\necho started >&2\n", { mode: 0o755 });
    const outcome = await tell(lab, project, ["gpus", "--observe", "0"], { env: { TIAS_REMOTE_SSH: own } });
    assert.equal(outcome.code, 2, outcome.err);
    assert.match(
      outcome.err,
      /error: tias-remote was started without the right to run `.*\/ssh`\nhint: .*deno\.json/,
    );
    assert.ok(!outcome.err.includes("started\n"));
    const system = await tell(lab, project, ["gpus", "--observe", "0"], {
      env: { TIAS_REMOTE_SSH: "/usr/bin/ssh" },
    });
    assert.equal(system.code, 0, system.err);
  },
});
