import type { TrainingFailure, TrainingLimits, TrainingStatus, TrainingVerdict } from "./types.ts";

/** What a look at a training gave. */
export type TrainingSight =
  | TrainingStatus
  /** No answer over ssh, for the n-th time in a row since the time limit passed (0 before it). */
  | { readonly unreachablePastLimit: number }
  /** The service itself says that the Pod does not run any more. */
  | "pod_stopped";

/** Seconds of silence in a log that count as hung. */
export const silentSeconds = 30 * 60;
/**
 * Looks in a row that must fail after the limit before it counts. One is not enough: a machine that has just woken up
 * from a night's sleep is past the limit and has no network yet, and on the Pod lies a finished training.
 */
export const triesPastLimit = 5;

/**
 * Judges a look. Success comes first, whatever the clocks say: who slept for hours finds an old log, a passed limit and
 * exit code 0. The log's age and the limit count only while there is no exit code. Not to reach the Pod is no failure
 * of the training.
 */
export function judgeTraining(sight: TrainingSight, limits: TrainingLimits): TrainingVerdict {
  if (sight === "pod_stopped") return failed("pod_stopped");
  if ("unreachablePastLimit" in sight) {
    const over = limits.pastLimit && sight.unreachablePastLimit >= triesPastLimit;
    return over ? failed("limit") : { kind: "running" };
  }
  if (sight.exitCode === 0) {
    return sight.checkpoint === limits.expectedCheckpoint && sight.committed
      ? { kind: "succeeded", step: limits.expectedCheckpoint }
      : failed("incomplete");
  }
  if (sight.exitCode !== null) return failed("exit_code");
  if (!sight.running) return failed("vanished");
  if (limits.pastLimit) return failed("limit");
  if (sight.logAgeSec !== null && sight.logAgeSec > limits.silentSec) return failed("silent");
  return { kind: "running" };
}

function failed(reason: TrainingFailure): TrainingVerdict {
  return { kind: "failed", reason };
}
