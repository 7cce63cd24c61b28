import assert from "node:assert/strict";
import { join } from "node:path";
import { parse, stringify } from "yaml";
import { type DoctorJson, doctorShape } from "../../lib/cli/doctor_json.ts";
import { beginRun } from "../../lib/rent/begin.ts";
import { fileStore, runFolder } from "../../lib/rent/ledger_file.ts";
import { podVariable } from "../../lib/rent/watchdog_script.ts";
import { FakeHub, type FakeHubOptions } from "../lab/fake_hub.ts";
import { FakeRunpod, type FakeRunpodOptions } from "../lab/fake_runpod.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";
import type { Laboratory } from "../lab/types.ts";
import { exampleRecipe } from "../rent/recipe.ts";
import { countingRandom, testContext } from "../test_context.ts";
import { type Launch, steady, tell, toolkit, verbArguments } from "./story.ts";

const accountKey = "rpa_ACCOUNTSECRET0123456789";
const publicKey = "ssh-ed25519 AAAA test";

interface Scene {
  readonly runpod?: Partial<FakeRunpodOptions>;
  readonly hub?: FakeHubOptions;
  /** Keys of train.yaml in the place of the example's. */
  readonly recipe?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly repository?: "public" | "private";
  /** Changes the project's folder before the command runs. */
  readonly spoil?: (root: string) => Promise<void>;
  readonly args?: readonly string[];
  readonly language?: "en" | "ja";
}

/** `doctor` by exactly its permission set, beside which only this machine's own ports may be reached. */
const launch: Launch = (lab, project, [verb = "", ...rest]) => {
  const [run = "", ...others] = verbArguments(verb, project, lab.ssh);
  return { program: Deno.execPath(), args: [run, "--allow-net=127.0.0.1", ...others, ...rest] };
};

/** Examines a project that has a recipe; Runpod and the Hub are fakes on this machine. */
async function examine(lab: Laboratory, scene: Scene = {}) {
  const project = await lab.project();
  const api = new FakeRunpod({ accountKey, now: () => Date.now(), ...scene.runpod });
  await using hub = new FakeHub({ pageSize: 100, ...scene.hub });
  if (scene.repository !== undefined) {
    hub.repo("hasegawa/ckpt", { private: scene.repository === "private" });
  }
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request) => api.handle(request),
  );
  const recipe = {
    ...parse(await Deno.readTextFile(join(toolkit, "configs/train.yaml"))),
    api_url: `http://127.0.0.1:${server.addr.port}/v2`,
    gpus: ["NVIDIA A40", "NVIDIA L40S"].map((id) => ({ id, attempts: 1 })),
    ssh: { identity: "keys/id" },
    hub: { repository: "hasegawa/ckpt", needs_gb: 15 },
    ...scene.recipe,
  };
  await Deno.mkdir(join(project, "keys"), { recursive: true });
  await Deno.writeTextFile(join(project, "keys/id"), "private");
  await Deno.writeTextFile(join(project, "keys/id.pub"), publicKey);
  await Deno.writeTextFile(join(project, "configs/train.yaml"), stringify(recipe));
  await scene.spoil?.(project);
  const env = { RUNPOD_API_KEY: accountKey, HF_TOKEN: hub.token, HF_ENDPOINT: hub.url, ...scene.env };
  const told = await tell(lab, project, ["doctor", ...(scene.args ?? ["--json"])], {
    env,
    launch,
    ...(scene.language === undefined ? {} : { language: scene.language }),
  });
  for (const secret of [accountKey, hub.token]) {
    assert.ok(!told.out.includes(secret) && !told.err.includes(secret), "no secret is told");
  }
  assert.ok(api.calls.every(({ method }) => method === "GET"), "nothing is rented");
  assert.ok(hub.requests.every(({ method }) => method === "GET"), "nothing is made on the Hub");
  return { ...told, api, hub };
}

function trainGroup(out: string): DoctorJson["groups"][number] {
  const report = doctorShape.parse(JSON.parse(out));
  const group = report.groups.find(({ place }) => place === "train");
  assert.ok(group !== undefined && group.name === null);
  for (const { id, level, why, mend } of group.findings) {
    if (level !== "ok") assert.ok(why !== null && mend !== null, `${id} says why and what to do`);
  }
  return group;
}

function startLab(): Promise<Laboratory> {
  const df =
    "#!/bin/sh\nprintf 'F 1024-blocks Used Available Capacity M\\n/dev/sda 9 9 500000000 9%% /\\n'\n";
  return startLaboratory({
    servers: [{ name: "Newton", scenario: quiet(1), dataReady: false, programs: { df } }],
  });
}

Deno.test({
  ...needing(["ssh", "tmux"], "doctor finds all well that `train` needs, in both languages"),
  async fn(t) {
    await using lab = await startLab();
    for (const language of ["en", "ja"] as const) {
      const doctor = await examine(lab, { args: [], language });
      assert.equal(doctor.code, 0, doctor.out + doctor.err);
      const text = steady(doctor.out, lab).replaceAll(/project-\w+/g, "project");
      await t.assertSnapshot(text.slice(text.lastIndexOf("\n\n", text.lastIndexOf("\n\n") - 1)), {
        serializer: String,
      });
    }
  },
});

const stray = {
  id: "abc",
  name: "tias-train-old-00000000",
  status: "RUNNING",
  env: { [podVariable.name]: "tias-train-old-00000000" },
};
const unfinished = beginRun(
  { ...testContext(), random: countingRandom() },
  await exampleRecipe(),
  "night",
  { fallback: true },
);

