import assert from "node:assert/strict";
import type { TrainConfig } from "../../lib/config/train.ts";
import type { Ledger } from "../../lib/rent/ledger.ts";
import { noCapacity } from "../lab/fake_runpod.ts";
import { balanceText, problem } from "../lab/runpod_contract.ts";
import { exampleRecipe } from "./recipe.ts";
import { files, Simulation, type SimulationOptions } from "./simulation.ts";

type Options = Omit<SimulationOptions, "recipe"> & { recipe?: Partial<TrainConfig> };

async function simulate(options: Options = {}): Promise<{ simulation: Simulation; ledger: Ledger }> {
  const simulation = new Simulation({ ...options, recipe: await exampleRecipe(options.recipe) });
  const ledger = await simulation.train();
  // Whatever the story, this is its end.
  assert.deepEqual(simulation.listeners.size, 0);
  assert.ok(simulation.api.mostAlive <= 1, "two Pods at once");
  return { simulation, ledger };
}

function assertNoPod({ simulation, ledger }: { simulation: Simulation; ledger: Ledger }) {
  assert.deepEqual(simulation.api.alive(), []);
  assert.equal(ledger.unproved, false);
  assert.equal(ledger.phase, "done");
  assert.equal(ledger.receipts.length, simulation.api.pods.length);
}

const gpusAsked = ({ api }: Simulation) =>
  api.calls.filter(({ method }) => method === "POST").map(({ body }) =>
    (body as { gpu: { id: string } }).gpu.id.replace("NVIDIA ", "")
  );

Deno.test("drive() rents, trains, uploads, deletes with a receipt, and brings the model home", async () => {
  const story = await simulate();
  const { simulation, ledger } = story;
  assert.deepEqual(ledger.outcome, { kind: "trained", copy: "hub" });
  assert.deepEqual(simulation.home, files);
  assert.equal(simulation.logsFetched, 1);
  assert.equal(ledger.receipts[0]?.deleteStatus, 204);
  assertNoPod(story);
  assert.deepEqual([...new Set(simulation.story)].filter((effect) => effect !== "wait"), [
    "create",
    "inspect",
    "prove",
    "settle",
    "begin_step",
    "look_step",
    "begin_training",
    "look",
    "extend",
    "list_checkpoint",
    "begin_upload",
    "look_upload",
    "compare",
    "fetch_logs",
    "delete",
    "read_back",
    "download",
    "finish",
  ]);
  // The Pod goes before the model is downloaded: it is paid by the hour.
  assert.ok(simulation.story.lastIndexOf("delete") < simulation.story.indexOf("download"));
});

Deno.test("drive() ends a training that crashed, with its logs and without its Pod", async () => {
  const story = await simulate({ exitCode: 1, trainingSec: 900 });
  assert.deepEqual(story.ledger.outcome, { kind: "training_failed", reason: "exit_code", exitCode: 1 });
  assert.equal(story.simulation.logsFetched, 1);
  assertNoPod(story);
});

Deno.test("drive() ends a training that passes the limit", async () => {
  const story = await simulate({ trainingSec: Infinity });
  assert.deepEqual(story.ledger.outcome, { kind: "training_failed", reason: "limit", exitCode: null });
  assert.ok(story.simulation.story.includes("stop_training"));
  assertNoPod(story);
});

Deno.test("drive() ends a hung training whose log is silent", async () => {
  const story = await simulate({ trainingSec: Infinity, silentAfterSec: 600 });
  assert.deepEqual(story.ledger.outcome, { kind: "training_failed", reason: "silent", exitCode: null });
  assertNoPod(story);
});

Deno.test("drive() calls exit 0 without the committed last checkpoint a failure", async () => {
  const story = await simulate({ committed: false });
  assert.deepEqual(story.ledger.outcome, { kind: "training_failed", reason: "incomplete", exitCode: 0 });
  assertNoPod(story);
});

