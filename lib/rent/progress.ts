import { sanitizeLine } from "../text/sanitize.ts";

/**
 * Reads how far a training is from what it prints. Three ways of printing are known: tqdm's bar (redrawn after `\r`),
 * tqdm-loggable's lines (openpi without a terminal) and `step=… loss=…` lines; a recipe may bring its own patterns. Nothing here
 * says that a training has *finished*: only its exit code and its last checkpoint do.
 */

/** Whole steps that a bar may stand for. tqdm prints three digits, so `30.0kit` is any step from 29950 to 30050. */
export interface StepRange {
  readonly atLeast: number;
  readonly atMost: number;
}

export interface ProgressBar {
  /** As printed, without `it`: `2.60k/30.0k`. */
  readonly counts: string;
  readonly done: StepRange;
  readonly total: StepRange | null;
  /** As printed, such as `1.6s/it`; `null` when unknown. */
  readonly rate: string | null;
  /** As printed, such as `13:18:22`; `null` when unknown. */
  readonly remaining: string | null;
}

/** A line that names its step exactly. */
export interface LoggedStep {
  readonly step: number;
  /** May be `NaN` or infinite, as printed; `null` when there is none. */
  readonly loss: number | null;
}

export interface Progress {
  readonly bar: ProgressBar | null;
  readonly logged: LoggedStep | null;
}

/** How a training prints its progress: `train.progress` of a recipe. */
export interface ProgressStyle {
  readonly style: "openpi" | "tqdm" | "pytorch";
  /** Regular expression whose first group is the step; in place of the style's own. */
  readonly step?: string | undefined;
  /** Regular expression whose first group is the loss, on the line of the step or after it. */
  readonly loss?: string | undefined;
}

/** Longest line that is looked at, in characters: a pattern of a recipe must not run away on a binary blob. */
const maxLine = 4096;

const number = String.raw`[-+]?(?:\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+|nan|NaN|NAN|inf|Infinity)`;
const builtIn: Readonly<Record<"openpi" | "pytorch", readonly [step: RegExp, loss: RegExp]>> = {
  // `Step 100: grad_norm=1.1378, loss=0.0648, param_norm=1803.7704`
  openpi: [/^\s*Step (\d{1,12}): /, new RegExp(String.raw`^\s*Step \d+: .*?\bloss=(${number})(?![\w.])`)],
  // `step=100 loss=0.1234 lr=2.5e-05 grad_norm=1.2 time=3.1s`
  pytorch: [
    /(?<![\w-])step[=:] ?(\d{1,12})(?![\w.])/i,
    new RegExp(String.raw`(?<![\w-])loss[=:] ?(${number})(?![\w.])`, "i"),
  ],
};
const loggableBar =
  /\bProgress on:.*? ?(\d[\d.]*[kMGT]?)(?:it)?\/(\d[\d.]*[kMGT]?|\?)(?:it)? rate:(\S+) remaining:(\S+) elapsed:\S+/;
const tqdmBar =
  /\d+%\|[^|]*\| *(\d[\d.]*[kMGT]?)\/(\d[\d.]*[kMGT]?) \[[\d:]+<([^,\]]+),\s*([^,\]]+)([^\]]*)\]/;
const barLoss = new RegExp(String.raw`\bloss[=:] ?(${number})(?![\w.])`, "i");

/** The last bar and the last logged step of a log, or of its tail. Total: any text whatever gives an answer. */
export function readProgress(log: string, style: ProgressStyle): Progress {
  const lines = log.split(/\r\n|\n|\r/);
  let bar: ProgressBar | null = null;
  for (let at = lines.length - 1; at >= 0 && bar === null; at--) bar = readBar(lines[at] ?? "");
  return { bar, logged: readSteps(log, style).at(-1) ?? null };
}

/** Every logged step, in the order of the log. A step that is logged again on the next lines counts once. */
export function readSteps(log: string, style: ProgressStyle): LoggedStep[] {
  const read = lineReader(style);
  const steps: LoggedStep[] = [];
  // The last line has no end yet: a number in it may be cut.
  for (const line of log.split(/\r\n|\n|\r/).slice(0, -1)) {
    if (line.length > maxLine) continue;
    const last = steps.at(-1);
    const { step, loss } = read(line);
    if (step !== null && step !== last?.step) steps.push({ step, loss });
    else if (last !== undefined && loss !== null) steps.splice(-1, 1, { step: last.step, loss });
  }
  return steps;
}

