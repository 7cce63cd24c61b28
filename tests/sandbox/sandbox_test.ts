import assert from "node:assert/strict";
import { join } from "node:path";
import { inExecutable, permissionSets, unionOf } from "../../lib/system/permission_sets.ts";
import { permissionFlags } from "../../scripts/compile.ts";
import { toolkit } from "../cmd/story.ts";
import { compiling, makeExecutables } from "../executable/build.ts";
import { buildFortress, type Fortress } from "./fortress.ts";

const verbs = Object.keys(permissionSets);
const attack = "tests/sandbox/attack.ts";

/** How each attempt of an attack ended that was started in the fortress's project. */
async function attackBy(
  { home, project, targets }: Fortress,
  program: string,
  ...args: string[]
): Promise<Record<string, string>> {
  const { stdout, stderr } = await new Deno.Command(program, {
    args: [...args, JSON.stringify(targets)],
    cwd: project,
    env: {
      HOME: home,
      DENO_DIR: Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "/", ".cache/deno"),
    },
    stdin: "null",
  }).output();
  const out = new TextDecoder().decode(stdout);
  assert.ok(out.startsWith("{"), new TextDecoder().decode(stderr));
  return JSON.parse(out);
}

function assertAllDenied(ends: Readonly<Record<string, string>>): void {
  assert.ok(Object.keys(ends).length > 30);
  assert.deepEqual(Object.entries(ends).filter(([, end]) => end !== "denied"), []);
}

Deno.test("the attacks succeed where nothing keeps them back", async () => {
  await using fortress = await buildFortress();
  const ends = await attackBy(fortress, Deno.execPath(), "run", "-q", "-A", join(toolkit, attack), "gpus");
  assert.deepEqual(
    Object.entries(ends).filter(([name, end]) => end !== "done" && !/^run .*deno$|library/.test(name)),
    [],
  );
  assert.equal(fortress.visitors(), 1);
  assert.ok((await fortress.damage()).includes(".ssh/authorized_keys"));
});

Deno.test.each(verbs.map((verb) => [verb]))("no attack succeeds in the script of %s", async (verb) => {
  await using fortress = await buildFortress();
  const set = permissionSets[verb];
  assert.ok(set !== undefined);
  // Its project is the fortress's, as if the toolkit lay there: the same set, with paths of that folder.
  const inProject = (paths: readonly string[]) => paths.map((path) => join(fortress.project, path));
  const flags = permissionFlags(
    { ...set, read: inProject(set.read), write: inProject(set.write) },
    "--ignore-env",
  );
  const script = ["run", "-q", "--no-config", ...flags, join(toolkit, attack), verb];
  const own = [
    "run",
    "-q",
    "--no-prompt",
    `--config=${toolkit}deno.json`,
    `-P=${verb}`,
    join(toolkit, attack),
    verb,
  ];
  for (const args of [script, own]) {
    assertAllDenied(await attackBy(fortress, Deno.execPath(), ...args));
    assert.equal(fortress.visitors(), 0);
    assert.deepEqual(await fortress.damage(), []);
  }
});

const plan = (file: string, permissions: typeof permissionSets[string]) => ({
  target: Deno.build.target,
  module: attack,
  file,
  permissions: inExecutable(permissions),
});

Deno.test({
  ...compiling("no attack succeeds in the executable of all verbs, whichever verb it was started for"),
  async fn(t) {
    await using made = await makeExecutables([plan("attack", unionOf(Object.values(permissionSets)))]);
    for (const verb of [...verbs, "--help", "unknown"]) {
      await t.step(verb, async () => {
        await using fortress = await buildFortress();
        assertAllDenied(await attackBy(fortress, made.path("attack"), verb));
        assert.equal(fortress.visitors(), 0);
        assert.deepEqual(await fortress.damage(), []);
      });
    }
  },
});

Deno.test({
  ...compiling("no attack succeeds in the executable of a verb alone"),
  async fn(t) {
    // Verbs with the same set are the same to the sandbox, and an executable takes a second and 90 MB.
    const distinct = Map.groupBy(verbs, (verb) => JSON.stringify(permissionSets[verb]));
    for (const [set, [verb = ""]] of distinct) {
      await t.step(verb, async () => {
        await using made = await makeExecutables([plan(verb, JSON.parse(set))]);
        await using fortress = await buildFortress();
        assertAllDenied(await attackBy(fortress, made.path(verb), verb));
        assert.equal(fortress.visitors(), 0);
        assert.deepEqual(await fortress.damage(), []);
      });
    }
  },
});

Deno.test({
  ...compiling("the executable gives up what a verb does not need of what the others have"),
  async fn() {
    await using made = await makeExecutables([plan("attack", unionOf(Object.values(permissionSets)))]);
    await using fortress = await buildFortress();
    const own: Fortress = {
      ...fortress,
      targets: {
        read: ["configs/remote.yaml", "runs/exp1/config.yaml", "src/code.py"],
        list: [],
        write: ["runs/exp1/config.yaml", "configs/remote.yaml"],
        run: [],
        port: 1,
        env: ["TIAS_REMOTE_LANG", "TIAS_REMOTE_SSH"],
      },
    };
    const can = async (verb: string) => {
      const ends = await attackBy(own, made.path("attack"), verb);
      return Object.entries(ends).filter(([name, end]) => end === "done" && !name.startsWith("look")).map((
        [name],
      ) => name);
    };
    const variables = ["variable TIAS_REMOTE_LANG", "variable TIAS_REMOTE_SSH"];
    assert.deepEqual(await can("gpus"), ["read configs/remote.yaml", ...variables]);
    assert.deepEqual(await can("push"), [
      "read configs/remote.yaml",
      "read runs/exp1/config.yaml",
      "read src/code.py",
      ...variables,
    ]);
    assert.deepEqual(await can("pull"), [
      "read configs/remote.yaml",
      "read runs/exp1/config.yaml",
      "write runs/exp1/config.yaml",
      ...variables,
    ]);
    assert.deepEqual(await can("permissions"), ["variable TIAS_REMOTE_LANG"]);
  },
});
