/** The start script and the keeper it leaves, in a real shell with a stand-in for tmux and one for uv. */

import assert from "node:assert/strict";
import { readStartOutcome, type StartOutcome, type StartRequest, startScript } from "../../lib/job/start.ts";
import { row, uuidA, uuidB } from "../gpu/look.ts";
import { runRemotely, sentText } from "../remote_shell.ts";
import { runShell, shells, temporaryFolder, writePrograms } from "../shell.ts";

const request: StartRequest = {
  server: "Newton",
  job: "exp1",
  id: "0123456789abcdef0123456789abcdef",
  command: ["show"],
  env: [],
  gpu: 0,
  uuid: uuidA,
  remoteDir: "~/work dir",
  dataDir: "~/data",
  uv: "~/.local/bin/uv",
  tmuxSocket: "tias-remote",
  known: { pids: [], jobs: [], listReadable: true },
  force: false,
};

interface Machine {
  /** What nvidia-smi lists. */
  readonly list?: string;
  readonly apps?: string;
  readonly appsStatus?: number;
  readonly pmon?: string;
  /** What the job does, as the shell text of uv. */
  readonly uv?: string;
  readonly programs?: Readonly<Record<string, string>>;
}

const print = (text: string) => `printf '%s' '${text}'`;

/** Starts a job on a machine that is made for it, and looks at what is left there. */
async function start(
  parts: Partial<StartRequest>,
  machine: Machine = {},
  before?: (home: string) => Promise<void>,
): Promise<{ outcome: StartOutcome; log: string; state: string; left: string[] }> {
  await using folder = await temporaryFolder();
  const home = folder.path;
  await Deno.mkdir(`${home}/work dir`);
  await writePrograms(`${home}/.local/bin`, { uv: machine.uv ?? 'shift; printf "<%s>\\n" "$@"' });
  await writePrograms(`${home}/bin`, {
    "nvidia-smi": `case "$*" in
      *memory.total*) ${print(machine.list ?? row(0) + row(1, { uuid: uuidB }))} ;;
      *compute-apps*) ${print(machine.apps ?? "")}; exit ${machine.appsStatus ?? 0} ;;
      pmon*) ${print(machine.pmon ?? "")} ;;
    esac`,
    // tmux -L SOCKET -f /dev/null new-session -d -s JOB -x 200 -y 50 COMMAND...
    tmux: `shift 12; "$@" </dev/null >/dev/null 2>&1 &`,
    ps: "echo bob 60",
    ...machine.programs,
  });
  await before?.(home);
  const { transcript } = await runRemotely(startScript({ ...request, ...parts }), home);
  const logs = `${home}/work dir/runs/_remote_logs`;
  const read = (file: string) => Deno.readTextFile(file).catch(() => "");
  // The keeper's very last acts come behind the end that the script waits for.
  for (let turn = 0; turn < 100 && (await read(`${logs}/.jobs/exp1.state`)).includes("pid="); turn++) {
    if ((await read(`${logs}/.jobs/exp1.state`)).includes("code=")) break;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return {
    outcome: readStartOutcome(transcript),
    log: (await read(`${logs}/exp1.log`)).replaceAll(/\[\d{4}-[^\]]*\]/g, "[TIME]"),
    state: await read(`${logs}/.jobs/exp1.state`),
    left: await Array.fromAsync(Deno.readDir(`${logs}/.jobs`), ({ name }) => name).catch(() => []),
  };
}

Deno.test.each(shells.map((shell) => ({ shell, name: shell.join(" ") })))(
  "startScript() and its keeper are POSIX shell to $name",
  async ({ shell }) => {
    const script = startScript({ ...request, env: [["A", "it's"]], command: ["a b", "'", "\n"] });
    const keeper = String(script.values["keeper_script"]);
    for (const text of [sentText(script), keeper]) {
      const { code, stderr } = await runShell('"$@" -n', { args: ["sh", ...shell], stdin: text });
      assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
    }
  },
);

const linux = { ignore: Deno.build.os !== "linux" };

Deno.test(
  "startScript() starts a job whose arguments arrive unchanged, and logs its start and end",
  linux,
  async () => {
    const command = [
      "a b",
      "it's",
      '"',
      "$HOME",
      "`id`",
      "*",
      "日本\n語",
      "",
      "--",
      "-n",
      "\\n",
      "#",
    ] as const;
    const { outcome, log, state, left } = await start({ command: ["show", ...command] });
    assert.equal(outcome.kind, "ended");
    assert.equal(outcome.kind === "ended" && outcome.code, 0);
    assert.equal(
      log,
      `=== [TIME] start Newton GPU 0 (${uuidA}, NVIDIA A100) CUDA_VISIBLE_DEVICES=0\n` +
        ["show", ...command].map((word) => `<${word}>\n`).join("") +
        "=== [TIME] exit 0\n",
    );
    assert.match(
      state,
      /^id=0123456789abcdef0123456789abcdef\npid=\d+\nstart=\d+\nboot=.*\nhost=.*\ngpu=0\n/,
    );
    assert.match(state, /\nended=\d+\ncode=0\n$/);
    assert.deepEqual(left, ["exp1.state"]);
  },
);

