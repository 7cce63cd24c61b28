import assert from "node:assert/strict";
import {
  inExecutable,
  permissionSets,
  readPermissionSet,
  unionOf,
} from "../../lib/system/permission_sets.ts";
import { privilegesToDrop } from "../../lib/system/privileges.ts";

const held = readPermissionSet({
  read: [".", "./configs", "./runs", "../configs"],
  write: ["./runs"],
  net: ["api.example", "hub.example:443"],
  run: ["ssh", "notify-send"],
  env: ["A", "B"],
  sys: ["hostname"],
});

Deno.test("privilegesToDrop() names each word that is not needed, and a whole kind where none is", () => {
  const needed = readPermissionSet({ read: ["./configs", "../configs"], run: ["ssh"], env: ["A"] });
  assert.deepEqual(privilegesToDrop(held, needed), [
    { name: "read", path: "." },
    { name: "read", path: "./runs" },
    { name: "write" },
    { name: "net" },
    { name: "run", command: "notify-send" },
    { name: "env", variable: "B" },
    { name: "sys" },
  ]);
});

Deno.test("privilegesToDrop() keeps what lies in a folder or at a host that is needed, which would go with it", () => {
  const needed = { ...held, read: ["."], net: ["api.example"] };
  assert.deepEqual(
    privilegesToDrop({ ...held, net: ["api.example", "api.example:8080", "api.example.net"] }, needed),
    [
      { name: "read", path: "../configs" },
      { name: "net", host: "api.example.net" },
    ],
  );
});

Deno.test("privilegesToDrop() drops nothing from a program that holds only what it needs", () => {
  assert.deepEqual(privilegesToDrop(held, held), []);
});

Deno.test.each(Object.keys(permissionSets).map((verb) => [verb]))(
  "what the umbrella keeps for %s is no more than its set",
  (verb) => {
    const whole = inExecutable(unionOf(Object.values(permissionSets)));
    const needed = inExecutable(permissionSets[verb] ?? whole);
    const dropped = JSON.stringify(privilegesToDrop(whole, needed));
    for (
      const path of whole.read.filter((path) => !needed.read.includes(path) && !needed.read.includes("."))
    ) {
      assert.ok(needed.read.length === 0 || dropped.includes(JSON.stringify({ name: "read", path })), path);
    }
    for (const name of ["write", "net", "run", "env", "sys"] as const) {
      assert.equal(dropped.includes(JSON.stringify({ name })), needed[name].length === 0, name);
    }
  },
);
