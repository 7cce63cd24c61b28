import assert from "node:assert/strict";
import { serverFindings, type ServerLook } from "../../lib/doctor/server_findings.ts";
import type { Finding, FindingId, Level } from "../../lib/doctor/types.ts";
import type { FailureKind } from "../../lib/ssh/failure.ts";
import type { Section } from "../../lib/ssh/framing.ts";
import { textsIn } from "../../lib/text/texts.ts";

const server = {
  name: "Newton",
  address: "192.168.23.14",
  user: "hasegawa",
  priority: 1,
  remote_dir: "~/work/TIAS Judge",
  data_dir: "~/data/TIASJudgeModel",
  uv: "~/.local/bin/uv",
  data_ready: true,
};
const settings = { jump_host: "labpc", connect_timeout_sec: 15 };
const heard = new Date("2026-01-02T03:04:05Z");
const seconds = heard.getTime() / 1000;
const row = "0, GPU-00000001-0000-4000-8000-000000000000, NVIDIA RTX A6000, 3, 49140, 0\n";

/** What the script prints on a server where all is well. */
const healthy: Readonly<Record<string, string>> = {
  facts: "user=hasegawa\nhost=newton\nshell=bash\n",
  tools: "tmux=tmux 3.4\ntar=tar (GNU tar) 1.35\nsha256=openssl\n",
  uv: "path=/home/hasegawa/.local/bin/uv\nstate=runs\nsaid=uv 0.9.0\n",
  place: "path=/home/h/work\nexisting=/home/h/work\nwritable=1\nsaid=\nfree_kib=500000000\n",
  data: "path=/home/h/data\nstate=filled\n",
  logout: "systemd=1\nkills=false\nLinger=no\n",
  gpu_list: row,
  driver: "550.54.15\n",
  now: `${seconds + 3}\n`,
};

interface Differences {
  readonly text?: Readonly<Record<string, string>>;
  readonly statuses?: Readonly<Record<string, number | null>>;
  readonly noise?: number;
  readonly terminalForced?: boolean;
  readonly look?: Partial<ServerLook>;
}

function examine({ text = {}, statuses = {}, noise = 0, terminalForced = false, look = {} }: Differences) {
  const sections = Object.entries({ ...healthy, ...text }).map(([name, text]): Section => ({
    name,
    text,
    status: name in statuses ? statuses[name] ?? null : 0,
  }));
  return serverFindings({
    server,
    settings,
    route: { host: "192.168.23.14", user: "hasegawa", port: 22, jump: null },
    answer: { ok: true, value: { sections, complete: true, terminalForced }, noise },
    heard,
    ...look,
  });
}

function only(findings: readonly Finding[], id: FindingId): Finding {
  const [found, ...others] = findings.filter((finding) => finding.id === id);
  assert.ok(found !== undefined && others.length === 0, `one finding ${id}`);
  return found;
}

Deno.test("serverFindings() finds nothing to mend on a healthy server, and looks at everything", () => {
  const findings = examine({});
  assert.deepEqual(findings.filter(({ level }) => level !== "ok"), []);
  assert.deepEqual(
    findings.map(({ id }) => id),
    [
      "connection",
      "noise",
      "shell",
      "gpu",
      "tmux",
      "logout",
      "tar",
      "sha256",
      "uv",
      "remote_dir",
      "disk",
      "data_dir",
      "clock",
    ],
  );
});

