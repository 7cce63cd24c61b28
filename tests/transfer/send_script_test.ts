/** The server's half, run by real shells with real tars on this machine. Windows has neither. */

import assert from "node:assert/strict";
import { join } from "node:path";
import fc from "fast-check";
import { faultOfSegment } from "../../lib/transfer/member_name.ts";
import { sedCommand } from "../../lib/transfer/send_script.ts";
import { matchesWhitelist, parsePattern } from "../../lib/transfer/whitelist.ts";
import { filesOf, send, tars, windows, withRun } from "./sending.ts";

const wellNamed = [
  "config.yaml",
  "figures/a.png",
  "figures/-rf.png",
  "figures/--checkpoint-action=exec=sh.png",
  "figures/a b.png",
  "figures/it's.png",
  "figures/$HOME`id`.png",
  "figures/[x].png",
  "figures/a,b&c.png",
  "figures/図表.png",
  `figures/${"n".repeat(240)}.png`,
  `figures/${"図".repeat(80)}.png`,
  "figures/console.png",
];
const oddlyNamed = [
  "figures/a:b.png",
  "figures/con.png",
  "figures/COM¹.png",
  "figures/\u202e.png",
  "figures/\u0085.png",
  "figures/*.png",
  'figures/"q".png',
  "figures/back\\slash.png",
];
const elsewhere = [
  "figures/sub/x.png",
  "figures/x.jpg",
  "notes.txt",
  "checkpoints/last.pt",
  "figures/new\nline.png",
];

Deno.test({
  name: "sendScript sends whitelisted regular files of good names, whatever tar the server has",
  ignore: windows,
  async fn(t) {
    const all = Object.fromEntries(
      [...wellNamed, ...oddlyNamed, ...elsewhere].map((name) => [name, `of ${name}`]),
    );
    await withRun(all, async (folder, run) => {
      const outside = join(folder, "outside.png");
      await Deno.writeTextFile(outside, "outside");
      await Deno.symlink(outside, join(run, "figures/link.png"));
      await Deno.symlink(join(run, "figures"), join(run, "linked"));
      await Deno.link(join(run, "figures/a.png"), join(run, "figures/hard.png"));
      await new Deno.Command("mkfifo", { args: [join(run, "figures/pipe.png")] }).output();
      for (const { name, path, keepsHardLinks } of await tars(folder)) {
        await t.step(name, async () => {
          const { sent, archive } = await send(folder, "r", ["figures/*.png", "config.yaml", "*/*.png"], {
            path,
          });
          const expected = [...wellNamed, "figures/hard.png"]
            .filter((name) => keepsHardLinks || !["figures/hard.png", "figures/a.png"].includes(name)).sort();
          assert.deepEqual(filesOf(archive), expected);
          assert.equal(sent.complete, true);
          assert.equal(sent.trailer?.tar, 0);
          assert.equal(sent.trailer?.members, expected.length);
          assert.equal(sent.trailer?.length, archive.length);
          assert.equal(sent.trailer?.sha256, sent.sha256);
          const entries = Object.keys(all).length + 4;
          assert.equal(sent.plan?.left, entries - expected.length);
          assert.equal(sent.plan?.unportable, oddlyNamed.length);
          assert.equal(sent.plan?.whole, true);
        });
      }
    });
  },
});

Deno.test({
  name: "sendScript leaves names that are not UTF-8 behind",
  ignore: Deno.build.os !== "linux",
  async fn() {
    await withRun({ "figures/a.png": "a" }, async (folder, run) => {
      for (const bytes of ["\\203\\\\.png", "\\345.png", "\\300\\257.png", "\\355\\240\\200.png"]) {
        await new Deno.Command("sh", {
          args: ["-c", `: > "$(printf '%s/figures/${bytes}' "$1")"`, "sh", run],
        }).output();
      }
      const { sent, archive } = await send(folder, "r", ["figures/*.png"]);
      assert.deepEqual(filesOf(archive), ["figures/a.png"]);
      assert.equal(sent.plan?.unportable, 4);
      assert.equal(sent.plan?.left, 4);
    });
  },
});

