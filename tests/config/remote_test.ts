import assert from "node:assert/strict";
import { join } from "node:path";
import { parseConfig } from "../../lib/config/document.ts";
import { type RemoteConfig, remoteSchema } from "../../lib/config/remote.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { edited, specification } from "./remote_yaml.ts";

function load(source: string): RemoteConfig {
  return parseConfig(source, "remote.yaml", remoteSchema);
}

const newton = {
  name: "Newton",
  address: "192.168.23.14",
  user: "hasegawa",
  priority: 1,
  remote_dir: "~/work/TIASJudgeModel",
  data_dir: "~/data/TIASJudgeModel",
  uv: "~/.local/bin/uv",
  data_ready: true,
};
const expected: RemoteConfig = {
  jump_host: "labpc",
  connect_timeout_sec: 15,
  gpu_free: {
    max_memory_used_mib: 1024,
    max_utilization_percent: 10,
    observe_sec: 10,
    sample_interval_ms: 500,
  },
  servers: [
    newton,
    { ...newton, name: "Archimedes", address: "192.168.23.15", priority: 2, data_ready: false },
  ],
  pull: {
    whitelist: ["figures/*.png", "config.yaml", "metrics.json", "metrics.csv", "summary.json"],
    checkpoints: ["checkpoints/*.pt"],
    max_members: 100_000,
    max_gib: 200,
  },
  push: {
    exclude: [],
    max_file_mib: 50,
    data_suffixes: [".dcm", ".nii", ".nii.gz", ".h5", ".npz", ".npy", ".parquet", ".mp4", ".avi"],
  },
  jobs: { tmux_socket: "tias-remote" },
};

Deno.test("the user's own remote.yaml loads unchanged", () => {
  assert.deepEqual(load(specification), expected);
});