const scenes: readonly (readonly [
  what: string,
  scene: Scene,
  troubles: readonly string[],
  says: RegExp,
])[] = [
  ["train.yaml is invalid", { recipe: { gpu: "A40" } }, ["configuration:problem"], /there is no key `gpu`/],
  ["there is no key", { env: { RUNPOD_API_KEY: "" } }, ["runpod:problem"], /There is no key for Runpod/],
  [
    "the key is refused",
    { env: { RUNPOD_API_KEY: "rpa_SOMEONEELSES" } },
    ["runpod:problem"],
    /Runpod refused \(401\)/,
  ],
  [
    "nothing is in stock",
    { runpod: { offers: ["NVIDIA A40", "NVIDIA L40S"].map((id) => ({ id, stock: "NONE" })) } },
    ["stock:problem", "stock:problem"],
    /NVIDIA A40: out of stock/,
  ],
  [
    "one price is above the cap",
    { runpod: { offers: [{ id: "NVIDIA A40", stock: "LOW", usd: 9 }, { id: "NVIDIA L40S", stock: "LOW" }] } },
    ["stock:warning"],
    /NVIDIA A40 costs \$9\.00 an hour, and the recipe allows \$1\.20/,
  ],
  [
    "the community's price counts where that cloud is chosen",
    { recipe: { cloud: "COMMUNITY" }, runpod: { cost: 2 } },
    [],
    /NVIDIA A40: stock HIGH, \$1\.00 an hour/,
  ],
  ["the repository is public", { repository: "public" }, ["repository:problem"], /hasegawa\/ckpt is public/],
  ["the repository is private", { repository: "private" }, [], /hasegawa\/ckpt is private/],
  [
    "there is no room",
    { recipe: { hub: { repository: "hasegawa/ckpt", needs_gb: 200 } } },
    ["storage:problem"],
    /186\.2 GiB are wanted for hasegawa\/ckpt/,
  ],
  ["the token is refused", { env: { HF_TOKEN: "hf_another" } }, ["hub:problem"], /does not know the token/],
  [
    "the token's file is not there",
    { env: { HF_TOKEN_PATH: "/nonexistent/token" } },
    ["hub:problem"],
    /HF_TOKEN_PATH cannot be read/,
  ],
  [
    "the ssh key is missing",
    { recipe: { ssh: { identity: "keys/gone" } } },
    ["identity:problem"],
    /There is no ssh key/,
  ],
  [
    "the ssh key lies where the sandbox lets nobody look",
    { recipe: { ssh: { identity: "/etc/ssh/id_ed25519" } } },
    ["identity:problem"],
    /Cannot read the public half/,
  ],
  [
    "the ssh key lies there, and the recipe has its public half",
    { recipe: { ssh: { identity: "/etc/ssh/id_ed25519", public_key: publicKey } } },
    [],
    /"\/etc\/ssh\/id_ed25519" is added to `read`/,
  ],
  [
    "the clock is an hour off",
    { runpod: { now: () => Date.now() + 3600_000 } },
    ["clock:problem"],
    /60 minutes/,
  ],
  [
    "a Pod and a run are left over",
    {
      runpod: {
        misfortune: ({ path }) =>
          path.startsWith("/v2/pods")
            ? { kind: "answer", when: "before", response: () => Response.json({ pods: [stray] }) }
            : undefined,
      },
      spoil: async (root) => await fileStore(runFolder(root, "night")).save(unfinished),
    },
    ["pods:warning", "runs:warning"],
    /no record here knows: tias-train-old-00000000\nRuns that are not over: night/,
  ],
  [
    "a record makes no sense",
    {
      spoil: async (root) => {
        await Deno.mkdir(join(root, "lab/night/train"), { recursive: true });
        await Deno.writeTextFile(join(root, "lab/night/train/lab_pod.json"), "{");
      },
    },
    ["runs:problem"],
    /makes no sense/,
  ],
];

Deno.test({
  ...needing(["ssh", "tmux"], "doctor names what would keep `train` from renting"),
  async fn(t) {
    await using lab = await startLab();
    for (const [what, scene, troubles, says] of scenes) {
      await t.step(what, async () => {
        const { code, out, err } = await examine(lab, scene);
        const { findings } = trainGroup(out);
        assert.deepEqual(
          findings.filter(({ level }) => level !== "ok").map(({ id, level }) => `${id}:${level}`),
          troubles,
        );
        assert.equal(code, troubles.length === 0 ? 0 : 1, err);
        assert.match(findings.map(({ what }) => what).join("\n"), says);
      });
    }
  },
});

Deno.test({
  ...needing(
    ["ssh", "tmux"],
    "doctor says nothing of `train` where there is no recipe, or a server is named",
  ),
  async fn() {
    await using lab = await startLab();
    const named = await examine(lab, { args: ["--json", "--server", "Newton"] });
    const none = await examine(lab, { spoil: (root) => Deno.remove(join(root, "configs/train.yaml")) });
    for (const { code, out, api, hub } of [named, none]) {
      assert.equal(code, 0);
      assert.deepEqual(
        doctorShape.parse(JSON.parse(out)).groups.map(({ place }) => place),
        ["here", "server"],
      );
      assert.equal(api.calls.length + hub.requests.length, 0);
    }
  },
});

Deno.test({
  ...needing(["ssh", "tmux"], "doctor may reach Runpod and the Hub alone, and says so of another address"),
  async fn() {
    await using lab = await startLab();
    const { out } = await examine(lab, { recipe: { api_url: "https://api.example.com/v2" } });
    const [finding] = trainGroup(out).findings.filter(({ id }) => id === "runpod");
    assert.match(finding?.what ?? "", /without the right to reach api\.example\.com/);
    assert.match(finding?.mend ?? "", /deno\.json/);
  },
});
