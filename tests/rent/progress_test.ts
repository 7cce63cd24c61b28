import assert from "node:assert/strict";
import fc from "fast-check";
import {
  barText,
  type ProgressStyle,
  readBar,
  readProgress,
  readSteps,
  readTroubles,
} from "../../lib/rent/progress.ts";

const openpi: ProgressStyle = { style: "openpi" };
const tqdm: ProgressStyle = { style: "tqdm" };
const pytorch: ProgressStyle = { style: "pytorch" };

// Formats from openpi's and tqdm-loggable's sources; values invented.
const openpiLog = [
  "08:30:39.512 [I] Running on: 3f1c2b7d9a10                                            (1234:train.py:195)",
  "08:32:51.004 [I] Progress on: -/30000 rate:- remaining:? elapsed:00:00 postfix:-     (1234:tqdm_logging.py:145)",
  "Step 0: grad_norm=3.9338, loss=0.1572, param_norm=1803.1234",
  "08:35:02.771 [I] Progress on: 53.0it/30.0kit rate:1.6s/it remaining:13:18:22 elapsed:02:11 postfix:- (1234:x:145)",
  "Step 100: grad_norm=1.1378, loss=0.0648, param_norm=1803.7704",
  "16:01:44.903 [I] Progress on: 2.60kit/30.0kit rate:1.8s/it remaining:13:42:10 elapsed:1:27:12 postfix:- (1:x:1)",
  "21:40:10.001 [I] Waiting for checkpoint manager to finish                            (1234:train.py:274)",
  "",
].join("\n");

Deno.test("readProgress() reads openpi's log: the bar as a range, the step exactly", () => {
  const { bar, logged } = readProgress(openpiLog, openpi);
  assert.deepEqual(bar, {
    counts: "2.60k/30.0k",
    done: { atLeast: 2595, atMost: 2605 },
    total: { atLeast: 29950, atMost: 30050 },
    rate: "1.8s/it",
    remaining: "13:42:10",
  });
  assert.deepEqual(logged, { step: 100, loss: 0.0648 });
  assert(bar !== null);
  assert.equal(barText(bar), "2.60k/30.0k  1.8s/it  13:42:10");
});

Deno.test("readProgress() never takes 30.0kit for the last step", () => {
  const line = "1 [I] Progress on: 30.0kit/30.0kit rate:1.8s/it remaining:00:00 elapsed:9:27:12 postfix:-\n";
  const { bar, logged } = readProgress(line, openpi);
  assert.equal(logged, null);
  assert(bar !== null && bar.done.atLeast <= 29950 && bar.done.atMost >= 29999);
});

Deno.test.each(
  [
    ["5.00it", 5, 5],
    ["53.0it", 53, 53],
    ["100it", 100, 100],
    ["999it", 999, 999],
    ["1.00kit", 995, 1005],
    ["12.3kit", 12250, 12350],
    ["100kit", 99500, 100500],
    ["1.50Mit", 1_495_000, 1_505_000],
  ] as const,
)("readBar() reads %s as %i to %i", (text, atLeast, atMost) => {
  const bar = readBar(
    `Progress on:training ${text}/30.0kit rate:2.1it/s remaining:? elapsed:00:10 postfix:-`,
  );
  assert.deepEqual(bar?.done, { atLeast, atMost });
  assert.equal(bar?.remaining, null);
});

Deno.test("readBar() of a bar that has not begun is none", () => {
  assert.equal(readBar("Progress on: -/30000 rate:- remaining:? elapsed:00:00 postfix:-"), null);
});

Deno.test("readProgress() reads plain tqdm, redrawn after carriage returns and cut at both ends", () => {
  const bar = (n: number, loss: string) =>
    `\rTraining:  ${n}%|${"█".repeat(3)}▏     | ${n}00/30000 [02:41<13:20:11,  1.61s/it, loss=${loss}]`;
  const log = "0/30000 [02:41<13" + bar(1, "0.5") + bar(2, "0.4") + bar(3, "0.3") + "\rTraining:  4%|███ | 4";
  const { bar: last, logged } = readProgress(log, tqdm);
  assert.deepEqual(last?.done, { atLeast: 300, atMost: 300 });
  assert.equal(last?.rate, "1.61s/it");
  assert.equal(last?.remaining, "13:20:11");
  assert.deepEqual(logged, { step: 300, loss: 0.3 });
  assert.deepEqual(readSteps(log, tqdm).map(({ step }) => step), [100, 200, 300]);
  assert.equal(readProgress(log, openpi).logged, null);
});