for (const upload of ["refused", "fails", "hangs"] as const) {
  Deno.test(`drive() copies over ssh before it deletes when the upload ${upload}`, async () => {
    const story = await simulate({ upload });
    assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "home" });
    assert.deepEqual(story.simulation.home, files);
    const { story: effects } = story.simulation;
    assert.ok(effects.indexOf("rescue") < effects.indexOf("delete"));
    assertNoPod(story);
  });
}

Deno.test("drive() does not believe an upload that differs from the Pod's list", async () => {
  const story = await simulate({ hubDiffers: true });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "home" });
  assertNoPod(story);
});

Deno.test("drive() leaves the Pod to its extended watchdog when no copy verifies, and saves it when run again", async () => {
  const { simulation, ledger } = await simulate({ upload: "refused", rescueFails: true });
  assert.equal(ledger.outcome?.kind, "unsaved");
  assert.equal(simulation.api.alive().length, 1);
  assert.ok(ledger.deadline - simulation.clock.now().getTime() / 1000 > 3600);
  Object.assign(simulation.options, { rescueFails: false });
  const later = await simulation.train();
  assert.deepEqual(later.outcome, { kind: "trained", copy: "home" });
  assertNoPod({ simulation, ledger: later });

  const { simulation: left } = await simulate({ upload: "refused", rescueFails: true });
  left.passAllDeadlines();
  assert.deepEqual(left.api.alive(), []);
});

Deno.test("drive() keeps the model on the Hub when it cannot be downloaded, and goes on there", async () => {
  const { simulation, ledger } = await simulate({ downloadFails: true });
  assert.deepEqual(ledger.outcome, { kind: "trained", copy: "hub" });
  assert.equal(ledger.home, null);
  assert.equal(ledger.phase, "downloading");
  assert.deepEqual(simulation.api.alive(), []);
  Object.assign(simulation.options, { downloadFails: false });
  assert.equal((await simulation.train()).phase, "done");
  assert.deepEqual(simulation.home, files);
});

Deno.test("drive() asks for an A40 five times, then for each fallback twice", async () => {
  const story = await simulate({ runpod: { refuse: () => noCapacity() } });
  assert.deepEqual(story.ledger.outcome, { kind: "no_capacity" });
  assert.deepEqual(gpusAsked(story.simulation), [
    ...Array(5).fill("A40"),
    ...Array(2).fill("RTX A6000"),
    ...Array(2).fill("L40S"),
  ]);
  assertNoPod(story);
});

Deno.test("drive() takes the fallback that there is", async () => {
  const story = await simulate({
    runpod: { refuse: ({ gpu }) => gpu?.id === "NVIDIA L40S" ? undefined : noCapacity() },
  });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assert.equal(story.ledger.receipts.length, 1);
});

const refusals: readonly (readonly [string, () => Response, number])[] = [
  ["an exhausted balance", () => problem(402, "Payment Required", balanceText), 402],
  ["a wrong key", () => problem(401, "Unauthorized", "missing bearer token"), 401],
  ["a key without the right", () => problem(403, "Forbidden", "access denied"), 403],
  ["the edge", () => new Response("error code: 1010", { status: 403 }), 403],
  ["a retired API", () => Response.json({ error: "Gone" }, { status: 410 }), 410],
  ["a body that breaks the contract", () => problem(422, "Unprocessable Entity", "no", ["$.disk: no"]), 422],
];
for (const [what, response, status] of refusals) {
  Deno.test(`drive() stops at once for ${what}`, async () => {
    const story = await simulate({ runpod: { refuse: response } });
    assert.equal(story.ledger.outcome?.kind, "refused");
    assert.equal((story.ledger.outcome as { status: number }).status, status);
    assert.equal(gpusAsked(story.simulation).length, 1);
    assertNoPod(story);
  });
}

