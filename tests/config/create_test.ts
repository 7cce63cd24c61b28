import assert from "node:assert/strict";
import { createConfig, refuseExisting } from "../../lib/config/create.ts";
import { onUnix, temporaryFolder } from "../shell.ts";
import { spoken, userErrorOf } from "../spoken.ts";

Deno.test("createConfig() makes the folder, and overwrites nothing that came meanwhile", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/configs/remote.yaml`;
  await refuseExisting(file);
  await createConfig(file, "first\n");
  const { en, ja, exit } = await spoken(await userErrorOf(() => createConfig(file, "second\n")));
  assert.equal(exit, 2);
  assert.equal(
    en,
    `error: ${file} is there already and stays as it is\nhint: Edit it, move it away first, or name another file with --config\n`,
  );
  assert.match(ja, /^エラー: .*はすでにあるため，そのまま残しました\nヒント: /);
  assert.equal(await Deno.readTextFile(file), "first\n");
});

Deno.test("refuseExisting() takes a dangling link for something that is there", onUnix, async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/remote.yaml`;
  await Deno.symlink("nowhere", file);
  assert.match((await spoken(await userErrorOf(() => refuseExisting(file)))).en, /is there already/);
});

Deno.test("createConfig() says why a file cannot be written", async () => {
  await using folder = await temporaryFolder();
  await Deno.writeTextFile(`${folder.path}/configs`, "a file in the way");
  const { en, ja, exit } = await spoken(
    await userErrorOf(() => createConfig(`${folder.path}/configs/remote.yaml`, "text\n")),
  );
  assert.equal(exit, 1);
  assert.match(en, /^error: .*remote\.yaml cannot be written: .*\nhint: Check who may write/);
  assert.match(ja, /^エラー: .*remote\.yaml に書き込めません：.*\nヒント: /);
});