Deno.test.each<[string, Parameters<typeof send>[2], string[]]>([
  ["a question mark is one character of any script", ["?.txt"], ["a.txt", "図.txt"]],
  ["two question marks are two", ["??.txt"], ["図表.txt"]],
  ["brackets, dots and the like are no patterns", ["a.t*", "[a].txt"], ["[a].txt", "a.txt"]],
  ["a file that two patterns match comes once", ["*.txt", "a*"], [
    "[a].txt",
    "a,b&c",
    "a.txt",
    "axtxt",
    "図.txt",
    "図表.txt",
  ]],
  ["commas are themselves", ["a,b*"], ["a,b&c"]],
])("sendScript: %s", async (_name, patterns, expected) => {
  if (windows) return;
  const names = ["a.txt", "axtxt", "図.txt", "図表.txt", "[a].txt", "a,b&c"];
  await withRun(Object.fromEntries(names.map((name) => [name, name])), async (folder) => {
    assert.deepEqual(filesOf((await send(folder, "r", patterns)).archive), expected.sort());
  });
});

Deno.test({
  name: "sendScript tells a plan alone when it is asked for no more, or when nothing may come",
  ignore: windows,
  async fn() {
    await withRun({ "config.yaml": "12345", "b.txt": "", "d/c.txt": "" }, async (folder) => {
      const plan = { files: 1, bytes: 5, left: 2, unportable: 0, whole: true };
      const asked = await send(folder, "r", ["config.yaml"], { onlyPlan: true });
      assert.deepEqual([asked.sent.plan, asked.sent.trailer, asked.archive.length], [plan, undefined, 0]);
      const nothing = await send(folder, "r", ["none"]);
      assert.deepEqual(nothing.sent.plan, { ...plan, files: 0, bytes: 0, left: 3 });
      assert.deepEqual([nothing.sent.complete, nothing.archive.length], [true, 0]);
    });
  },
});

Deno.test({
  name: "sendScript says why it cannot send",
  ignore: windows,
  async fn() {
    await withRun({ "config.yaml": "" }, async (folder, run) => {
      const problem = async (...args: Parameters<typeof send>) => (await send(...args)).sent.problem;
      await Deno.symlink(run, join(folder, "runs/linked"));
      await Deno.writeTextFile(join(folder, "runs/file"), "");
      const bin = join(folder, "bin");
      await Deno.mkdir(bin);
      for (const name of ["sh", "find", "sed", "awk", "tee", "wc", "grep", "cat", "ls", "xargs", "printf"]) {
        const { stdout } = await new Deno.Command("sh", { args: ["-c", `command -v ${name}`] }).output();
        const program = new TextDecoder().decode(stdout).trim();
        if (program.startsWith("/")) await Deno.symlink(program, join(bin, name));
      }
      assert.equal(await problem(folder, "other", ["*"]), "no_run");
      assert.equal(await problem(folder, "file", ["*"]), "no_run");
      assert.equal(await problem(folder, "linked", ["*"]), "link");
      assert.equal(await problem(folder, "r", ["*"], { remoteDir: "/nowhere" }), "no_run");
      assert.equal(await problem(folder, "r", ["*"], { path: bin }), "no_tar");
      await Deno.symlink("/usr/bin/tar", join(bin, "tar"));
      assert.equal(await problem(folder, "r", ["*"], { path: bin }), "no_sha256");
    });
  },
});

Deno.test({
  name: "sendScript finds the run below the home folder, and where runs/ is a link",
  ignore: windows,
  async fn() {
    await withRun({ "config.yaml": "x" }, async (folder) => {
      await Deno.mkdir(join(folder, "work"));
      await Deno.symlink(join(folder, "runs"), join(folder, "work/runs"));
      for (const remoteDir of ["~/work", "work", "~"]) {
        const { archive } = await send(folder, "r", ["config.yaml"], { remoteDir });
        assert.deepEqual(filesOf(archive), ["config.yaml"], remoteDir);
      }
      // A login may have gone elsewhere by itself.
      const elsewhere = await send(folder, "r", ["config.yaml"], { remoteDir: "work", cwd: "/" });
      assert.deepEqual(filesOf(elsewhere.archive), ["config.yaml"]);
    });
  },
});

Deno.test({
  name: "sendScript passes on that tar failed, and none of its words",
  ignore: windows,
  async fn() {
    await withRun({ "config.yaml": "x" }, async (folder) => {
      const bin = join(folder, "bin");
      await Deno.mkdir(bin);
      // "File shrank by 4096 bytes; padding with zeros" (tar-076), "Cannot open: Permission denied" (tar-077).
      for (const status of [1, 2]) {
        await Deno.writeTextFile(
          join(bin, "tar"),
          `#!/bin/sh\n/usr/bin/tar "$@"\ncase $* in */dev/null*) exit 0 ;; esac\nexit ${status}\n`,
          {
            mode: 0o755,
          },
        );
        const path = `${bin}:${Deno.env.get("PATH")}`;
        const { sent } = await send(folder, "r", ["config.yaml"], { path });
        assert.equal(sent.trailer?.tar, status);
        assert.equal(sent.trailer?.sha256, sent.sha256);
      }
    });
  },
});

