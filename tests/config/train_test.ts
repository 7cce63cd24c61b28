import assert from "node:assert/strict";
import { join } from "node:path";
import { parseConfig } from "../../lib/config/document.ts";
import { localPath, openRecipe } from "../../lib/config/recipe.ts";
import { expectedCheckpoint, trainSchema } from "../../lib/config/train.ts";
import { ExitCode, UserError } from "../../lib/system/errors.ts";
import { exampleRecipe } from "../rent/recipe.ts";
import { onUnix } from "../shell.ts";

const example = await Deno.readTextFile(new URL("../../configs/train.yaml", import.meta.url));

Deno.test("trainSchema reads the shipped example: π0.5 with openpi", async () => {
  const recipe = await exampleRecipe();
  assert.equal(recipe.train.steps, 1500);
  assert.equal(expectedCheckpoint(recipe), 1499);
  assert.deepEqual(recipe.gpus.map(({ id, attempts, pause_sec }) => [id, attempts, pause_sec]), [
    ["NVIDIA A40", 5, 30],
    ["NVIDIA RTX A6000", 2, 30],
    ["NVIDIA L40S", 2, 30],
  ]);
  assert.deepEqual([recipe.limit_hours, recipe.watchdog_grace_min, recipe.upload_extension_hours], [
    5,
    60,
    3,
  ]);
  assert.equal(recipe.api_url, "https://api.runpod.io/v2");
  assert.match(recipe.train.command, /pi05_mecharm_trim_corr_lora --exp-name=trim_corr_v3/);
  assert.deepEqual(recipe.hub.exclude, ["train_state"]);
});

const spoilt: readonly (readonly [what: string, from: string, to: string, says: RegExp])[] = [
  ["an unknown key", "cloud: SECURE", "cluod: SECURE", /config\.unknown_key.*cluod/],
  ["another cloud", "cloud: SECURE", "cloud: HOME", /config\.not_allowed.*cloud/],
  [
    "the older scripts' prefix",
    "name_prefix: tias-train",
    "name_prefix: p2m-train",
    /config\.not_allowed.*name_prefix/,
  ],
  [
    "a price that is no number",
    "max_hourly_usd: 1.2",
    "max_hourly_usd: cheap",
    /config\.not_allowed.*max_hourly_usd/,
  ],
  ["no limit at all", "limit_hours: 5", "limit_hours: 0", /config\.not_allowed.*limit_hours/],
  ["a relative path on the Pod", "dir: /workspace/openpi", "dir: openpi", /config\.not_allowed.*train\.dir/],
  [
    "an address with the key in it",
    "image:",
    "api_url: https://me:key@api.runpod.io/v2\nimage:",
    /config\.not_allowed.*api_url/,
  ],
  ["a missing repository", "repository:", "repo:", /config\.unknown_key.*hub\.repo/],
  [
    "a pattern without a group",
    "{ style: openpi }",
    "{ style: openpi, step: 'Step' }",
    /config\.not_allowed.*train\.progress\.step/,
  ],
];
for (const [what, from, to, says] of spoilt) {
  Deno.test(`trainSchema refuses ${what} and says where`, () => {
    assert.ok(example.includes(from));
    assert.throws(
      () => parseConfig(example.replace(from, to), "configs/train.yaml", trainSchema),
      (error) =>
        error instanceof UserError && error.exit === ExitCode.Usage && says.test(error.message) &&
        /configs\/train\.yaml:\d+:\d+/.test(error.message),
    );
  });
}

Deno.test("openRecipe() finds the recipe of the nearest folder above, or says what is missing", async () => {
  const root = await Deno.makeTempDir({ prefix: "recipe-" });
  try {
    await Deno.mkdir(join(root, "configs"));
    await Deno.mkdir(join(root, "src/deep"), { recursive: true });
    await assert.rejects(openRecipe({ cwd: () => root }, undefined), /rent\.config\.missing/);
    await assert.rejects(openRecipe({ cwd: () => root }, "configs/train.yaml"), /rent\.config\.missing/);
    await Deno.writeTextFile(join(root, "configs/train.yaml"), example);
    assert.equal((await openRecipe({ cwd: () => join(root, "src/deep") }, undefined)).root, root);
    assert.equal((await openRecipe({ cwd: () => "/" }, join(root, "configs/train.yaml"))).root, root);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("localPath() knows the home folder, whole paths and paths below the project", onUnix, () => {
  const env = (name: string) => name === "HOME" ? "/home/h" : undefined;
  assert.equal(localPath({ env }, "/p", "~/.ssh/id"), "/home/h/.ssh/id");
  assert.equal(localPath({ env }, "/p", "/disk/x"), "/disk/x");
  assert.equal(localPath({ env }, "/p", "checkpoints/x"), "/p/checkpoints/x");
  assert.throws(() => localPath({ env: () => undefined }, "/p", "~/x"), /rent\.home\.unknown/);
});