Deno.test("drive() falls back to args where the exec form is not known", async () => {
  const story = await simulate({ runpod: { execForm: false } });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assert.equal(gpusAsked(story.simulation).length, 2);
  assert.equal(typeof story.simulation.api.pods[0]?.request.args, "string");
});

Deno.test("drive() waits as long as Retry-After says", async () => {
  const times: number[] = [];
  const simulation = new Simulation({
    recipe: await exampleRecipe(),
    runpod: {
      refuse: (_, count) => {
        times.push(simulation.clock.now().getTime() / 1000);
        return count > 2 ? undefined : new Response("{}", { status: 429, headers: { "retry-after": "42" } });
      },
    },
  });
  const ledger = await simulation.train();
  assert.deepEqual(ledger.outcome, { kind: "trained", copy: "hub" });
  assert.deepEqual(times.map((time) => time - (times[0] ?? 0)), [0, 42, 84]);
});

Deno.test("drive() gives a Pod back whose price is above the cap", async () => {
  const story = await simulate({ runpod: { cost: 5 } });
  assert.deepEqual(story.ledger.outcome, { kind: "too_expensive", hourlyUsd: 5 });
  assertNoPod(story);
});

for (const status of ["EXITED", "ERROR"] as const) {
  Deno.test(`drive() deletes a Pod that is ${status} before ssh, and tries the next GPU`, async () => {
    const simulation: Simulation = new Simulation({
      recipe: await exampleRecipe(),
      runpod: {
        misfortune: () => {
          const [first] = simulation.api.pods;
          if (first?.status === "PROVISIONING") first.status = status;
          return undefined;
        },
      },
    });
    const ledger = await simulation.train();
    assert.deepEqual(ledger.outcome, { kind: "trained", copy: "hub" });
    assert.deepEqual(gpusAsked(simulation), ["A40", "RTX A6000"]);
    assert.equal(simulation.api.mostAlive, 1);
    assertNoPod({ simulation, ledger });
  });
}

Deno.test("drive() gives up Pods that never answer over ssh", async () => {
  const story = await simulate({ sshAfterSec: Infinity });
  assert.equal(story.ledger.outcome?.kind, "no_ssh");
  assert.equal(story.simulation.api.pods.length, 3);
  assertNoPod(story);
});

for (const proof of [403, 0]) {
  Deno.test(`drive() does not train beside a watchdog that gets ${proof}`, async () => {
    const story = await simulate({ proof });
    assert.deepEqual(story.ledger.outcome, { kind: "unproved", status: proof });
    assert.ok(!story.simulation.story.includes("begin_training"));
    assertNoPod(story);
  });
}

Deno.test("drive() adopts the Pod of a request that failed after it had made one", async () => {
  for (const listLag of [0, 1, 2]) {
    const story = await simulate({
      runpod: {
        listLag,
        misfortune: ({ method, path, number }) =>
          method === "POST" && path === "/v2/pods" && number === 0
            ? { kind: "answer", when: "after", response: () => new Response("oops", { status: 500 }) }
            : undefined,
      },
    });
    assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
    assert.equal(gpusAsked(story.simulation).length, 1);
    assertNoPod(story);
  }
});

Deno.test("drive() follows pages of the list, and takes half a list for none", async () => {
  const story = await simulate({ runpod: { pageSize: 1 } });
  assertNoPod(story);
});

Deno.test("drive() waits for a Pod that is shown as TERMINATED for a while", async () => {
  const story = await simulate({ runpod: { terminatedPolls: 3 } });
  assertNoPod(story);
});

Deno.test("drive() says so when deletion cannot be proved, and proves it when run again", async () => {
  let broken = true;
  const { simulation, ledger } = await simulate({
    exitCode: 1,
    runpod: {
      misfortune: ({ method }) =>
        broken && method === "DELETE"
          ? { kind: "answer", when: "before", response: () => new Response("down", { status: 503 }) }
          : undefined,
    },
  });
  assert.equal(ledger.unproved, true);
  assert.notEqual(ledger.phase, "done");
  assert.ok(!JSON.stringify(ledger).includes("rpa_"));
  broken = false;
  const later = await simulation.train();
  assertNoPod({ simulation, ledger: later });
  assert.equal(later.outcome?.kind, "training_failed");
});