Deno.test(
  "startScript() gives a job its GPU, its data and its own variables, and keeps its script's apart",
  linux,
  async () => {
    const { log } = await start({
      gpu: 1,
      uuid: uuidB,
      // Names that the scripts themselves use.
      env: [
        ["gpu", "7"],
        ["job", "other"],
        ["log", "/dev/null"],
        ["uv", "/bin/false"],
        ["remote_dir", "/"],
        ["HOME", "/nowhere"],
        ["IFS", "="],
        ["id", "x"],
        ["MINE", "日本 'x' $y"],
        ["TIAS_REMOTE_JOB_ID", "stolen"],
      ],
    }, {
      uv:
        `pwd; for name in CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TIAS_DATA_ROOT PYTHONUNBUFFERED TIAS_REMOTE_JOB_ID \\
      gpu job log uv remote_dir HOME IFS id MINE; do eval "printf '%s=%s\\n' $name \\"\\$$name\\""; done
case $PATH in */.local/bin:*) echo path ;; esac`,
    });
    const lines = log.split("\n").slice(1, -2);
    const home = lines[0]?.replace("/work dir", "") ?? "";
    assert.deepEqual(lines, [
      `${home}/work dir`,
      "CUDA_VISIBLE_DEVICES=1",
      "CUDA_DEVICE_ORDER=PCI_BUS_ID",
      `TIAS_DATA_ROOT=${home}/data`,
      "PYTHONUNBUFFERED=1",
      "TIAS_REMOTE_JOB_ID=0123456789abcdef0123456789abcdef",
      "gpu=7",
      "job=other",
      "log=/dev/null",
      "uv=/bin/false",
      "remote_dir=/",
      "HOME=/nowhere",
      // A shell takes no IFS from its environment.
      "IFS= \t",
      "",
      "id=x",
      "MINE=日本 'x' $y",
      "path",
    ]);
  },
);

Deno.test("startScript() reports a job that fails at once with its code and last lines", linux, async () => {
  const { outcome, log } = await start({}, { uv: "echo one; echo two >&2; printf three; exit 123" });
  assert.ok(outcome.kind === "ended");
  assert.equal(outcome.code, 123);
  assert.match(outcome.lines, /^=== \[.*\] start Newton GPU 0 .*\none\ntwo\nthree\n=== \[.*\] exit 123\n$/);
  assert.match(log, /three\n=== \[TIME\] exit 123\n$/);
});

Deno.test("startScript() adds to the log of an earlier run, on a line of its own", linux, async () => {
  const { outcome, log } = await start({}, {}, async (home) => {
    await Deno.mkdir(`${home}/work dir/runs/_remote_logs`, { recursive: true });
    await Deno.writeTextFile(`${home}/work dir/runs/_remote_logs/exp1.log`, "earlier, cut");
  });
  assert.match(log, /^earlier, cut\n=== \[TIME\] start Newton/);
  assert.equal(outcome.kind === "ended" && outcome.lines.includes("earlier"), false);
});

Deno.test("startScript() leaves a job running that outlives the first seconds", linux, async () => {
  const { outcome, log } = await start({}, { uv: "sleep 4; echo done" });
  assert.equal(outcome.kind, "started");
  assert.equal(outcome.kind === "started" && outcome.keeper, "tmux");
  assert.match(log, /\ndone\n=== \[TIME\] exit 0\n$/);
});

const processOf = (parts: object) => ({
  kind: "taken",
  why: "process",
  pid: "",
  user: "",
  job: "",
  ...parts,
});

Deno.test.each([
  [
    "a process that the survey had not shown",
    {},
    { apps: `${uuidA}, 77, 5\n` },
    processOf({ pid: "77", user: "bob" }),
  ],
  [
    "one whose uuid is written otherwise",
    {},
    { apps: ` ${uuidA.toLowerCase()} , 77 , 5\n` },
    processOf({ pid: "77", user: "bob" }),
  ],
  [
    "one that only pmon shows",
    {},
    { pmon: "# gpu pid type sm\n0 77 C 5 - python\n" },
    processOf({ pid: "77", user: "bob" }),
  ],
  ["one without a number", {}, { apps: `${uuidA}, [N/A], 5\n` }, { kind: "taken", why: "unreadable" }],
  ["a list that has become unreadable", {}, { apps: "Unknown Error\n", appsStatus: 9 }, {
    kind: "taken",
    why: "unreadable",
  }],
  ["another GPU under that number", {}, { list: row(0, { uuid: uuidB }) + row(1) }, {
    kind: "taken",
    why: "renumbered",
  }],
  ["no GPU any more", {}, { list: "" }, { kind: "taken", why: "renumbered" }],
] as [string, Partial<StartRequest>, Machine, Partial<StartOutcome>][])(
  "startScript() starts nothing beside %s",
  async (_what, parts, machine, expected) => {
    const { outcome, log, left } = await start(parts, machine);
    assert.deepEqual(outcome, { pid: "", user: "", job: "", ...expected });
    assert.equal(log, "");
    assert.deepEqual(left, []);
  },
);