/** The bar of one line. */
export function readBar(line: string): ProgressBar | null {
  if (line.length > maxLine) return null;
  const loggable = loggableBar.exec(line);
  if (loggable !== null) return bar(loggable[1], loggable[2], loggable[3], loggable[4]);
  const plain = tqdmBar.exec(line);
  return plain === null ? null : bar(plain[1], plain[2], plain[4], plain[3]);
}

/** A bar in a few characters: `2.60k/30.0k  1.8s/it  13:42:10`. Safe to show: only what the patterns let through. */
export function barText(bar: ProgressBar): string {
  return sanitizeLine([bar.counts, bar.rate, bar.remaining].filter((part) => part !== null).join("  "));
}

type LineReader = (line: string) => { readonly step: number | null; readonly loss: number | null };

function lineReader(style: ProgressStyle): LineReader {
  const own = style.step === undefined ? undefined : new RegExp(style.step, "u");
  const ownLoss = style.loss === undefined ? undefined : new RegExp(style.loss, "u");
  if (style.style === "tqdm" && own === undefined) {
    return (line) => {
      const found = tqdmBar.exec(line);
      const done = stepRange(found?.[1]);
      return {
        step: done !== null && done.atLeast === done.atMost ? done.atLeast : null,
        loss: lossOf((ownLoss ?? barLoss).exec(ownLoss === undefined ? found?.[5] ?? "" : line)?.[1]),
      };
    };
  }
  const [step, loss] = builtIn[style.style === "tqdm" ? "pytorch" : style.style];
  return (line) => ({
    step: wholeStep((own ?? step).exec(line)?.[1]),
    loss: lossOf((ownLoss ?? loss).exec(line)?.[1]),
  });
}

const troubles =
  /Traceback \(most recent call last\)|RESOURCE_EXHAUSTED|XlaRuntimeError|out of memory|\b\w*(?:Error|Exception): |No space left on device|^Killed$/i;

/** The last lines that sound like the cause of a failure, oldest first. Unsanitised, as the log has them. */
export function readTroubles(log: string, count: number): string[] {
  return log.split(/\r\n|\n|\r/).filter((line) => line.length <= maxLine && troubles.test(line)).slice(
    -count,
  );
}

function bar(
  done: string | undefined,
  total: string | undefined,
  rate: string | undefined,
  remaining: string | undefined,
): ProgressBar | null {
  const range = stepRange(done);
  return range === null ? null : {
    counts: `${done}/${total}`,
    done: range,
    total: stepRange(total),
    rate: known(rate),
    remaining: known(remaining),
  };
}

function known(text: string | undefined): string | null {
  const trimmed = text?.trim() ?? "";
  return trimmed === "" || trimmed.startsWith("?") || trimmed === "-" ? null : trimmed;
}

const factors: Readonly<Record<string, number>> = { "": 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12 };

// tqdm's format_sizeof: three digits and a unit of thousands, rounded
// (https://github.com/tqdm/tqdm/blob/v4.67.1/tqdm/std.py, format_sizeof).
function stepRange(text: string | undefined): StepRange | null {
  const [, digits = "", fraction = "", unit = ""] =
    /^(\d{1,15})(?:\.(\d{1,6}))?([kMGT]?)$/.exec(text ?? "") ?? [];
  const factor = factors[unit];
  if (digits === "" || factor === undefined) return null;
  const places = 10 ** fraction.length;
  const scaled = Number(digits + fraction);
  if (factor === 1) {
    const step = Math.round(scaled / places);
    return { atLeast: step, atMost: step };
  }
  const half = factor / places / 2;
  const value = scaled * (factor / places);
  return { atLeast: Math.ceil(value - half), atMost: Math.floor(value + half) };
}

function wholeStep(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function lossOf(text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^[-+]?nan$/i.test(text)) return NaN;
  if (/^[-+]?inf(inity)?$/i.test(text)) return text.startsWith("-") ? -Infinity : Infinity;
  const value = Number(text);
  return text.trim() === "" || Number.isNaN(value) ? null : value;
}