Deno.test("drive() finds exit code 0 beside an old log after two hours of sleep past the limit", async () => {
  const simulation: Simulation = new Simulation({
    recipe: await exampleRecipe({ limit_hours: 2 }),
    trainingSec: 3000,
    hook: (name, when) => {
      if (name === "wait" && when === "before" && simulation.story.at(-2) === "begin_training") {
        simulation.clock.jump(2 * 3600_000);
      }
    },
  });
  const ledger = await simulation.train();
  assert.deepEqual(ledger.outcome, { kind: "trained", copy: "hub" });
});

/** Who hears the signals of the run that goes on. */
let listeners = (): (() => void)[] => [];

/** Sends so many signals when the effect comes up for the `nth` time, and tells how long the run then took. */
async function interrupted(effect: string, nth: number, signals: number, options: Options = {}) {
  let met = 0;
  let sentAt = 0;
  const simulation: Simulation = new Simulation({
    ...options,
    recipe: await exampleRecipe(options.recipe),
    hook: (name, when) => {
      listeners = () => [...simulation.listeners];
      if (name !== effect || when !== "before" || ++met !== nth) return;
      sentAt = simulation.clock.now().getTime();
      for (let sent = 0; sent < signals; sent++) simulation.signal();
    },
  });
  const ledger = await simulation.train();
  return { simulation, ledger, seconds: (simulation.clock.now().getTime() - sentAt) / 1000 };
}

for (
  const effect of ["POST /v2/pods", "ssh sign", "ssh begin step", "ssh begin training", "ssh look", "wait"]
) {
  Deno.test(`drive() ends at once at a signal during \`${effect}\``, async () => {
    const story = await interrupted(effect, 1, 1, { trainingSec: Infinity });
    assert.deepEqual(story.ledger.outcome, { kind: "interrupted" });
    assert.ok(story.seconds <= 60, `${story.seconds} s`);
    assertNoPod(story);
  });
}

Deno.test("drive() ends at once at a signal in the middle of a training, with its logs", async () => {
  const story = await interrupted("ssh look", 5, 1, { trainingSec: Infinity });
  assert.deepEqual(story.ledger.outcome, { kind: "interrupted" });
  assert.equal(story.simulation.logsFetched, 1);
  assert.ok(story.seconds <= 60, `${story.seconds} s`);
  assertNoPod(story);
});

Deno.test("drive() finds at a signal that the training has succeeded, and defers it", async () => {
  // The training of 3600 s ends between two looks, and the signal comes before the second.
  const story = await interrupted("ssh look", 13, 1, { trainingSec: 3590 });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assert.equal(story.ledger.deferred, true);
});

Deno.test("drive() defers the first signal after the success until copy and deletion", async () => {
  const story = await interrupted("ssh begin upload", 1, 1);
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assert.deepEqual(story.simulation.hub, files);
  assert.equal(story.simulation.home, null);
  assert.deepEqual(story.simulation.api.alive(), []);
  // Brought home by the next run.
  assert.equal((await story.simulation.train()).phase, "done");
  assert.deepEqual(story.simulation.home, files);
});

Deno.test("drive() deletes at once at a second signal after the success, and says that the checkpoint is lost", async () => {
  const story = await interrupted("ssh look upload", 2, 2);
  assert.deepEqual(story.ledger.outcome, { kind: "lost", why: "signal" });
  assert.ok(story.seconds <= 30, `${story.seconds} s`);
  assertNoPod(story);
});

