import assert from "node:assert/strict";
import { parseConfig } from "../../lib/config/document.ts";
import { remoteSchema } from "../../lib/config/remote.ts";
import { needing } from "../lab/requirements.ts";
import { temporaryFolder } from "../shell.ts";
import { toolkit } from "./story.ts";

const sshConfig = `Host newton
  HostName 192.168.23.14
  Port 2222
  User hasegawa
  ProxyJump labpc
Host archimedes
  HostName 192.168.23.15
  User alice
  ProxyJump labpc
`;

interface Ran {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A project without a configuration, and an ssh configuration beside it. */
async function emptyProject(): Promise<{ readonly project: string; readonly ssh: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  const project = `${folder.path}/TIASJudgeModel`;
  await Deno.mkdir(project);
  await Deno.writeTextFile(`${folder.path}/ssh_config`, sshConfig);
  return {
    project,
    ssh: `${folder.path}/ssh_config`,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

function initArguments(project: string, args: readonly string[], permitted = true): string[] {
  const more = permitted ? [`--allow-read=${project}/configs`, `--allow-write=${project}/configs`] : [];
  return [
    "run",
    "-q",
    "--no-prompt",
    `--config=${toolkit}deno.json`,
    "-P=init",
    ...more,
    `${toolkit}cmd/init.ts`,
    ...args,
  ];
}

async function init(project: string, args: readonly string[], permitted = true): Promise<Ran> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: initArguments(project, args, permitted),
    cwd: project,
    env: { NO_COLOR: "1", TIAS_REMOTE_LANG: "en" },
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

/** Types an answer at each question, on a terminal. `^C` and `^D` are keys. */
async function typing(project: string, args: readonly string[], answers: readonly string[]): Promise<Ran> {
  const words = [Deno.execPath(), ...initArguments(project, args)];
  const child = new Deno.Command("script", {
    args: ["-qec", words.map((word) => `'${word}'`).join(" "), "/dev/null"],
    cwd: project,
    env: { NO_COLOR: "1", TIAS_REMOTE_LANG: "en" },
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const keys = child.stdin.getWriter();
  const left = [...answers];
  let out = "";
  let seen = 0;
  for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
    out += text;
    // A question ends with a colon and a blank, and nothing behind them.
    if (!/: $/.test(out.slice(seen))) continue;
    const answer = left.shift();
    if (answer === undefined) break;
    seen = out.length;
    const key = { "^C": "\x03", "^D": "\x04" }[answer] ?? `${answer}\r`;
    await keys.write(new TextEncoder().encode(key));
  }
  await keys.close().catch(() => {});
  const { code } = await child.status;
  assert.deepEqual(left, [], out);
  return { code, out, err: "" };
}

async function configOf(project: string) {
  const file = `${project}/configs/remote.yaml`;
  return parseConfig(await Deno.readTextFile(file), file, remoteSchema);
}

async function filesOf(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder), ({ name }) => name)).toSorted();
}

Deno.test({
  ...needing(["ssh"], "init writes from flags what ssh -G knows of the hosts, and never overwrites"),
  async fn() {
    await using place = await emptyProject();
    const { project, ssh } = place;
    const flags = [
      ...["--server", "Newton=newton", "--server", "Archimedes=bob@archimedes", "--data-ready", "Newton"],
      ...["--ssh-config", ssh],
    ];
    const made = await init(project, flags);
    assert.equal(made.code, 0, made.err);
    assert.match(made.out, /^Wrote .*\/configs\/remote\.yaml; servers: 2\nNext: `tias-remote doctor`/);
    assert.equal(made.err, "");

    const config = await configOf(project);
    assert.equal(config.jump_host, "labpc");
    assert.equal(config.ssh_config, ssh);
    const both = {
      remote_dir: "~/work/TIASJudgeModel",
      data_dir: "~/data/TIASJudgeModel",
      uv: "~/.local/bin/uv",
    };
    assert.deepEqual(config.servers, [
      { name: "Newton", address: "newton", user: "hasegawa", priority: 1, ...both, data_ready: true },
      { name: "Archimedes", address: "archimedes", user: "bob", priority: 2, ...both, data_ready: false },
    ]);
    const text = await Deno.readTextFile(`${project}/configs/remote.yaml`);
    assert.match(text, /address: newton +# ssh went to 192\.168\.23\.14:2222 \(ProxyJump labpc\)/);

    const again = await init(project, flags);
    assert.equal(again.code, 2);
    assert.match(again.err, /error: .*remote\.yaml is there already and stays as it is\nhint: Edit it/);
    assert.equal(await Deno.readTextFile(`${project}/configs/remote.yaml`), text);
  },
});

Deno.test({
  ...needing(["ssh"], "init says what is wrong with its flags, and then writes nothing"),
  async fn() {
    await using place = await emptyProject();
    const { project } = place;
    const cases: [string[], RegExp][] = [
      [
        [],
        /error: Without a terminal nothing can be asked.*\nhint: Name the servers: tias-remote init --server/,
      ],
      [["--server", "Newton"], /`Newton` is not of the form NAME=HOST/],
      [["--server", "New ton=h"], /--server: `New ton` cannot be taken\. Letters/],
      [["--server", "N=-oProxyCommand=x"], /--server: `-oProxyCommand=x` cannot be taken/],
      [["--server", "N=h", "--server", "N=g"], /The server N is named twice/],
      [["--server", "N=h", "--data-ready", "M"], /--data-ready names M/],
      [["--server", "N=h", "--jump", "a b"], /--jump: `a b` cannot be taken/],
      [["--server", "N=h", "--remote-dir", "~bob/x"], /--remote-dir: `~bob\/x` cannot be taken/],
    ];
    for (const [args, words] of cases) {
      const outcome = await init(project, args);
      assert.equal(outcome.code, 2, args.join(" "));
      assert.match(outcome.err, words);
    }
    const outside = await init(project, ["--server", "N=h"], false);
    assert.equal(outside.code, 2);
    assert.match(
      outside.err,
      /without the right to write .*remote\.yaml\nhint: .*--allow-write=PROJECT\/configs/,
    );
    assert.deepEqual(await filesOf(project), []);
  },
});

Deno.test({
  ...needing(
    ["ssh", "script"],
    "init asks on a terminal, offers what ssh says, and asks again where it must",
  ),
  async fn() {
    await using place = await emptyProject();
    const { project, ssh } = place;
    const answers = [
      ...["newton", "New ton", "Newton", "", "y"],
      ...["alice@archimedes", "Newton", "", "", "maybe", "n", ""],
      ...["", "", "/data/clinical", "", ""],
    ];
    const made = await typing(project, ["--ssh-config", ssh], answers);
    assert.equal(made.code, 0, made.out);
    assert.match(made.out, /ssh goes to hasegawa@192\.168\.23\.14:2222 \(ProxyJump labpc\)\r\n/);
    assert.match(made.out, /User there \[hasegawa\]: /);
    assert.match(made.out, /Jump host .*\[labpc\]: /);
    assert.match(made.out, /Please answer y or n/);
    const config = await configOf(project);
    assert.equal(config.jump_host, "labpc");
    assert.deepEqual(
      config.servers.map((
        { name, address, user, data_ready, data_dir },
      ) => [name, address, user, data_ready, data_dir]),
      [
        ["Newton", "newton", "hasegawa", true, "/data/clinical"],
        ["archimedes", "archimedes", "alice", false, "/data/clinical"],
      ],
    );
  },
});

Deno.test({
  ...needing(["ssh", "script"], "init leaves nothing behind after Ctrl-C, Ctrl-D or a no"),
  async fn() {
    await using place = await emptyProject();
    const { project, ssh } = place;
    const stopped = await typing(project, ["--ssh-config", ssh], ["newton", "Newton", "^C"]);
    assert.equal(stopped.code, 130, stopped.out);
    assert.match(stopped.out, /Interrupted/);
    const ended = await typing(project, ["--ssh-config", ssh], ["newton", "^D"]);
    assert.equal(ended.code, 1, ended.out);
    assert.match(ended.out, /error: The answers ended too early; nothing was written\r\nhint: /);
    const declined = await typing(project, ["--ssh-config", ssh], [
      "newton",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "",
      "n",
    ]);
    assert.equal(declined.code, 1);
    assert.match(declined.out, /servers:\r\n {2}- name: newton[\s\S]*Nothing was written/);
    assert.deepEqual(await filesOf(project), []);
  },
});
