import assert from "node:assert/strict";
import { permissionsShape } from "../../lib/cli/permissions_json.ts";
import { permissionLines } from "../../lib/cli/permissions_view.ts";
import { permissionSets, readPermissionSet } from "../../lib/system/permission_sets.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { typed } from "./command_line.ts";

const sets = {
  look: readPermissionSet({
    read: ["./configs"],
    run: ["ssh", "/usr/bin/ssh", "C:\\ssh.exe"],
    sys: ["hostname"],
  }),
  buy: readPermissionSet({ read: ["."], write: ["./runs"], net: ["api.example"], env: ["KEY"] }),
};

Deno.test("permissionLines() tells what a command can touch, in words", () => {
  assert.deepEqual(permissionLines(textsIn("en"), "linux", sets).slice(0, 15), [
    "look",
    "  reads            configs of the project",
    "  writes           nothing",
    "  connects to      nothing; only ssh does",
    "  starts           ssh, /usr/bin/ssh",
    "  reads variables  nothing",
    "  learns           this machine's name",
    "",
    "buy",
    "  reads            the project",
    "  writes           runs of the project",
    "  connects to      api.example",
    "  starts           nothing",
    "  reads variables  KEY",
    "  learns           nothing",
  ]);
  const japanese = permissionLines(textsIn("ja"), "windows", sets);
  assert.deepEqual(japanese.slice(0, 5), [
    "look",
    "  読む            プロジェクトの configs",
    "  書く            なし",
    "  接続する        なし（通信するのは ssh だけ）",
    "  起動する        ssh, C:\\ssh.exe",
  ]);
});

Deno.test("permissions tells the sets of all commands, or of one, to people and to programs", async () => {
  const all = await typed("en", "permissions");
  for (const verb of Object.keys(permissionSets)) assert.match(all.out, new RegExp(`^${verb}$`, "m"));
  const { exit, out, err } = await typed("en", "permissions", "pull", "--json");
  assert.deepEqual([exit, err], [0, ""]);
  const { ignoredEnv: _, ...pull } = permissionSets["pull"] ?? sets.look;
  assert.deepEqual(permissionsShape.parse(JSON.parse(out)), { pull });
});

Deno.test("permissions refuses what is no command", async () => {
  const { exit, err } = await typed("ja", "permissions", "pul");
  assert.equal(exit, 2);
  assert.match(err, /^エラー: `pul` というコマンドはありません。あるのは gpus, .*です\nヒント: /);
});
