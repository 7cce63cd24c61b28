import assert from "node:assert/strict";
import { permissionSets, readPermissionSet } from "../../lib/system/permission_sets.ts";
import {
  compileFault,
  permissionFlags,
  planExecutables,
  readCommandLine,
  targets,
} from "../../scripts/compile.ts";

const linux = "x86_64-unknown-linux-gnu";
const sets = {
  look: readPermissionSet({
    read: ["./configs"],
    run: ["ssh", "C:\\a b\\ssh.exe"],
    env: { allow: ["A"], ignore: ["B"] },
  }),
  take: readPermissionSet({ write: ["./runs"], net: ["h:1"], sys: ["hostname"] }),
};

Deno.test("planExecutables() makes the umbrella with the union of all sets, and each verb with its own alone", () => {
  const plan = planExecutables([linux, "x86_64-pc-windows-msvc"], true, sets);
  assert.deepEqual(plan.map(({ module, file }) => [module, file]), [
    ["cmd/tias_remote.ts", "tias-remote-x86_64-unknown-linux-gnu"],
    ["cmd/look.ts", "tias-remote-look-x86_64-unknown-linux-gnu"],
    ["cmd/take.ts", "tias-remote-take-x86_64-unknown-linux-gnu"],
    ["cmd/tias_remote.ts", "tias-remote-x86_64-pc-windows-msvc.exe"],
    ["cmd/look.ts", "tias-remote-look-x86_64-pc-windows-msvc.exe"],
    ["cmd/take.ts", "tias-remote-take-x86_64-pc-windows-msvc.exe"],
  ]);
  const [umbrella, look, take] = plan.map(({ permissions }) => permissions);
  assert.deepEqual([umbrella?.write, look?.write, take?.write], [["./runs"], [], ["./runs"]]);
  assert.deepEqual([umbrella?.run, look?.run, take?.run], [sets.look.run, sets.look.run, []]);
  assert.deepEqual(
    look?.read.slice(0, 2),
    ["./configs", "../configs"],
    "a folder inside the project will do",
  );
  assert.deepEqual(planExecutables([linux], false, sets).map(({ module }) => module), ["cmd/tias_remote.ts"]);
});

Deno.test("permissionFlags() writes a set as flags, and asks nobody", () => {
  assert.deepEqual(permissionFlags(sets.look, "… --ignore-env …"), [
    "--no-prompt",
    "--allow-read=./configs",
    "--allow-run=ssh,C:\\a b\\ssh.exe",
    "--allow-env=A",
    "--ignore-env=B",
  ]);
  assert.deepEqual(permissionFlags(sets.take, ""), [
    "--no-prompt",
    "--allow-write=./runs",
    "--allow-net=h:1",
    "--allow-sys=hostname",
  ]);
});

Deno.test("permissionFlags() lets a variable be read where Deno cannot tell that it is unset", () => {
  assert.deepEqual(permissionFlags(sets.look, "--allow-env").at(-1), "--allow-env=A,B");
});

Deno.test("permissionFlags() never writes a flag without its words, which would allow everything", () => {
  for (const set of [...Object.values(permissionSets), readPermissionSet({ read: [] })]) {
    for (const known of ["", "--ignore-env"]) {
      for (const flag of permissionFlags(set, known)) {
        assert.match(flag, /^(--no-prompt|--(allow|ignore)-\w+=[^,].*)$/);
      }
    }
  }
  assert.throws(() => permissionFlags(readPermissionSet({ read: ["a,b"] }), ""), /Cannot write "a,b"/);
  assert.throws(() => permissionFlags(readPermissionSet({ read: [""] }), ""), /Cannot write ""/);
});

Deno.test.each([
  [[], false, { targets, each: false }],
  [[], true, { targets: [linux], each: false }],
  [["--each", "aarch64-apple-darwin"], true, { targets: ["aarch64-apple-darwin"], each: true }],
  [["linux"], false, { unknown: "linux" }],
  [["--all"], true, { unknown: "--all" }],
])("readCommandLine() of %j, base binary given: %s", (argv, baseIsGiven, expected) => {
  assert.deepEqual(readCommandLine(argv, linux, baseIsGiven), expected);
});

Deno.test("compileFault() tells a missing base binary from other failures, in both languages", () => {
  const unreachable = `error: Writing deno compile executable to temporary file 'x'

Caused by:
    0: Setting up base binary.
    1: error sending request for url (https://dl.deno.land/x.zip): client error (Connect)
    2: client error (Connect)
`;
  const [english, japanese] = compileFault(linux, unreachable);
  assert.match(
    english,
    /^error: The base binary for x86_64-unknown-linux-gnu cannot be had: error sending .*\(Connect\)\nhint: .*DENORT_BIN$/,
  );
  assert.match(
    japanese,
    /^エラー: x86_64-unknown-linux-gnu のベースバイナリが手に入りません：.*\nヒント: .*DENORT_BIN/,
  );
  assert.match(
    compileFault(linux, "Caused by:\n    0: Could not find denort at '/x'\n")[0],
    /cannot be had: Could not find denort at '\/x'\n/,
  );
  assert.equal(
    compileFault(linux, "error: No space left")[0],
    `error: No space left\nerror: ${linux} could not be compiled`,
  );
});