Deno.test.each([
  ["a process that the survey had shown", { known: { ...request.known, pids: [77] } }, {
    apps: `${uuidA}, 77, 5\n`,
  }],
  ["a process on another GPU", {}, {
    apps: `${uuidB}, 77, 5\n`,
    pmon: "# gpu pid type sm\n1 77 C 5 - python\n",
  }],
  ["graphics", {}, { pmon: "# gpu pid type sm\n0 77 G 5 - Xorg\n0 - - - - -\n" }],
  ["a list that was unreadable before", { known: { ...request.known, listReadable: false } }, {
    appsStatus: 9,
  }],
  ["a process without a number, where there was one before", {
    known: { ...request.known, listReadable: false },
  }, { apps: `${uuidA}, [N/A], 5\n`, pmon: "# gpu pid type sm\n0 [N/A] C 5 - python\n" }],
  ["a new process, with --force", { force: true }, { apps: `${uuidA}, 77, 5\n` }],
] as [string, Partial<StartRequest>, Machine][])(
  "startScript() starts beside %s",
  linux,
  async (_what, parts, machine) => {
    assert.equal((await start(parts, machine)).outcome.kind, "ended");
  },
);

Deno.test.each([
  ["uv is missing", async (home: string) => await Deno.remove(`${home}/.local/bin/uv`), "uv_missing"],
  [
    "uv is no program",
    async (home: string) => await Deno.chmod(`${home}/.local/bin/uv`, 0o644),
    "uv_missing",
  ],
  [
    "the logs' folder cannot be made",
    async (home: string) => await Deno.writeTextFile(`${home}/work dir/runs`, ""),
    "unwritable",
  ],
  [
    "the GPU's lock cannot be opened",
    async (home: string) => {
      const host = new TextDecoder().decode(
        (await new Deno.Command("uname", { args: ["-n"] }).output()).stdout,
      );
      const folder = `${home}/.cache/tias-remote/${host.trim()}/${uuidA}`;
      await Deno.mkdir(folder, { recursive: true });
      await Deno.symlink("/nowhere/lock", `${folder}/lock`);
    },
    "unwritable",
  ],
  [
    "the script of the start cannot be written",
    async (home: string) =>
      await Deno.mkdir(`${home}/work dir/runs/_remote_logs/.jobs/${request.id}.run`, { recursive: true }),
    "unwritable",
  ],
])("startScript() says that %s, and starts nothing", async (_what, before, kind) => {
  const { outcome, log } = await start({}, {}, before);
  assert.equal(outcome.kind, kind);
  assert.equal(log, "");
});

Deno.test("startScript() says what tmux says when it cannot start", async () => {
  const { outcome, left } = await start({}, {
    programs: { tmux: "echo 'duplicate session: exp1' >&2; exit 1" },
  });
  assert.deepEqual(outcome, { kind: "launch_failed", detail: "duplicate session: exp1" });
  assert.deepEqual(left, []);
});

Deno.test(
  "startScript() starts its own job although another start of the same name comes between",
  linux,
  async () => {
    // The other start has just written its script when this one's tmux begins to read.
    const tmux = `shift 12; for run in "$HOME/work dir/runs/_remote_logs/.jobs/exp1.run"; do
    [ ! -e "$run" ] || echo 'exit 1' >"$run"
  done; "$@" </dev/null >/dev/null 2>&1 &`;
    const { outcome, left } = await start({}, { programs: { tmux } });
    assert.equal(outcome.kind, "ended");
    assert.deepEqual(left, ["exp1.state"]);
  },
);

Deno.test(
  "startScript()'s keeper leaves the state alone that another server has put in its place",
  linux,
  async () => {
    const { state, log } = await start({}, {
      uv:
        `sed -i -e 's/^id=.*/id=fedcba9876543210fedcba9876543210/' -e 's/^host=.*/host=other/' "$HOME"/work*/runs/_remote_logs/.jobs/exp1.state`,
    });
    assert.match(log, /=== \[TIME\] exit 0\n$/);
    assert.equal(state.includes("ended="), false);
  },
);