Deno.test({
  name: "sedCommand() keeps exactly the paths that matchesWhitelist() lets in",
  ignore: windows,
  async fn() {
    const character = fc.constantFrom(
      "a",
      "b",
      ".",
      "*",
      "?",
      "[",
      "]",
      "^",
      "$",
      "{",
      "+",
      ",",
      "&",
      "図",
      "-",
      "'",
    );
    const segment = fc.string({ unit: character, minLength: 1, maxLength: 4 });
    const pathSegment = fc.string({
      unit: fc.constantFrom("a", "b", ".", "[", "^", "$", ",", "図", "表"),
      minLength: 1,
      maxLength: 4,
    });
    const patterns = fc.sample(fc.array(segment, { minLength: 1, maxLength: 2 }), 300)
      .map((segments) => segments.join("/").replaceAll(/\*+/g, "*"))
      .filter((text) => !/(^|\/)\.{1,2}(\/|$)/.test(text)).map(parsePattern);
    const paths = fc.sample(fc.array(pathSegment, { minLength: 1, maxLength: 2 }), 500)
      .map((segments) => segments.join("/"));
    const commands = patterns.map((pattern, index) =>
      `${sedCommand(pattern).replace("b keep", `s,^,${index}:,w /dev/stdout`)}\n`
    );
    // The script replaces the question marks by bytes; one character of UTF-8 is enough of them here.
    const script = `LC_ALL=C; export LC_ALL
one=$(printf '[^/\\200-\\277][\\200-\\277]*')
wanted=$(cat "$1" | sed "s,?,$one,g")
while IFS= read -r command; do printf '%s\\n' "$command" | sed 's/w .dev.stdout/p/' > "$1.one"; sed -n -f "$1.one" "$2"; done <<EOF
$wanted
EOF
`;
    const folder = await Deno.makeTempDir();
    try {
      await Deno.writeTextFile(join(folder, "commands"), commands.join(""));
      await Deno.writeTextFile(join(folder, "paths"), paths.map((path) => `12 ./${path}\n`).join(""));
      const { stdout } = await new Deno.Command("sh", {
        args: ["-c", script, "sh", join(folder, "commands"), join(folder, "paths")],
      }).output();
      const kept = new TextDecoder().decode(stdout).split("\n").filter((line) => line !== "");
      const expected = patterns.flatMap((pattern, index) =>
        paths.filter((path) => matchesWhitelist([pattern], path)).map((path) => `${index}:12 ./${path}`)
      );
      assert.deepEqual(kept, expected);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});

Deno.test({
  name: "sendScript sets aside exactly the names that the receiver would refuse",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const unit = fc.constantFrom(
      "a",
      "A",
      "u",
      "x",
      "X",
      "c",
      "o",
      "n",
      "N",
      "m",
      "1",
      "¹",
      ".",
      " ",
      ":",
      "?",
      "|",
      "\\",
      "$",
      "図",
      "\u00ad",
      "\u0085",
      "\u200b",
      "\u2060",
      "\u{1f600}",
      "é",
    );
    const names = new Set(
      fc.sample(fc.string({ unit, minLength: 1, maxLength: 5 }), 400)
        .concat([
          "con",
          "CON.x",
          "nul",
          "aux.txt",
          "prn",
          "lpt0",
          "com9.a",
          "COM²",
          "conin$",
          "conout$.x",
          "clock$",
          "con .x",
          "console",
        ])
        .filter((name) => name !== "." && name !== ".."),
    );
    await withRun(Object.fromEntries(Array.from(names, (name) => [name, ""])), async (folder) => {
      const { archive, sent } = await send(folder, "r", ["*"]);
      const good = Array.from(names).filter((name) => faultOfSegment(name) === undefined);
      // Names that meet others are the receiver's business, so the first rule there may be that of collisions.
      const reading = filesOf(archive);
      if (reading !== "collision") assert.deepEqual(reading, good.sort());
      assert.equal(sent.plan?.files, good.length);
    });
  },
});
