import assert from "node:assert/strict";
import fc from "fast-check";
import { parseConfig } from "../../lib/config/document.ts";
import { remoteSchema } from "../../lib/config/remote.ts";
import { UserError } from "../../lib/system/errors.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { edited, specification } from "./remote_yaml.ts";

function load(source: string) {
  return parseConfig(source, "remote.yaml", remoteSchema);
}

const hint = {
  en: "hint: Correct the file and try again; configs/remote.yaml of tias-remote is an example\n",
  ja: "ヒント: ファイルを直してもう一度実行してください。tias-remote の configs/remote.yaml が例です\n",
};

Deno.test.each([
  [
    "the top",
    `jmup_host: labpc\n${specification}`,
    "1:1",
    "jmup_host",
    "jump_host, connect_timeout_sec, ssh_config, gpu_free, servers, pull, push, jobs",
  ],
  [
    "gpu_free",
    edited("max_memory_used_mib", "max_memory_mib"),
    "4:3",
    "gpu_free.max_memory_mib",
    "max_memory_used_mib, max_utilization_percent, observe_sec, sample_interval_ms",
  ],
  [
    "a server",
    edited("address: 192.168.23.15", "host: 192.168.23.15"),
    "18:5",
    "servers[1].host",
    "name, address, user, priority, remote_dir, data_dir, uv, data_ready",
  ],
  [
    "pull",
    `pull: {white_list: []}\n${specification}`,
    "1:8",
    "pull.white_list",
    "whitelist, checkpoints, max_members, max_gib",
  ],
  [
    "push",
    `push:\n  excludes: []\n${specification}`,
    "2:3",
    "push.excludes",
    "exclude, max_file_mib, data_suffixes",
  ],
  ["jobs", `jobs: {socket: x}\n${specification}`, "1:8", "jobs.socket", "tmux_socket"],
  [
    "a key of numbers",
    `1: x\n${specification}`,
    "1:1",
    "1",
    "jump_host, connect_timeout_sec, ssh_config, gpu_free, servers, pull, push, jobs",
  ],
  [
    "a key that JavaScript knows",
    `__proto__: {}\n${specification}`,
    "1:1",
    "__proto__",
    "jump_host, connect_timeout_sec, ssh_config, gpu_free, servers, pull, push, jobs",
  ],
  [
    "a key with control characters",
    `"a\\u001b[2J": x\n${specification}`,
    "1:1",
    "a\\x1b[2J",
    "jump_host, connect_timeout_sec, ssh_config, gpu_free, servers, pull, push, jobs",
  ],
])("parseConfig() refuses an unknown key in %s", async (_where, source, place, key, known) => {
  assert.deepEqual(await spoken(await userErrorOf(() => load(source))), {
    en: `error: remote.yaml:${place}: there is no key \`${key}\`; known here: ${known}\n${hint.en}`,
    ja:
      `エラー: remote.yaml:${place}：\`${key}\` というキーはありません。ここで使えるのは ${known} です\n${hint.ja}`,
    exit: 2,
  });
});

Deno.test("parseConfig() tells the unknown key before the missing one that it explains", async () => {
  const fault = await userErrorOf(() => load(edited("data_ready: true", "data_readdy: true")));
  assert.match(
    (await spoken(fault)).en,
    /^error: remote.yaml:16:5: there is no key `servers\[0\].data_readdy`/,
  );
});

Deno.test.each([
  ["servers", "jump_host: null\n", "1:1", "servers"],
  ...["address", "user", "priority", "remote_dir", "data_dir", "uv", "data_ready"].map((key) =>
    [key, specification.replace(new RegExp(`^    ${key}:.*\n`, "m"), ""), "9:5", `servers[0].${key}`] as const
  ),
] as [string, string, string, string][])("parseConfig() misses %s", async (_key, source, place, key) => {
  assert.deepEqual(await spoken(await userErrorOf(() => load(source))), {
    en: `error: remote.yaml:${place}: the key \`${key}\` is missing\n${hint.en}`,
    ja: `エラー: remote.yaml:${place}：キー \`${key}\` がありません\n${hint.ja}`,
    exit: 2,
  });
});

const bomb = "a: &a [x, x, x, x, x, x, x, x, x]\n" +
  Array.from(
    "bcdefghi",
    (name, at) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghi"[at]}`).join(", ")}]\n`,
  )
    .join("");

Deno.test.each([
  ["a key that comes twice", edited("connect_timeout_sec: 15", "jump_host: null"), "2:1"],
  ["a key that comes twice in a server", edited("user: hasegawa", "name: x"), "11:5"],
  ["a tab as indentation", edited("  max_memory", "\tmax_memory"), "4:1"],
  ["a bracket that stays open", "servers: [\n", "2:1"],
  ["a quote that stays open", 'jump_host: "labpc\n', "2:1"],
  ["an alias without anchor", edited("labpc ", "*nobody"), "1:12"],
  ["two documents", `${specification}---\n${specification}`, "25:1"],
  ["an alias bomb", bomb, "1:1"],
  ["an alias bomb in a list", `${bomb}servers: *i\n`, "1:1"],
])("parseConfig() says where a file is no YAML: %s", async (_what, source, place) => {
  const { en, ja, exit } = await spoken(await userErrorOf(() => load(source)));
  assert.ok(en.startsWith(`error: remote.yaml:${place}: this is not valid YAML: `), en);
  assert.ok(ja.startsWith(`エラー: remote.yaml:${place}：YAML として読めません：`), ja);
  assert.ok(en.endsWith(hint.en));
  assert.equal(en.split("\n").length, 3);
  assert.equal(exit, 2);
});

Deno.test.each([
  ["brackets", "[".repeat(100_000)],
  ["closed brackets", "[".repeat(20_000) + "]".repeat(20_000)],
  ["braces", "{a: ".repeat(20_000)],
  ["lists", Array.from({ length: 3000 }, (_, depth) => " ".repeat(depth) + "-\n").join("")],
])("parseConfig() refuses a file of endless %s with a sentence", async (_what, source) => {
  assert.equal((await userErrorOf(() => load(source))).exit, 2);
});

Deno.test("parseConfig() never fails but with a sentence", () => {
  const piece = fc.constantFrom(
    "servers:",
    "\n",
    "  ",
    "- ",
    "name: a",
    "gpu_free: ",
    "{",
    "}",
    "[",
    "]",
    "&a ",
    "*a",
    "!!int ",
    "<<: ",
    "? ",
    ": ",
    "|\n",
    "'",
    '"',
    "#",
    "---\n",
    "\t",
    "null",
    "1e9",
    ".nan",
    "0x1f",
    "%YAML 1.1\n",
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        fc.array(piece, { maxLength: 20 }).map((parts) => parts.join("")),
      ),
      (source) => {
        try {
          load(source);
        } catch (fault) {
          assert.ok(fault instanceof UserError, String(fault));
          assert.equal(fault.exit, 2);
        }
      },
    ),
    { numRuns: 1000 },
  );
});

Deno.test("parseConfig() shows no more than the beginning of a long value", async () => {
  const { en } = await spoken(await userErrorOf(() => load(edited("labpc ", `"${"x".repeat(300)} y"`))));
  assert.ok(en.startsWith(`error: remote.yaml:1:12: \`jump_host\` cannot be "${"x".repeat(56)}...\n`), en);
});
