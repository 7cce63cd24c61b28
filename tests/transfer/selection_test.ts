import assert from "node:assert/strict";
import { isExcluded, linkTarget, selectForPush } from "../../lib/transfer/selection.ts";
import { type Content, folderWith } from "./project_folder.ts";

const rules = { max_file_mib: 1, data_suffixes: [".dcm", ".nii.gz"], exclude: [] as string[] };
const unixOnly = { ignore: Deno.build.os === "windows" };

/** Names of what would go and of what forbids it. */
async function select(contents: Readonly<Record<string, Content>>, extra: Partial<typeof rules> = {}) {
  await using folder = await folderWith(contents);
  const { entries, problems } = await selectForPush(folder.path, { ...rules, ...extra });
  return {
    entries: entries.map(({ path, kind, executable, target }) =>
      kind === "link"
        ? `${path} -> ${target}`
        : kind === "directory"
        ? `${path}/`
        : `${path}${executable ? "*" : ""}`
    ),
    problems: problems.map(({ path, fault }) => `${path}: ${fault}`),
  };
}

Deno.test.each([
  [".git", true],
  ["src/.git", true],
  [".venv", true],
  ["a/b/.venv", true],
  ["__pycache__", true],
  ["src/x/__pycache__", true],
  [".pytest_cache", true],
  [".ruff_cache", true],
  [".claude", true],
  ["sub/.claude", true],
  ["data", true],
  ["runs", true],
  ["src/data", false],
  ["src/runs", false],
  ["data2", false],
  ["mydata", false],
  [".gitignore", false],
  [".github", false],
  ["git", false],
  [".env", false],
  ["._train.py", true],
  ["src/._train.py", true],
  [".DS_Store", true],
  ["_train.py", false],
  ["src/.tias-remote-incoming.x", true],
])("isExcluded(%s) is %s", (path, expected) => {
  assert.equal(isExcluded(path, []), expected);
});

Deno.test.each([
  ["cache", ["cache/"], true],
  ["src/cache", ["cache/"], true],
  ["caches", ["cache/"], false],
  ["scratch", ["/scratch/"], true],
  ["src/scratch", ["/scratch/"], false],
  ["b", ["a/", "/b/"], true],
])("isExcluded(%s) with push.exclude %j is %s", (path, extra, expected) => {
  assert.equal(isExcluded(path, extra), expected);
});

Deno.test.each([
  ["link", "src", "src"],
  ["link", "./src/../x", "x"],
  ["a/link", "../src", "src"],
  ["a/link", "../../src", undefined],
  ["link", "..", undefined],
  ["link", "../project/src", undefined],
  ["link", "/etc/passwd", undefined],
  ["link", "C:\\data", undefined],
  ["link", "c:data", undefined],
  ["link", "..\\data", undefined],
  ["link", "...", "..."],
  ["link", "..data", "..data"],
  ["a/link", "..", "."],
])("linkTarget(%s -> %s) is %s", (path, target, expected) => {
  assert.equal(linkTarget(path, target), expected);
});

Deno.test(
  "selectForPush() takes code in the order of names and leaves the rest at home",
  unixOnly,
  async () => {
    assert.deepEqual(
      await select({
        "train.py": "x",
        "src/data/loader.py": "x",
        "src/model.py": "x",
        "src/__pycache__/model.pyc": "x",
        "data/patient.dcm": "x",
        "runs/exp1/metrics.json": "x",
        ".git/HEAD": "x",
        ".venv/bin/python": "x",
        "configs/remote.yaml": "x",
        "empty": null,
        "運用/手順書.md": "x",
        ".DS_Store": "x",
        "src/._model.py": "x",
      }),
      {
        entries: [
          "configs/",
          "configs/remote.yaml",
          "empty/",
          "src/",
          "src/data/",
          "src/data/loader.py",
          "src/model.py",
          "train.py",
          "運用/",
          "運用/手順書.md",
        ],
        problems: [],
      },
    );
  },
);

Deno.test("selectForPush() looks into src/data for data", async () => {
  const { problems } = await select({ "src/data/scan.dcm": "x", "src/data/loader.py": "x" });
  assert.deepEqual(problems, ["src/data/scan.dcm: data_suffix"]);
});