Deno.test("the example configs/remote.yaml is the user's own, with what may be added as comments", async () => {
  const example = await Deno.readTextFile(
    join(import.meta.dirname ?? ".", "..", "..", "configs", "remote.yaml"),
  );
  assert.deepEqual(load(example), expected);
  // With its comments taken off, the part that is optional says what holds without it.
  const [, optional = ""] = example.split("when they are left out:\n");
  const uncommented = optional.replaceAll(/^# /gm, "").replace(/^ssh_config: .*\n/, "");
  assert.deepEqual(load(specification + uncommented), expected);
});

Deno.test("remoteSchema fills in everything but the servers", () => {
  const [, servers = ""] = specification.split(/^servers:\n/m);
  assert.deepEqual(load(`servers:\n${servers}`), { ...expected, jump_host: null });
});

Deno.test.each([
  ["CR LF line ends", specification.replaceAll("\n", "\r\n")],
  ["a byte order mark", `\ufeff${specification}`],
  ["a document marker", `---\n${specification}...\n`],
  ["quotes", edited("Newton", '"Newton"')],
  ["flow style", edited("  - name: Archimedes\n", '  - {"name": "Archimedes"}\n').split("  - {")[0] ?? ""],
  [
    "an anchor and its alias",
    edited("user: hasegawa", "user: &u hasegawa").replace("user: hasegawa", "user: *u"),
  ],
])("remoteSchema reads a file with %s", (_what, source) => {
  assert.deepEqual(load(source).servers[0], newton);
});

Deno.test.each([
  ["jump_host: labpc ", "jump_host: null", (it: RemoteConfig) => it.jump_host, null],
  ["jump_host: labpc ", "jump_host:", (it: RemoteConfig) => it.jump_host, null],
  ["jump_host: labpc ", "jump_host: h@labpc:2222", (it: RemoteConfig) => it.jump_host, "h@labpc:2222"],
  ["timeout_sec: 15", "timeout_sec: 1", (it: RemoteConfig) => it.connect_timeout_sec, 1],
  ["used_mib: 1024", "used_mib: 0", (it: RemoteConfig) => it.gpu_free.max_memory_used_mib, 0],
  ["percent: 10", "percent: 0", (it: RemoteConfig) => it.gpu_free.max_utilization_percent, 0],
  ["percent: 10", "percent: 100", (it: RemoteConfig) => it.gpu_free.max_utilization_percent, 100],
  ["observe_sec: 10", "observe_sec: 0", (it: RemoteConfig) => it.gpu_free.observe_sec, 0],
  ["observe_sec: 10", "observe_sec: 120", (it: RemoteConfig) => it.gpu_free.observe_sec, 120],
  ["interval_ms: 500", "interval_ms: 100", (it: RemoteConfig) => it.gpu_free.sample_interval_ms, 100],
  ["interval_ms: 500", "interval_ms: 5000", (it: RemoteConfig) => it.gpu_free.sample_interval_ms, 5000],
  ["priority: 1", "priority: -3", (it: RemoteConfig) => it.servers[0]?.priority, -3],
  ["priority: 1", "priority: 2", (it: RemoteConfig) => it.servers[0]?.priority, 2],
  ["name: Newton", "name: gpu_01-a", (it: RemoteConfig) => it.servers[0]?.name, "gpu_01-a"],
  [
    "~/work/",
    "/srv/作業 場/",
    (it: RemoteConfig) => it.servers[0]?.remote_dir,
    "/srv/作業 場/TIASJudgeModel",
  ],
  ["~/work/", "work/", (it: RemoteConfig) => it.servers[0]?.remote_dir, "work/TIASJudgeModel"],
  ["servers:", "ssh_config: ../ssh 設定\nservers:", (it: RemoteConfig) => it.ssh_config, "../ssh 設定"],
  [
    "servers:",
    "push:\n  exclude: [cache/, /scratch/]\nservers:",
    (it: RemoteConfig) => it.push.exclude.join(" "),
    "cache/ /scratch/",
  ],
] as [string, string, (config: RemoteConfig) => unknown, unknown][])(
  "remoteSchema takes %s as %s",
  (from, to, read, value) => {
    assert.equal(read(load(edited(from, to))), value);
  },
);

interface Rule {
  readonly what: string;
  readonly from: string;
  readonly to: string;
  /** File, line, column, key and what was found: `remote.yaml:3:5 key found`. */
  readonly at: readonly [place: string, key: string, found: string];
  readonly en: string;
  readonly ja: string;
}

const between = (min: number, max: number) => ({
  en: `A whole number from ${min} to ${max} is allowed`,
  ja: `${min} 以上 ${max} 以下の整数を書いてください`,
});
const atLeast = (min: number) => ({
  en: `A whole number of at least ${min} is allowed`,
  ja: `${min} 以上の整数を書いてください`,
});
const serverName = { en: "Letters, digits, `_` and `-` are allowed", ja: "英数字・`_`・`-` だけが使えます" };
const sshWord = {
  en: "A host or user name without blanks that does not begin with `-` is needed",
  ja: "空白を含まず `-` で始まらないホスト名・ユーザー名を書いてください",
};
const remotePath = {
  en: "A path on the server is needed: absolute, below `~/`, or below the home folder",
  ja: "サーバ上のパス（絶対パス，`~/` で始まるパス，ホームからの相対パス）を書いてください",
};
const whole = { en: "A whole number is allowed", ja: "整数を書いてください" };
const flag = { en: "true or false is allowed", ja: "true か false を書いてください" };
const list = { en: "A list is needed here", ja: "ここにはリストを書いてください" };
const map = { en: "A map of keys and values is needed here", ja: "ここには「キー: 値」の組を書いてください" };
const someServers = { en: "At least one server is needed", ja: "サーバを 1 つ以上書いてください" };
const ownName = {
  en: "Each server needs a name of its own",
  ja: "サーバ名は重複できません。それぞれ別の名前にしてください",
};

function field(
  from: string,
  place: string,
  key: string,
  wrong: [string, string][],
  allowed: { en: string; ja: string },
) {
  return wrong.map(([value, found]): Rule => ({
    what: `${key}: ${value}`,
    from,
    to: from.replace(/:.*/, `: ${value}`),
    at: [place, key, found],
    ...allowed,
  }));
}

const noWhole: [string, string][] = [["1.5", "1.5"], ["abc", '"abc"'], ['"15"', '"15"'], ["true", "true"], [
  "null",
  "null",
]];

const rules: Rule[] = [
  ...field("jump_host: labpc ", "1:12", "jump_host", [
    ["-oProxyCommand=x", '"-oProxyCommand=x"'],
    ["a b", '"a b"'],
    ['""', '""'],
    ["5", "5"],
  ], sshWord),
  ...field("connect_timeout_sec: 15", "2:22", "connect_timeout_sec", [["0", "0"], ["-1", "-1"], [
    "3601",
    "3601",
  ], ...noWhole], between(1, 3600)),
  ...field(
    "max_memory_used_mib: 1024",
    "4:24",
    "gpu_free.max_memory_used_mib",
    [["-1", "-1"], ...noWhole],
    atLeast(0),
  ),
  ...field("max_utilization_percent: 10", "5:28", "gpu_free.max_utilization_percent", [["-1", "-1"], [
    "101",
    "101",
  ], ...noWhole], between(0, 100)),
  ...field(
    "observe_sec: 10",
    "6:16",
    "gpu_free.observe_sec",
    [["-1", "-1"], ["121", "121"], ...noWhole],
    between(0, 120),
  ),
  ...field("sample_interval_ms: 500", "7:23", "gpu_free.sample_interval_ms", [
    ["99", "99"],
    ["5001", "5001"],
    ...noWhole,
  ], between(100, 5000)),
  ...field("name: Newton", "9:11", "servers[0].name", [
    ["New ton", '"New ton"'],
    ["ニュートン", '"ニュートン"'],
    ["a.b", '"a.b"'],
    ['""', '""'],
    ["7", "7"],
  ], serverName),
  ...field("address: 192.168.23.14", "10:14", "servers[0].address", [["-x", '"-x"'], ["a b", '"a b"'], [
    "5",
    "5",
  ]], sshWord),
  ...field(
    "user: hasegawa",
    "11:11",
    "servers[0].user",
    [["-l", '"-l"'], ["a b", '"a b"']],
    sshWord,
  ),
  ...field("priority: 1", "12:15", "servers[0].priority", [["1.5", "1.5"], ["high", '"high"'], [
    "null",
    "null",
  ]], whole),
  ...field("remote_dir: ~/work/TIASJudgeModel", "13:17", "servers[0].remote_dir", [
    ["~bob/work", '"~bob/work"'],
    ["-x", '"-x"'],
    ['""', '""'],
    ['"a\\nb"', '"a\\nb"'],
    ["5", "5"],
  ], remotePath),
  ...field("data_dir: ~/data/TIASJudgeModel", "14:15", "servers[0].data_dir", [["~bob", '"~bob"'], [
    "[]",
    "[]",
  ]], remotePath),
  ...field("uv: ~/.local/bin/uv", "15:9", "servers[0].uv", [['""', '""'], ["true", "true"]], remotePath),
  ...field("data_ready: true", "16:17", "servers[0].data_ready", [["yes", '"yes"'], ["1", "1"], [
    '"true"',
    '"true"',
  ]], flag),
  {
    what: "two servers of one name",
    from: "name: Archimedes",
    to: "name: Newton",
    at: ["17:11", "servers[1].name", '"Newton"'],
    ...ownName,
  },
];

Deno.test.each(rules)("remoteSchema refuses $what", async ({ from, to, at, en, ja }) => {
  const [place, key, found] = at;
  assert.deepEqual(await spoken(await userErrorOf(() => load(edited(from, to)))), {
    en: `error: remote.yaml:${place}: \`${key}\` cannot be ${found}\nhint: ${en}\n`,
    ja: `エラー: remote.yaml:${place}：\`${key}\` に ${found} は指定できません\nヒント: ${ja}\n`,
    exit: 2,
  });
});

const shapes: [string, string, [string, string, string], { en: string; ja: string }][] = [
  ["an empty list of servers", "servers: []\n", ["1:10", "servers", "[]"], someServers],
  ["servers as a map", "servers: {a: 1}\n", ["1:10", "servers", '{"a":1}'], someServers],
  ["servers without anything", "servers:\n", ["1:9", "servers", "null"], someServers],
  ["a server that is a word", "servers: [Newton]\n", ["1:11", "servers[0]", '"Newton"'], map],
  [
    "gpu_free as a number",
    edited("gpu_free:\n", "gpu_free: 5\npush:\n").replace(/push:\n( {2}.*\n){4}/, ""),
    ["3:11", "gpu_free", "5"],
    map,
  ],
  ["an ssh_config that ssh would not find", `ssh_config: ~/.ssh/lab\n${specification}`, [
    "1:13",
    "ssh_config",
    '"~/.ssh/lab"',
  ], {
    en: "A path on this machine is needed: absolute, or seen from the project's folder; `~` is not expanded",
    ja:
      "手元のパスを，絶対パスかプロジェクトのフォルダからの相対パスで書いてください（`~` は展開されません）",
  }],
  ["pull as a list", `pull: []\n${specification}`, ["1:7", "pull", "[]"], map],
  ["push as a word", `push: all\n${specification}`, ["1:7", "push", '"all"'], map],
  ["jobs as null", `jobs: null\n${specification}`, ["1:7", "jobs", "null"], map],
  ["a whitelist that is a word", `pull: {whitelist: x.png}\n${specification}`, [
    "1:19",
    "pull.whitelist",
    '"x.png"',
  ], list],
  ["a list at the top", "- a\n", ["1:1", "(top)", '["a"]'], map],
  ["a word at the top", "hello\n", ["1:1", "(top)", '"hello"'], map],
  ["an empty file", "", ["1:1", "(top)", "null"], map],
  ["nothing but comments", "# a\n# b\n", ["1:1", "(top)", "null"], map],
];

Deno.test.each(shapes)("remoteSchema refuses %s", async (_what, source, [place, key, found], { en, ja }) => {
  assert.deepEqual(await spoken(await userErrorOf(() => load(source))), {
    en: `error: remote.yaml:${place}: \`${key}\` cannot be ${found}\nhint: ${en}\n`,
    ja: `エラー: remote.yaml:${place}：\`${key}\` に ${found} は指定できません\nヒント: ${ja}\n`,
    exit: 2,
  });
});