Deno.test("drive() ends a run that `stop` takes over, whatever its phase, and may be told so again", async () => {
  for (
    const effect of ["POST /v2/pods", "ssh begin training", "ssh look", "ssh begin upload", "hub download"]
  ) {
    let killed = () => {};
    const death = new Promise<"killed">((resolve) => killed = () => resolve("killed"));
    const simulation: Simulation = new Simulation({
      recipe: await exampleRecipe(),
      hook: (name, when) => {
        if (name !== effect || when !== "after") return;
        killed();
        simulation.kill();
        return new Promise(() => {});
      },
    });
    assert.equal(await Promise.race([simulation.train(), death]), "killed");
    simulation.withoutHook();
    for (let times = 0; times < 2; times++) {
      const at = Math.floor(simulation.clock.now().getTime() / 1000);
      const ledger = await simulation.train({ kind: "stop", at });
      assert.deepEqual(simulation.api.alive(), [], effect);
      assert.equal(ledger.unproved, false);
      assert.equal(simulation.api.mostAlive, 1);
    }
  }
});

Deno.test("drive() lets go after a fourth signal while the Pod cannot be deleted, and says so", async () => {
  const story = await interrupted("ssh look", 2, 1, {
    trainingSec: Infinity,
    runpod: {
      misfortune: ({ method, number }) => {
        if (method !== "DELETE") return undefined;
        if (number > 0) {
          for (let sent = 0; sent < 3; sent++) for (const listener of listeners()) listener();
        }
        return { kind: "answer", when: "before", response: () => new Response("down", { status: 503 }) };
      },
    },
  });
  assert.equal(story.ledger.unproved, true);
  assert.ok(story.seconds <= 120, `${story.seconds} s`);
});

Deno.test("drive() takes new host keys only of a container that the service says was restarted, and looks what it left", async () => {
  const ended = await simulate({ restartAfterSec: 4000 });
  assert.deepEqual(ended.ledger.outcome, { kind: "trained", copy: "hub" });
  const broken = await simulate({ restartAfterSec: 900 });
  assert.deepEqual(broken.ledger.outcome, { kind: "training_failed", reason: "vanished", exitCode: null });
  assertNoPod(broken);
  // Keys that change without a restart are somebody else's; the run waits for its limit.
  const simulation: Simulation = new Simulation({
    recipe: await exampleRecipe(),
    restartAfterSec: 900,
    hook: () => {
      for (const pod of simulation.api.pods) pod.containerAt = pod.createdAt;
    },
  });
  const ledger = await simulation.train();
  assert.deepEqual(ledger.outcome, { kind: "training_failed", reason: "limit", exitCode: null });
  assertNoPod({ simulation, ledger });
});

Deno.test("drive() rents nothing when its record cannot be written", async () => {
  const story = await simulate({
    hook: (name, when) => {
      if (name === "write ledger" && when === "before") throw new Error("disk full");
    },
  });
  assert.deepEqual(story.ledger.outcome, { kind: "fault", detail: "disk full" });
  assert.equal(story.simulation.api.pods.length, 0);
});

Deno.test("drive() goes on from memory when its record can no longer be written", async () => {
  let written = 0;
  const story = await simulate({
    hook: (name, when) => {
      if (name === "write ledger" && when === "before" && ++written > 3) throw new Error("disk full");
    },
  });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assertNoPod(story);
});

Deno.test("drive() looks for a Pod until the list can be read again, before it asks for another", async () => {
  let lists = 0;
  const story = await simulate({
    runpod: {
      misfortune: ({ method, path }) => {
        if (method === "POST") return lists === 0 ? { kind: "drop", when: "after" } : undefined;
        if (!path.startsWith("/v2/pods?")) return undefined;
        const down = () => new Response("down", { status: 503 });
        return ++lists <= 20 ? { kind: "answer", when: "before", response: down } : undefined;
      },
    },
  });
  assert.deepEqual(story.ledger.outcome, { kind: "trained", copy: "hub" });
  assert.equal(gpusAsked(story.simulation).length, 1);
  assertNoPod(story);
});
