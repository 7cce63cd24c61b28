import assert from "node:assert/strict";
import { join } from "node:path";
import { openProject } from "../../lib/config/project.ts";
import type { EnvironmentName } from "../../lib/system/context.ts";
import { temporaryFolder } from "../shell.ts";
import { spoken, userErrorOf } from "../spoken.ts";
import { testContext } from "../test_context.ts";
import { edited, specification } from "./remote_yaml.ts";

/** A project at `<folder>/project`, whose path is returned. */
async function makeProject(folder: string, source = specification): Promise<string> {
  const root = join(folder, "project");
  await Deno.mkdir(join(root, "configs"), { recursive: true });
  await Deno.mkdir(join(root, "src", "deep"), { recursive: true });
  await Deno.writeTextFile(join(root, "configs", "remote.yaml"), source);
  return root;
}

function world(cwd: string, env: Partial<Record<EnvironmentName, string>> = {}, hostname = "my-laptop") {
  return testContext({ cwd, env, hostname });
}

Deno.test.each([["."], ["src"], ["src/deep"], ["configs"]])(
  "openProject() finds the nearest configs/remote.yaml from %s",
  async (below) => {
    await using folder = await temporaryFolder();
    const root = await makeProject(folder.path);
    const project = await openProject(world(join(root, below)), undefined);
    assert.equal(project.root, root);
    assert.equal(project.configFile, join(root, "configs", "remote.yaml"));
    assert.equal(project.config.jump_host, "labpc");
  },
);

Deno.test("openProject() prefers the nearer of two projects", async () => {
  await using folder = await temporaryFolder();
  const outer = await makeProject(folder.path);
  const inner = await makeProject(join(outer, "src"), edited("labpc", "inner"));
  assert.equal((await openProject(world(join(inner, "src")), undefined)).config.jump_host, "inner");
});

Deno.test.each([["configs/remote.yaml"], ["configs/other.yaml"], ["../project/configs/other.yaml"]])(
  "openProject() takes --config %s from where one is, and the folder above its folder for the project",
  async (flag) => {
    await using folder = await temporaryFolder();
    const root = await makeProject(folder.path);
    await Deno.writeTextFile(join(root, "configs", "other.yaml"), specification);
    const project = await openProject(world(root), flag);
    assert.equal(project.root, root);
  },
);

Deno.test("openProject() takes an absolute --config from a third folder", async () => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path);
  const project = await openProject(world("/"), join(root, "configs", "remote.yaml"));
  assert.equal(project.root, root);
});

Deno.test("openProject() says what to do where there is no project", async () => {
  await using folder = await temporaryFolder();
  assert.deepEqual(await spoken(await userErrorOf(() => openProject(world(folder.path), undefined))), {
    en: `error: There is no configs/remote.yaml in ${folder.path} or in a folder above it\n` +
      "hint: Go to the project's folder, or name the file with --config\n",
    ja: `エラー: ${folder.path} とその上のフォルダに configs/remote.yaml がありません\n` +
      "ヒント: プロジェクトのフォルダに移るか，--config でファイルを指定してください\n",
    exit: 2,
  });
});

Deno.test("openProject() says that a named file cannot be read", async () => {
  await using folder = await temporaryFolder();
  const file = join(folder.path, "nowhere.yaml");
  const { en, ja, exit } = await spoken(await userErrorOf(() => openProject(world("/"), file)));
  assert.match(en, new RegExp(`^error: Cannot read .*nowhere.yaml: .*\nhint: Go to the project's folder`));
  assert.match(
    ja,
    new RegExp(`^エラー: .*nowhere.yaml を読めません：.*\nヒント: プロジェクトのフォルダに移るか`),
  );
  assert.equal(exit, 2);
});

Deno.test("openProject() passes over a configs/remote.yaml that is a folder, and a configs that is a file", async () => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path);
  await Deno.mkdir(join(root, "src", "configs", "remote.yaml"), { recursive: true });
  await Deno.writeTextFile(join(root, "src", "deep", "configs"), "");
  assert.equal((await openProject(world(join(root, "src", "deep")), undefined)).root, root);
});

Deno.test("openProject() names the file in an error of its contents", async () => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path, edited("timeout_sec: 15", "timeout_sec: 0"));
  const { en } = await spoken(await userErrorOf(() => openProject(world(root), undefined)));
  assert.ok(en.startsWith(`error: ${join(root, "configs", "remote.yaml")}:2:22: `), en);
});

Deno.test.each([
  [undefined, "labpc"],
  ["", null],
  ["other", "other"],
  ["h@other:2222", "h@other:2222"],
])("openProject() with TIAS_REMOTE_JUMP=%s goes by %s", async (jump, expected) => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path);
  const env: Partial<Record<EnvironmentName, string>> = jump === undefined ? {} : { TIAS_REMOTE_JUMP: jump };
  assert.equal((await openProject(world(root, env), undefined)).config.jump_host, expected);
});

Deno.test.each([
  ["ssh/config", (root: string) => join(root, "ssh/config")],
  ["../ssh_config", (root: string) => join(root, "../ssh_config")],
  ["/etc/ssh/lab", () => "/etc/ssh/lab"],
])("openProject() takes ssh_config %s from the project", async (written, expected) => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path, `ssh_config: ${written}\n${specification}`);
  assert.equal((await openProject(world(root), undefined)).config.ssh_config, expected(root));
});

Deno.test.each([["Newton"], ["newton"], ["NEWTON.lab.example.jp"], ["Archimedes.local"]])(
  "openProject() stops on the server %s itself",
  async (hostname) => {
    await using folder = await temporaryFolder();
    const root = await makeProject(folder.path);
    const server = hostname.toLowerCase().startsWith("newton") ? "Newton" : "Archimedes";
    assert.deepEqual(
      await spoken(await userErrorOf(() => openProject(world(root, {}, hostname), undefined))),
      {
        en: `error: This machine is ${server} itself; tias-remote would connect to itself\n` +
          "hint: Run it on your own machine, or set TIAS_REMOTE_ALLOW_SELF=1 if the names only look alike\n",
        ja: `エラー: このマシンはサーバ ${server} 自身です。自分自身へ ssh することになります\n` +
          "ヒント: 手元のマシンで実行してください。名前が同じだけなら TIAS_REMOTE_ALLOW_SELF=1 で無効にできます\n",
        exit: 2,
      },
    );
  },
);

Deno.test.each([
  ["another name", "newton2", {}],
  ["a name that only begins alike", "newton-laptop", {}],
  ["a domain of that name", "laptop.newton", {}],
  ["an empty name", "", {}],
  ["TIAS_REMOTE_ALLOW_SELF=1", "newton", { TIAS_REMOTE_ALLOW_SELF: "1" }],
])("openProject() goes on with %s", async (_what, hostname, env) => {
  await using folder = await temporaryFolder();
  const root = await makeProject(folder.path);
  assert.equal((await openProject(world(root, env, hostname), undefined)).root, root);
});

Deno.test.each([["0"], [""], ["true"], ["yes"]])(
  "openProject() keeps the guard with TIAS_REMOTE_ALLOW_SELF=%s",
  async (value) => {
    await using folder = await temporaryFolder();
    const root = await makeProject(folder.path);
    const self = world(root, { TIAS_REMOTE_ALLOW_SELF: value }, "newton");
    assert.equal((await userErrorOf(() => openProject(self, undefined))).text.id, "config.own_host");
  },
);