type Case = readonly [name: string, FindingId, Level, Differences, en: RegExp, ja: RegExp];
const cases: readonly Case[] = [
  ["a jump host", "connection", "ok", {}, /through labpc$/, /labpc 経由/],
  [
    "a direct connection",
    "connection",
    "ok",
    { look: { settings: { ...settings, jump_host: null }, route: undefined } },
    /^Reached as hasegawa@192\.168\.23\.14, directly$/,
    /直接つながります/,
  ],
  [
    "ssh's own ProxyJump",
    "connection",
    "ok",
    {
      look: {
        settings: { ...settings, jump_host: null },
        route: { host: "10.0.0.9", user: "h", port: 2222, jump: "bastion" },
      },
    },
    /^Reached as h@10\.0\.0\.9:2222, through bastion$/,
    /bastion 経由/,
  ],
  ["noise", "noise", "warning", { noise: 12 }, /prints 12 byte/, /12 バイト/],
  ["a forced terminal", "terminal", "problem", { terminalForced: true }, /forces a terminal/, /端末を強制/],
  ["a shell", "shell", "ok", { text: { facts: "shell=fish\n" } }, /fish$/, /fish です/],
  [
    "no nvidia-smi",
    "gpu",
    "problem",
    { text: { gpu_list: "sh: nvidia-smi: not found\n" }, statuses: { gpu_list: 127 } },
    /not installed/,
    /nvidia-smi/,
  ],
  [
    "a dead driver",
    "gpu",
    "problem",
    {
      text: { gpu_list: "Failed to initialize NVML: Driver/library version mismatch\n" },
      statuses: { gpu_list: 18 },
    },
    /different versions/,
    /版が違います/,
  ],
  [
    "a driver that hangs",
    "gpu",
    "problem",
    { text: { gpu_list: "" }, statuses: { gpu_list: 124 } },
    /does not answer/,
    /応答/,
  ],
  [
    "a nonsense driver version",
    "gpu",
    "ok",
    { text: { driver: "[Unknown Error]\n" } },
    /could not be read/,
    /読めません/,
  ],
  [
    "no tmux",
    "tmux",
    "warning",
    { text: { tools: "tar=tar (GNU tar) 1.35\nsha256=shasum\n" } },
    /not installed/,
    /ありません/,
  ],
  ["no systemd", "logout", "ok", { text: { logout: "systemd=0\n" } }, /No systemd/, /systemd がない/],
  [
    "logind that kills",
    "logout",
    "problem",
    { text: { logout: "systemd=1\nkills=true\nLinger=no\n" } },
    /is ended .*Linger=no/,
    /終了します/,
  ],
  [
    "lingering does not help",
    "logout",
    "problem",
    { text: { logout: "systemd=1\nkills=yes\nLinger=yes\n" } },
    /Linger=yes/,
    /Linger=yes/,
  ],
  [
    "a silent logind",
    "logout",
    "warning",
    { text: { logout: "systemd=1\nkills=\n\n" } },
    /Linger=\?/,
    /読み取れません/,
  ],
  [
    "no tar",
    "tar",
    "problem",
    { text: { tools: "tmux=tmux 3.4\nsha256=openssl\n" } },
    /not installed/,
    /tar がありません/,
  ],
  [
    "busybox",
    "tar",
    "warning",
    { text: { tools: "tar=tar (busybox) 1.36.1\n" } },
    /not GNU tar \(tar \(busybox\)/,
    /GNU tar ではありません/,
  ],
  [
    "bsdtar",
    "tar",
    "warning",
    { text: { tools: "tar=bsdtar 3.7.2 - libarchive 3.7.2\n" } },
    /bsdtar 3\.7/,
    /bsdtar/,
  ],
  [
    "no hash",
    "sha256",
    "problem",
    { text: { tools: "tar=tar (GNU tar) 1.35\n" } },
    /No program there/,
    /ありません/,
  ],
  [
    "no uv",
    "uv",
    "problem",
    { text: { uv: "path=/h/uv\nstate=missing\n" } },
    /no uv at \/h\/uv$/,
    /\/h\/uv に uv がありません/,
  ],
  [
    "a broken uv",
    "uv",
    "problem",
    { text: { uv: "path=/h/uv\nstate=fails\nsaid=Exec format error\n" } },
    /does not run/,
    /動きません/,
  ],
  [
    "a new folder",
    "remote_dir",
    "ok",
    { text: { place: "path=/h/w\nexisting=/h\nwritable=1\nfree_kib=9\n" } },
    /`push` will make it/,
    /作成します/,
  ],
  [
    "an unwritable folder",
    "remote_dir",
    "problem",
    {
      text: {
        place: "path=/h/w\nexisting=/h\nwritable=0\nsaid=sh: cannot create: Permission denied\nfree_kib=9\n",
      },
    },
    /\/h\/w cannot be written/,
    /書き込めません/,
  ],
  [
    "a full disk",
    "disk",
    "problem",
    { text: { place: "path=/h\nwritable=1\nfree_kib=524287\n" } },
    /Only 511\.9 MiB/,
    /511\.9 MiB しか/,
  ],
  [
    "a narrow disk",
    "disk",
    "warning",
    { text: { place: "path=/h\nwritable=1\nfree_kib=5242879\n" } },
    /Only 4\.9 GiB/,
    /しかありません/,
  ],
  [
    "just enough disk",
    "disk",
    "ok",
    { text: { place: "path=/h\nwritable=1\nfree_kib=5242880\n" } },
    /^Free there: 5\.0 GiB/,
    /5\.0 GiB です/,
  ],
  [
    "an unknown disk",
    "disk",
    "warning",
    { text: { place: "path=/h\nwritable=1\nfree_kib=-\n" } },
    /could not be read/,
    /読み取れません/,
  ],
  [
    "no data",
    "data_dir",
    "problem",
    { text: { data: "path=/d\nstate=missing\n" } },
    /there is no \/d$/,
    /\/d がありません/,
  ],
  [
    "an empty data folder",
    "data_dir",
    "problem",
    { text: { data: "path=/d\nstate=empty\n" } },
    /is empty/,
    /空です/,
  ],
  [
    "a data file",
    "data_dir",
    "problem",
    { text: { data: "path=/d\nstate=not_folder\n" } },
    /not a folder/,
    /フォルダではありません/,
  ],
  [
    "closed data",
    "data_dir",
    "problem",
    { text: { data: "path=/d\nstate=unreadable\n" } },
    /cannot be read/,
    /読めません/,
  ],
  [
    "data that need not be there",
    "data_dir",
    "ok",
    {
      text: { data: "path=/d\nstate=missing\n" },
      look: { server: { ...server, data_ready: false } },
    },
    /--no-data/,
    /--no-data/,
  ],
  [
    "a clock ahead",
    "clock",
    "warning",
    { text: { now: `${seconds + 3600}\n` } },
    /3600 s ahead/,
    /3600 秒進んで/,
  ],
  [
    "a clock behind",
    "clock",
    "warning",
    { text: { now: `${seconds - 60}\n` } },
    /60 s behind/,
    /60 秒遅れて/,
  ],
  ["a slow answer", "clock", "ok", { text: { now: `${seconds - 59}\n` } }, /agrees/, /合っています/],
  [
    "a clock that says nothing",
    "clock",
    "warning",
    { text: { now: "date: oops\n" } },
    /could not be read/,
    /読み取れません/,
  ],
];

Deno.test.each(cases)("serverFindings() tells of %s", (_name, id, level, differences, en, ja) => {
  const finding = only(examine(differences), id);
  assert.equal(finding.level, level);
  assert.match(textsIn("en").sentence(finding.what), en);
  assert.match(textsIn("ja").sentence(finding.what), ja);
  const advice = [finding.why, finding.mend];
  if (level === "ok") assert.deepEqual([...advice, finding.command], [null, null, null]);
  for (const sentence of level === "ok" ? [] : advice) {
    assert.ok(sentence !== null);
    for (const language of ["en", "ja"] as const) {
      assert.doesNotMatch(textsIn(language).sentence(sentence), /\{\w+\}|^$/);
    }
  }
});

const failures: readonly (readonly [FailureKind, RegExp])[] = [
  ["blocked", /Wait a minute/],
  ["session_refused", /other sessions/],
  ["login_refused", /administrator/],
  ["host_key_unknown", /by hand/],
];
Deno.test.each(failures)("serverFindings() gives ssh's own trouble `%s` its hint", (kind, hint) => {
  const [finding, ...others] = examine({
    look: { answer: { ok: false, failure: { kind, detail: "kex_exchange_identification: reset" } } },
  });
  assert.deepEqual(others, []);
  assert.ok(finding?.mend);
  assert.equal(finding.level, "problem");
  assert.equal(finding.detail, "kex_exchange_identification: reset");
  assert.match(textsIn("en").sentence(finding.mend), hint);
  assert.equal(finding.command, "ssh -J labpc hasegawa@192.168.23.14 true");
});

Deno.test("serverFindings() keeps what a server told before it fell silent", () => {
  const sections = [{ name: "uv", text: "path=/h/uv\nstate=missing\n", status: 0 }];
  const partial = { sections, complete: false, terminalForced: false };
  const findings = examine({
    look: { answer: { ok: false, failure: { kind: "silent", detail: "" }, partial } },
  });
  assert.deepEqual(findings.map(({ id, level }) => `${id}:${level}`), ["connection:problem", "uv:problem"]);
});

Deno.test("serverFindings() quotes what the configuration says, and shows nothing unsafe", () => {
  const place = "path=/h\nexisting=/h\nwritable=0\nsaid=\x1b]0;title\x07\nfree_kib=1\n";
  const finding = only(examine({ text: { place } }), "remote_dir");
  assert.equal(finding.detail, "\\x1b]0;title\\x07");
  assert.equal(
    finding.command,
    `ssh -J labpc hasegawa@192.168.23.14 'mkdir -p ~/'\\''work/TIAS Judge'\\'' && df -h ~/'\\''work/TIAS Judge'\\'''`,
  );
});
