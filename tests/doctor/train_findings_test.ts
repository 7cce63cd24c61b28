import assert from "node:assert/strict";
import {
  type HubLook,
  type RunpodLook,
  trainFindings,
  type TrainLook,
} from "../../lib/doctor/train_findings.ts";
import { beginRun } from "../../lib/rent/begin.ts";
import type { Ledger } from "../../lib/rent/ledger.ts";
import { podVariable } from "../../lib/rent/watchdog_script.ts";
import { readPod } from "../../lib/rent/runpod_schema.ts";
import { message, UserError } from "../../lib/system/errors.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { exampleRecipe } from "../rent/recipe.ts";
import { countingRandom, testContext } from "../test_context.ts";

const recipe = await exampleRecipe();
const [a40 = "", a6000 = "", l40s = ""] = recipe.gpus.map(({ id }) => id);
const fault = new UserError(message("rent.api.edge"), { hint: message("rent.api.failed.hint") });
const offers = [a40, a6000, l40s].map((id) => ({ id, hourlyUsd: 0.5, stock: "HIGH" } as const));
const runpodWell: RunpodLook = { pods: [], clock: null, offers };
const hubWell: HubLook = {
  account: { name: "your-name", isPro: false, mayWrite: true },
  repository: "private",
  freeBytes: 80e9,
};
const key = "/home/me/.ssh/id_ed25519";
const allWell: TrainLook = {
  file: { root: "/project", configFile: "/project/configs/train.yaml", recipe },
  runpod: runpodWell,
  hub: hubWell,
  identity: { file: key, there: true, publicHalf: null },
  runs: new Map(),
};
const run = beginRun({ ...testContext(), random: countingRandom() }, recipe, "night", { fallback: true });
const pod = (name: string, status = "RUNNING") =>
  readPod({ id: "abc", name, status, env: { [podVariable.name]: name } });
const unreadable = (cause: Error) =>
  new UserError(message("rent.identity.unreadable", { file: `${key}.pub`, problem: "no" }), { cause });

const cases: readonly (readonly [
  what: string,
  changes: Partial<TrainLook>,
  troubles: readonly string[],
  english: RegExp,
])[] = [
  ["all is well", {}, [], /Runpod accepts the key; how much money the account has, its API does not tell/],
  ["the price is told", {}, [], /NVIDIA A40: stock HIGH, \$0\.50 an hour/],
  ["Runpod cannot be asked", { runpod: fault }, ["runpod:problem"], /Runpod's edge refused/],
  ["the clock is off", { runpod: { ...runpodWell, clock: fault } }, ["clock:problem"], /edge/],
  ["the catalog cannot be read", { runpod: { ...runpodWell, offers: fault } }, ["stock:warning"], /edge/],
  [
    "one GPU is out of stock",
    { runpod: { ...runpodWell, offers: [{ id: a40, hourlyUsd: 0.4, stock: "NONE" }, ...offers.slice(1)] } },
    ["stock:warning"],
    /NVIDIA A40: out of stock/,
  ],
  [
    "no GPU can be had, each for another reason",
    {
      runpod: {
        ...runpodWell,
        offers: [{ id: a40, hourlyUsd: 0.4, stock: "NONE" }, { id: l40s, hourlyUsd: 1.5, stock: "HIGH" }],
      },
    },
    ["stock:problem", "stock:problem", "stock:problem"],
    /catalog has no NVIDIA RTX A6000\n.*L40S costs \$1\.50 an hour, and the recipe allows \$1\.20/,
  ],
  [
    "stock and price are not told",
    { runpod: { ...runpodWell, offers: offers.map(({ id }) => ({ id, hourlyUsd: null, stock: null })) } },
    [],
    /NVIDIA L40S: stock \?, \? an hour/,
  ],
  [
    "a Pod is left over",
    { runpod: { ...runpodWell, pods: [pod("tias-train-old-00000000"), pod("tias-train-x-00000001")] } },
    ["pods:warning"],
    /no record here knows: tias-train-old-00000000, tias-train-x-00000001/,
  ],
  [
    "Pods of others, of the past and of a record are none of it",
    {
      runpod: {
        ...runpodWell,
        pods: [pod("p2m-train-x"), pod("tias-train-old-00000000", "TERMINATED"), pod(run.name)],
      },
      runs: new Map<string, Ledger>([["night", { ...run, phase: "done" }]]),
    },
    [],
    /No Pod is left over\n.*No run is unfinished/,
  ],
  ["a run is not over", { runs: new Map([["night", run]]) }, ["runs:warning"], /are not over: night/],
  [
    "the records cannot be read",
    { runs: fault, runpod: { ...runpodWell, pods: [pod("tias-train-old-00000000")] } },
    ["runs:problem"],
    /edge/,
  ],
  ["the Hub cannot be asked", { hub: fault }, ["hub:problem"], /edge/],
  [
    "the token may only read",
    { hub: { ...hubWell, account: { ...hubWell.account, mayWrite: false } } },
    ["hub:problem"],
    /The token of your-name may only read/,
  ],
  [
    "the repository is public",
    { hub: { ...hubWell, repository: "public" } },
    ["repository:problem"],
    /is public/,
  ],
  [
    "there is no repository yet",
    { hub: { ...hubWell, repository: "missing" } },
    [],
    /the upload makes it, private/,
  ],
  ["the repository is refused", { hub: { ...hubWell, repository: fault } }, ["repository:problem"], /edge/],
  [
    "there is no room",
    { hub: { ...hubWell, freeBytes: 1e9 } },
    ["storage:problem"],
    /only 953\.6 MiB of private/,
  ],
  [
    "room is not told",
    { hub: { ...hubWell, freeBytes: null } },
    [],
    /does not tell how much private storage/,
  ],
  [
    "there is no ssh key",
    { identity: { file: key, there: false, publicHalf: null } },
    ["identity:problem"],
    /There is no ssh key/,
  ],
  [
    "the ssh key is kept from us, its public half known",
    { identity: { file: key, there: undefined, publicHalf: null } },
    [],
    /id_ed25519" is added to `read` of the permission set `doctor`/,
  ],
  [
    "its public half is kept from `train` as well",
    { identity: { file: key, there: undefined, publicHalf: unreadable(new Deno.errors.NotCapable()) } },
    ["identity:problem"],
    /Cannot read the public half/,
  ],
  [
    "its public half is kept from us alone",
    {
      identity: {
        file: "/project/keys/id",
        there: undefined,
        publicHalf: unreadable(new Deno.errors.NotCapable()),
      },
    },
    ["identity:warning"],
    /Cannot read the public half/,
  ],
];

Deno.test.each(cases)("trainFindings(): %s", (_, changes, troubles, english) => {
  const findings = trainFindings({ ...allWell, ...changes });
  const amiss = findings.filter(({ level }) => level !== "ok");
  assert.deepEqual(amiss.map(({ id, level }) => `${id}:${level}`), troubles);
  for (const { id, why, mend } of amiss) {
    assert.ok(why !== null, id);
    assert.ok(mend !== null || id === "identity", id);
  }
  assert.match(findings.map(({ what }) => textsIn("en").sentence(what)).join("\n"), english);
  for (const { what } of findings) assert.match(textsIn("ja").sentence(what), /[ぁ-ん]/);
});