Deno.test("readBar() reads a bar before its first step", () => {
  const bar = readBar("  0%|          | 0/1500 [00:00<?, ?it/s]");
  assert.deepEqual(bar, {
    counts: "0/1500",
    done: { atLeast: 0, atMost: 0 },
    total: { atLeast: 1500, atMost: 1500 },
    rate: null,
    remaining: null,
  });
});

Deno.test.each(
  [
    ["step=100 loss=0.1234 lr=2.50e-05 grad_norm=1.20 time=3.1s", 100, 0.1234],
    ["[12:00:00] Step: 7, Loss: 1.5e-3", 7, 0.0015],
    ["global_step=100 train_loss=1 step=3 loss=2", 3, 2],
    ["step=9 loss=nan", 9, NaN],
    ["step=9 loss=-inf", 9, -Infinity],
    ["step=9", 9, null],
    ["step=1.5 loss=3", null, null],
  ] as const,
)("readSteps() reads a PyTorch line: %s", (line, step, loss) => {
  const read = readSteps(`${line}\r\n`, pytorch).at(-1);
  assert.equal(read?.step ?? null, step);
  assert(Object.is(read?.loss ?? null, loss));
});

Deno.test("readSteps() keeps a loss that is no number as it was printed", () => {
  const log =
    "Step 100: grad_norm=nan, loss=nan, param_norm=1\nStep 200: grad_norm=1, loss=inf, param_norm=1\n";
  assert.deepEqual(readSteps(log, openpi), [{ step: 100, loss: NaN }, { step: 200, loss: Infinity }]);
});

Deno.test("readSteps() leaves a line out whose end has not come, because its numbers may be cut", () => {
  assert.deepEqual(readSteps("Step 100: loss=0.5, x=1\nStep 200: loss=0.06", openpi), [{
    step: 100,
    loss: 0.5,
  }]);
  assert.deepEqual(readSteps("ep 100: loss=0.5, x=1\n00: loss=0.5\n", openpi), []);
});

Deno.test("readSteps() takes a recipe's patterns: the step, and the loss on its line or after it", () => {
  const style: ProgressStyle = {
    style: "openpi",
    step: String.raw`iter (\d+)`,
    loss: String.raw`L=(?<loss>\S+)`,
  };
  const log = "iter 10\nL=0.5\nL=0.4\nStep 99: loss=9, x\niter 20 L=0.3\nL=what\n";
  assert.deepEqual(readSteps(log, style), [{ step: 10, loss: 0.4 }, { step: 20, loss: 0.3 }]);
});

Deno.test("readTroubles() finds the lines that sound like a cause", () => {
  const log =
    "fine\nTraceback (most recent call last):\n  File\nValueError: Cannot resume\nRESOURCE_EXHAUSTED: Out of memory\n";
  assert.deepEqual(readTroubles(log, 2), ["ValueError: Cannot resume", "RESOURCE_EXHAUSTED: Out of memory"]);
});

const pieces = fc.constantFrom(
  "Progress on:",
  " 2.60kit/30.0kit",
  " rate:",
  "remaining:",
  "elapsed:1",
  "Step 12: ",
  "loss=",
  "nan",
  "9".repeat(20),
  "50%|",
  "| 1/2 [0:01<",
  "]",
  "\r",
  "\n",
  "\x1b[31m",
);

Deno.test("readProgress() answers for any text", () => {
  const text = fc.array(fc.oneof(pieces, fc.string({ unit: "binary" }))).map((parts) => parts.join(""));
  fc.assert(fc.property(text, fc.constantFrom(openpi, tqdm, pytorch), (log, style) => {
    const { bar, logged } = readProgress(log, style);
    if (bar !== null) {
      assert(bar.done.atLeast <= bar.done.atMost);
      // deno-lint-ignore no-control-regex
      assert(!/[\u0000-\u001f]/.test(barText(bar)));
    }
    if (logged !== null) assert(Number.isSafeInteger(logged.step));
    readTroubles(log, 3);
  }));
});

Deno.test("readProgress() passes over a line of a hundred thousand characters", () => {
  assert.deepEqual(readProgress("Progress on: ".repeat(100_000) + "\nStep 1: loss=2, x=3\n", openpi), {
    bar: null,
    logged: { step: 1, loss: 2 },
  });
});
