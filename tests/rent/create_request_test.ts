import assert from "node:assert/strict";
import { rentalPlan, worstCost } from "../../lib/rent/begin.ts";
import { costOf, dollars, hourlyCap } from "../../lib/rent/cost.ts";
import { createRequest, watchdogOf } from "../../lib/rent/create_request.ts";
import { deadlinesOf, isLogName, logOfPod, newPodName } from "../../lib/rent/names.ts";
import { violations } from "../lab/runpod_contract.ts";
import { exampleRecipe } from "./recipe.ts";

const request = {
  name: "tias-train-night-0123abcd",
  gpu: "NVIDIA A40",
  publicKey: "ssh-ed25519 AAAA test",
  deadline: 1_796_083_200,
  extensionSec: 10_800,
};

for (const form of ["exec", "args"] as const) {
  Deno.test(`createRequest() keeps the contract in its ${form} form, and has what a Pod needs from its first second`, async () => {
    const body = createRequest(await exampleRecipe(), { ...request, form });
    assert.deepEqual(violations(body, { execForm: form === "exec" }), []);
    assert.ok(JSON.stringify(body).length < 50_000);
    assert.deepEqual(body["ports"], ["22/tcp"]);
    assert.deepEqual(body["env"], {
      PUBLIC_KEY: "ssh-ed25519 AAAA test",
      TIAS_REMOTE_POD: request.name,
      TIAS_REMOTE_DEADLINE: "1796083200",
      TIAS_REMOTE_EXTENSION: "10800",
    });
  });
}

Deno.test("createRequest() says the same in both forms once a shell has split the words", async () => {
  const recipe = await exampleRecipe({ start_command: ["printf", "%s|", "a b", "it's", "$HOME"] });
  const { args } = createRequest(recipe, { ...request, form: "args" }) as { args: string };
  assert.ok(/^[\x20-\x7e]+$/.test(args));
  const { stdout } = await new Deno.Command("sh", {
    // The watchdog is looked at, not run.
    args: [
      "-c",
      `sh() { printf '%s\\n' "$2" | sed 's/^eval/printf "%s"/' >/dev/null; shift 2; printf '%s|' "$@"; }; ${args}`,
    ],
    stdin: "null",
  }).output();
  assert.equal(new TextDecoder().decode(stdout), "tias-remote|printf|%s||a b|it's|$HOME|");
  const base64 = /printf %s (\S+) \|/.exec(args)?.[1] ?? "";
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  assert.equal(new TextDecoder().decode(bytes), watchdogOf(recipe));
});

Deno.test("rentalPlan() takes the first GPU alone without fallback, and the user's limit", async () => {
  const recipe = await exampleRecipe();
  const plan = rentalPlan(recipe, { fallback: false, limitHours: 2 });
  assert.deepEqual(plan.candidates, [{ gpu: "NVIDIA A40", attempts: 5, pauseSec: 30 }]);
  assert.equal(plan.limitSec, 7200);
  assert.equal(plan.expectedCheckpoint, 1499);
  assert.equal(rentalPlan(recipe, { fallback: true }).candidates.length, 3);
});

Deno.test("hourlyCap() keeps both caps, and worstCost() is never above the total", async () => {
  const limits = { limitHours: 5, graceHours: 1, extensionHours: 3 };
  assert.equal(hourlyCap(limits, { maxHourlyUsd: 1, maxTotalUsd: 100 }), 1);
  assert.equal(hourlyCap(limits, { maxHourlyUsd: 2, maxTotalUsd: 9 }), 1);
  const recipe = await exampleRecipe({ max_hourly_usd: 50, max_total_usd: 9 });
  assert.ok(worstCost(recipe, { fallback: true }) <= 9 + 1e-9);
  assert.equal(dollars(costOf(0.44, 1800)), "$0.22");
  assert.equal(dollars(0.001), "$0.01");
});

Deno.test("logOfPod() knows ours by full name and mark, and never those of the older scripts", () => {
  const world = { random: () => new Uint8Array(16).fill(0xab) };
  const name = newPodName(world, "tias-train", "night-2");
  assert.equal(name, "tias-train-night-2-abababab");
  assert.equal(logOfPod({ name, env: { TIAS_REMOTE_POD: name } }, "tias-train"), "night-2");
  for (
    const [other, mark] of [
      [name, undefined],
      [name, "another"],
      ["p2m-night", "p2m-night"],
      ["p2m-train-night", "p2m-train-night"],
      ["p2m-train-abababab", "p2m-train-abababab"],
      ["tias-train-abababab", "tias-train-abababab"],
      ["tias-train-night-abababa", "tias-train-night-abababa"],
      ["tias-train-night-abababab-copy", "tias-train-night-abababab-copy"],
      ["xtias-train-night-abababab", "xtias-train-night-abababab"],
    ] as const
  ) {
    const env: Record<string, string> = mark === undefined ? {} : { TIAS_REMOTE_POD: mark };
    assert.equal(logOfPod({ name: other, env }, "tias-train"), undefined, other);
  }
});

Deno.test("deadlinesOf() reads both deadlines, or none from nonsense", () => {
  const env = { TIAS_REMOTE_DEADLINE: "100", TIAS_REMOTE_EXTENSION: "50" };
  assert.deepEqual(deadlinesOf({ env }), { deadline: 100, last: 150 });
  assert.equal(deadlinesOf({ env: { TIAS_REMOTE_DEADLINE: "soon" } }), undefined);
});

Deno.test("isLogName() takes what is safe as a folder and in a Pod's name", () => {
  for (const good of ["night", "2026-11-30_a.1", "A"]) assert.ok(isLogName(good), good);
  for (const bad of ["", "..", ".x", "-x", "a/b", "a b", "a\n", "x".repeat(65), "日本"]) {
    assert.ok(!isLogName(bad), bad);
  }
});
