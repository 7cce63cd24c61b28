import assert from "node:assert/strict";
import { join } from "node:path";
import { stringify } from "yaml";
import { stopCommand } from "../../cmd/stop.ts";
import { sweepCommand } from "../../cmd/sweep.ts";
import { trainCommand } from "../../cmd/train.ts";
import { buildCommandApplication, type CommandMaker, runProgram } from "../../lib/cli/program.ts";
import type { EnvironmentName } from "../../lib/system/context.ts";
import { FakeHub } from "../lab/fake_hub.ts";
import { FakeRunpod, type FakeRunpodOptions } from "../lab/fake_runpod.ts";
import { exampleRecipe } from "../rent/recipe.ts";
import { VirtualClock } from "../rent/virtual_clock.ts";
import { countingRandom, testContext } from "../test_context.ts";

const accountKey = "rpa_ACCOUNTSECRET0123456789";
const start = new Date("2026-11-30T22:00:00Z");

interface StageOptions {
  readonly recipe?: Readonly<Record<string, unknown>>;
  readonly env?: Readonly<Partial<Record<EnvironmentName, string>>>;
  readonly runpod?: Partial<FakeRunpodOptions>;
  readonly hub?: FakeHub;
  readonly interruptAtFirstRequest?: boolean;
  /** Changes the project's folder before the command runs. */
  readonly spoil?: (root: string) => Promise<void>;
}

