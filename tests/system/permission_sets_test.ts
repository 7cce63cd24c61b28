import assert from "node:assert/strict";
import {
  inExecutable,
  nothing,
  permissionSets,
  permissionsFor,
  readPermissionSet,
  unionOf,
} from "../../lib/system/permission_sets.ts";

Deno.test("permissionSets has a set for every command, and a command for every set", async () => {
  const files = await Array.fromAsync(Deno.readDir(new URL("../../cmd", import.meta.url)));
  const verbs = files.map(({ name }) => name.replace(/\.ts$/, "")).filter((name) => name !== "tias_remote");
  assert.deepEqual(Object.keys(permissionSets).toSorted(), verbs.toSorted());
});

Deno.test("permissionSets names folders of the project, none to write into that has the code, and hosts", () => {
  for (const [verb, set] of Object.entries(permissionSets)) {
    assert.ok(!set.write.includes("."), verb);
    for (const path of [...set.read, ...set.write]) assert.match(path, /^\.(\/[a-z_]+)*$/, verb);
    for (const host of set.net) assert.match(host, /^[a-z0-9.*-]+(:\d+)?$/, verb);
  }
});

Deno.test("readPermissionSet() reads lists, and what of the environment is to be seen as unset", () => {
  assert.deepEqual(readPermissionSet({ read: ["./a"], env: { allow: ["A"], ignore: ["B"] }, net: ["h:1"] }), {
    ...nothing,
    read: ["./a"],
    env: ["A"],
    ignoredEnv: ["B"],
    net: ["h:1"],
  });
});

Deno.test.each([
  ["everything", { all: true }],
  ["a whole kind of access", { read: true }],
  ["what is denied inside of what is allowed", { read: { allow: ["."], deny: ["./x"] } }],
  ["files to be seen as missing", { read: { allow: ["."], ignore: ["./x"] } }],
  ["foreign libraries", { ffi: ["./x"] }],
  ["a number for a path", { read: [1] }],
])("readPermissionSet() refuses a set that names %s", (_what, entry) => {
  assert.throws(() => readPermissionSet(entry), /^Error: Cannot use a permission set /);
});

Deno.test("unionOf() holds each word once, and does not hide a variable that one verb may read", () => {
  const one = readPermissionSet({ read: ["./a"], env: { allow: ["A"], ignore: ["B", "C"] } });
  const other = readPermissionSet({ read: ["./b", "./a"], env: ["B"] });
  assert.deepEqual(unionOf([one, other]), {
    ...nothing,
    read: ["./a", "./b"],
    env: ["A", "B"],
    ignoredEnv: ["C"],
  });
});

Deno.test("inExecutable() adds the configurations further up, and nothing else there", () => {
  const { read } = inExecutable(readPermissionSet({ read: ["./configs"] }));
  assert.deepEqual(read.slice(0, 3), ["./configs", "../configs", "../../configs"]);
  assert.ok(read.every((path) => /^(\.|(\.\.\/)*\.\.)\/configs$/.test(path)));
  assert.deepEqual(inExecutable(readPermissionSet({ read: ["./runs"] })).read, ["./runs"]);
});

Deno.test("permissionsFor() gives a word that is no verb what `permissions` may", () => {
  assert.deepEqual(permissionsFor("pull"), permissionSets["pull"]);
  for (const word of [undefined, "--help", "constructor", "toString", ""]) {
    assert.deepEqual(permissionsFor(word), { ...nothing, env: ["TIAS_REMOTE_LANG"] });
  }
});
