import assert from "node:assert/strict";
import {
  judgeTraining,
  silentSeconds,
  type TrainingSight,
  triesPastLimit,
} from "../../lib/rent/judge_training.ts";
import { type TrainingLook, trainingStatus } from "../../lib/rent/training_look.ts";
import type { TrainingStatus } from "../../lib/rent/types.ts";

const status = (changes: Partial<TrainingStatus> = {}): TrainingStatus => ({
  running: true,
  exitCode: null,
  logAgeSec: 3,
  bar: "",
  step: 100,
  loss: 0.1,
  checkpoint: 1000,
  committed: true,
  ...changes,
});

const judge = (sight: TrainingSight, pastLimit = false) => {
  const verdict = judgeTraining(sight, { expectedCheckpoint: 1499, silentSec: silentSeconds, pastLimit });
  return verdict.kind === "failed" ? verdict.reason : verdict.kind;
};

const finished = { running: false, exitCode: 0, checkpoint: 1499, committed: true } as const;

Deno.test.each(
  [
    ["runs", status(), false, "running"],
    [
      "runs before its log exists",
      status({ logAgeSec: null, checkpoint: null, committed: false }),
      false,
      "running",
    ],
    ["has finished", status(finished), false, "succeeded"],
    ["has finished while this machine slept", status({ ...finished, logAgeSec: 7200 }), true, "succeeded"],
    [
      "has its exit code while the keeper still ends",
      status({ ...finished, running: true }),
      true,
      "succeeded",
    ],
    ["ended with another code", status({ ...finished, exitCode: 1 }), false, "exit_code"],
    ["was killed by a signal", status({ ...finished, exitCode: 137 }), true, "exit_code"],
    [
      "ended well without its last checkpoint",
      status({ ...finished, checkpoint: 1000 }),
      false,
      "incomplete",
    ],
    ["ended well without any checkpoint", status({ ...finished, checkpoint: null }), false, "incomplete"],
    [
      "ended well with a checkpoint half written",
      status({ ...finished, committed: false }),
      false,
      "incomplete",
    ],
    [
      "has its last checkpoint but still runs",
      status({ ...finished, running: true, exitCode: null }),
      false,
      "running",
    ],
    ["is gone without an exit code", status({ running: false }), false, "vanished"],
    ["is gone, late and silent", status({ running: false, logAgeSec: 9999 }), true, "vanished"],
    ["is silent for 30 minutes", status({ logAgeSec: 1800 }), false, "running"],
    ["is silent for longer", status({ logAgeSec: 1801 }), false, "silent"],
    ["is past the limit", status(), true, "limit"],
    ["is past the limit and silent", status({ logAgeSec: 1801 }), true, "limit"],
  ] as const,
)("judgeTraining() of a training that %s", (_what, sight, pastLimit, expected) => {
  assert.equal(judge(sight, pastLimit), expected);
});

Deno.test("judgeTraining() takes an unreachable Pod for no failure until several tries after the limit", () => {
  assert.equal(judge({ unreachablePastLimit: 0 }), "running");
  assert.equal(judge({ unreachablePastLimit: 99 }), "running");
  assert.equal(judge({ unreachablePastLimit: 1 }, true), "running");
  assert.equal(judge({ unreachablePastLimit: triesPastLimit }, true), "limit");
});

Deno.test("judgeTraining() of a Pod that the service says is not running", () => {
  assert.equal(judge("pod_stopped"), "pod_stopped");
});

const look: TrainingLook = {
  known: true,
  id: "",
  running: true,
  exitCode: null,
  began: 1,
  ended: null,
  logAgeSeconds: 4,
  logSize: 10,
  logTail: "Step 100: loss=0.5, x=1\n",
  checkpoints: [],
};

Deno.test("trainingStatus() reports the expected checkpoint beside a higher number that an older run left", () => {
  const checkpoints = [{ step: 3999, committed: true }, { step: 1499, committed: false }];
  const { checkpoint, committed, step, loss } = trainingStatus(
    { ...look, checkpoints },
    { style: "openpi" },
    1499,
  );
  assert.deepEqual({ checkpoint, committed, step, loss }, {
    checkpoint: 1499,
    committed: false,
    step: 100,
    loss: 0.5,
  });
  assert.equal(trainingStatus({ ...look, checkpoints }, { style: "openpi" }, 1500).checkpoint, 3999);
  assert.equal(trainingStatus(look, { style: "openpi" }, 1500).checkpoint, null);
});