/** Runs a verb in a project of its own, in this process; the fake Runpod answers without a network. */
async function told(maker: CommandMaker, args: readonly string[], options: StageOptions = {}) {
  const root = await Deno.makeTempDir({ prefix: "train-" });
  const api = new FakeRunpod({ accountKey, now: () => start.getTime(), ...options.runpod });
  try {
    await Deno.mkdir(join(root, "configs"));
    await Deno.mkdir(join(root, "code"));
    const recipe = {
      ...await exampleRecipe(),
      ssh: { identity: "key", public_key: "ssh-ed25519 AAAA test", connect_timeout_sec: 5 },
      send: [{ from: "code", to: "/workspace/code" }],
      hub: { repository: "hasegawa/ckpt", needs_gb: 1 },
      ...options.recipe,
    };
    await Deno.writeTextFile(join(root, "configs/train.yaml"), stringify(recipe));
    await options.spoil?.(root);
    const { hub } = options;
    const env = {
      RUNPOD_API_KEY: accountKey,
      ...(hub === undefined ? {} : { HF_TOKEN: hub.token, HF_ENDPOINT: hub.url }),
      ...options.env,
    };
    const context = testContext({
      env,
      cwd: root,
      random: countingRandom(),
      // Neither a notifier nor a sleep inhibitor is installed.
      start: () => {
        throw new Deno.errors.NotFound();
      },
    });
    const clock = new VirtualClock(start);
    const world = {
      ...context,
      clock,
      onSignal: () => () => {},
      fetch: (input: string | URL | Request, init?: RequestInit) =>
        clock.during(async () => {
          const url = String(input);
          if (hub !== undefined && url.startsWith(hub.url)) return await fetch(input, init);
          if (options.interruptAtFirstRequest) context.interrupt();
          const answer = await api.handle(new Request(input, { ...init, signal: null }));
          const text = await answer.text();
          return {
            status: answer.status,
            headers: answer.headers,
            text: () => Promise.resolve(text),
          } as Response;
        }),
    };
    const code = await runProgram(
      world,
      args,
      (texts) => buildCommandApplication("tias-remote x", maker, texts),
    );
    const output = context.err.text.replaceAll(root, "ROOT");
    assert.ok(!output.includes(accountKey) && !context.out.text.includes(accountKey));
    return { code, output, out: context.out.text, api, rented: api.pods.length, left: await namesIn(root) };
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
}

const night = ["--lang", "en", "--log", "night"];

const refusals:
  readonly (readonly [what: string, code: number, says: RegExp, options: StageOptions, args?: string[]])[] = [
    ["there is no key", 4, /There is no key for Runpod/, { env: { RUNPOD_API_KEY: "" } }],
    ["the key's file is not there", 4, /Cannot read the key/, {
      env: { RUNPOD_API_KEY: "", RUNPOD_API_KEY_FILE: "/nonexistent/key" },
    }],
    ["the key has a blank", 4, /is not one/, { env: { RUNPOD_API_KEY: "rpa secret secret" } }],
    ["there is no token for the Hub", 4, /Hugging Face/, {}],
    ["the public key cannot be read", 2, /public half of the ssh key/, {
      recipe: { ssh: { identity: "nowhere" } },
      env: { HF_TOKEN: "hf_x" },
    }],
    ["a folder to send is missing", 1, /Cannot send/, {
      recipe: { send: [{ from: "gone", to: "/workspace/x" }] },
    }],
    ["the local folder outside is missing", 1, /Is the disk plugged in/, {
      recipe: { local_dir: "/nonexistent/disk/checkpoints" },
    }],
    ["the run's name cannot be one", 2, /cannot be the name of a run/, {}, ["--lang", "en", "--log", "../x"]],
    ["the recipe has an unknown key", 2, /configs\/train.yaml:\d+:\d+: there is no key `gpu`/, {
      recipe: { gpu: "A40" },
    }],
    ["the prefix is that of the older scripts", 2, /`name_prefix` cannot be "p2m"/, {
      recipe: { name_prefix: "p2m" },
    }],
    ["the account's key is wrong", 4, /Runpod refused \(401\)/, {
      runpod: { accountKey: "rpa_another_key" },
    }],
    ["the API is retired", 1, /retired this version/, { recipe: { api_url: "https://rest.runpod.io/v1" } }],
    ["the edge refuses", 1, /edge refused/, {
      runpod: {
        misfortune: () => ({
          kind: "answer",
          when: "before",
          response: () => new Response("error code: 1010", { status: 403 }),
        }),
      },
    }],
    ["the clock is an hour off", 1, /60 minutes off/, { runpod: { now: () => start.getTime() + 3600_000 } }],
    ["the record makes no sense", 1, /makes no sense/, {
      spoil: async (root) => {
        await Deno.mkdir(join(root, "lab/night/train"), { recursive: true });
        await Deno.writeTextFile(join(root, "lab/night/train/lab_pod.json"), "{");
      },
    }],
  ];
for (const [what, code, says, options, args] of refusals) {
  Deno.test(`train rents nothing when ${what}`, async () => {
    await using hub = new FakeHub();
    const withHub = what.includes("token") ? options : { hub, ...options };
    const story = await told(trainCommand, args ?? night, withHub);
    assert.equal(story.code, code, story.output);
    assert.match(story.output, says);
    assert.match(story.output, /\nhint: |^hint: /);
    assert.equal(story.rented, 0);
  });
}

Deno.test("train rents nothing when the repository on the Hub is public", async () => {
  await using hub = new FakeHub();
  hub.repo("hasegawa/ckpt", { private: false });
  const story = await told(trainCommand, night, { hub });
  assert.equal(story.code, 1, story.output);
  assert.equal(story.rented, 0);
});

Deno.test("train rents nothing when Ctrl-C came while it was looking around", async () => {
  await using hub = new FakeHub();
  const story = await told(trainCommand, night, { hub, interruptAtFirstRequest: true });
  assert.equal(story.code, 130, story.output);
  assert.equal(story.rented, 0);
});

Deno.test("train rents nothing when the Hub has no room", async () => {
  await using hub = new FakeHub({ privateLimit: 10 });
  const story = await told(trainCommand, night, {
    hub,
    recipe: { hub: { repository: "hasegawa/ckpt", needs_gb: 1000 } },
  });
  assert.equal(story.code, 1, story.output);
  assert.equal(story.rented, 0);
});

for (const lang of ["en", "ja"]) {
  Deno.test(`train --dry-run shows body, cost and watchdog, and walks to the end, in ${lang}`, async (t) => {
    const story = await told(trainCommand, ["--lang", lang, "--log", "night", "--dry-run"], {
      env: { RUNPOD_API_KEY: "" },
      recipe: { send: [{ from: "/nonexistent", to: "/workspace/x" }] },
    });
    assert.equal(story.code, 0, story.output);
    assert.match(story.out, /"name": "tias-train-night-[0-9a-f]{8}"/);
    assert.match(story.out, /watch\(\) \{/);
    assert.match(story.output, /\$10\.80/);
    assert.match(story.output, /DELETE 204/);
    // Times are this machine's own.
    await t.assertSnapshot(story.output.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "TIME"));
    // Nothing was asked and nothing was written.
    assert.deepEqual(story.api.calls, []);
    assert.deepEqual(story.left, ["code", "configs"]);
  });
}

Deno.test("train says in either language that no GPU was free, with the exit code for it", async () => {
  await using hub = new FakeHub();
  for (const [lang, says] of [["en", /No GPU of the recipe/], ["ja", /GPU/]] as const) {
    const story = await told(trainCommand, ["--lang", lang, "--log", "night", "--no-fallback"], {
      hub,
      recipe: { notification: false },
      runpod: {
        refuse: () =>
          Response.json({ status: 400, detail: "There are no longer any instances available" }, {
            status: 400,
          }),
      },
    });
    assert.equal(story.code, 3, story.output);
    assert.match(story.output, says);
    assert.equal(story.api.calls.filter(({ method }) => method === "POST").length, 5);
  }
});

Deno.test("stop says when there is nothing to stop, and when a run is not known", async () => {
  const nothing = await told(stopCommand, ["--lang", "en"]);
  assert.equal(nothing.code, 0, nothing.output);
  assert.match(nothing.output, /No run is recorded here/);
  const unknown = await told(stopCommand, night);
  assert.equal(unknown.code, 1);
  assert.match(unknown.output, /neither a record nor a Pod/);
});

Deno.test("sweep lists nothing where there is nothing, and takes a name only with --delete", async () => {
  const nothing = await told(sweepCommand, ["--lang", "en"]);
  assert.equal(nothing.code, 0, nothing.output);
  assert.match(nothing.output, /no Pod of ours/);
  assert.equal((await told(sweepCommand, ["--lang", "en", "tias-train-night-00000000"])).code, 2);
  const gone = await told(sweepCommand, ["--lang", "en", "--delete", "tias-train-night-00000000"]);
  assert.equal(gone.code, 1);
});