Deno.test("selectForPush() leaves folders of push.exclude out, guard included", async () => {
  const contents = {
    "cache/x.dcm": "x",
    "src/cache/y.dcm": "x",
    "scratch/z.dcm": "x",
    "src/scratch/ok.py": "x",
  };
  assert.deepEqual(await select(contents, { exclude: ["cache/", "/scratch/"] }), {
    entries: ["src/", "src/scratch/", "src/scratch/ok.py"],
    problems: [],
  });
});

Deno.test("selectForPush() tells every file that is data or too large", async () => {
  const mib = 1024 * 1024;
  const { entries, problems } = await select({
    "a.DCM": "x",
    "b.nii.gz": "x",
    "c.gz": "x",
    "d.bin": { text: new Uint8Array(mib), mode: 0o644 },
    "e.bin": { text: new Uint8Array(mib + 1), mode: 0o644 },
    "f.dcm.py": "x",
    "dcm": "x",
  });
  assert.deepEqual(problems, ["a.DCM: data_suffix", "b.nii.gz: data_suffix", "e.bin: too_large"]);
  assert.ok(entries.includes("d.bin") && entries.includes("f.dcm.py"));
});

Deno.test(
  "selectForPush() takes links that stay inside and refuses those that leave, without reading them",
  unixOnly,
  async () => {
    assert.deepEqual(
      await select({
        "src/model.py": "x",
        "latest": { link: "src" },
        "src/config": { link: "../configs/x.yaml" },
        "dangling": { link: "nowhere" },
        "outside": { link: "../secret" },
        "absolute": { link: "/etc/passwd" },
        "loop": { link: "loop" },
      }),
      {
        entries: [
          "dangling -> nowhere",
          "latest -> src",
          "loop -> loop",
          "src/",
          "src/config -> ../configs/x.yaml",
          "src/model.py",
        ],
        problems: ["absolute: link_leaves", "outside: link_leaves"],
      },
    );
  },
);

Deno.test("selectForPush() keeps the executable bit of the owner", unixOnly, async () => {
  const { entries } = await select({
    "run.sh": { text: "#!/bin/sh\n", mode: 0o755 },
    "owner.sh": { text: "x", mode: 0o700 },
    "group.sh": { text: "x", mode: 0o674 },
    "plain.sh": { text: "#!/bin/sh\n", mode: 0o644 },
  });
  assert.deepEqual(entries, ["group.sh", "owner.sh*", "plain.sh", "run.sh*"]);
});

Deno.test("selectForPush() writes names in NFC and refuses two that become one", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const decomposed = "か\u3099く.py";
  assert.deepEqual((await select({ [decomposed]: "x" })).entries, ["がく.py"]);
  assert.deepEqual(await select({ [decomposed]: "x", "がく.py": "x" }), {
    entries: ["がく.py", "がく.py"],
    problems: ["がく.py: name_collision"],
  });
});

Deno.test.each([["a\nb"], ["a\tb"], ["a\u001b[2J"], ["a\u007f"]])(
  "selectForPush() refuses the name %j",
  unixOnly,
  async (name) => {
    assert.deepEqual((await select({ [name]: "x" })).problems, [`${name}: control_character`]);
  },
);

Deno.test("selectForPush() leaves pipes and sockets at home", unixOnly, async () => {
  await using folder = await folderWith({ "a.py": "x" });
  const { success } = await new Deno.Command("mkfifo", { args: [`${folder.path}/pipe`] }).output();
  assert.ok(success);
  const { entries, problems } = await selectForPush(folder.path, rules);
  assert.deepEqual(entries.map(({ path }) => path), ["a.py"]);
  assert.deepEqual(problems, []);
});

Deno.test("selectForPush() tells what it cannot read", {
  ignore: Deno.build.os === "windows" || Deno.uid() === 0,
}, async () => {
  await using folder = await folderWith({ "closed/x.py": "x" });
  await Deno.chmod(`${folder.path}/closed`, 0o000);
  const { problems } = await selectForPush(folder.path, rules);
  await Deno.chmod(`${folder.path}/closed`, 0o755);
  assert.deepEqual(problems, [{ path: "closed", fault: "unreadable" }]);
});

Deno.test("selectForPush() tells that the project itself is gone", async () => {
  await using folder = await folderWith({});
  assert.deepEqual(await selectForPush(`${folder.path}/nowhere`, rules), {
    entries: [],
    problems: [{ path: "", fault: "unreadable" }],
  });
});
