/** The story of a rented training in data: what the Pod says, what was judged, what was kept. */

/** One regular file of a checkpoint; `path` is relative to the checkpoint's folder, with `/`. */
export interface PodFile {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Lower-case hexadecimal. */
  readonly sha256: string;
  /** What git calls the blob, in lower-case hexadecimal: the Hub knows small files only by it. */
  readonly gitSha1: string;
}

/** What one look at the Pod says of the training. `null` is "no reading". */
export interface TrainingStatus {
  readonly running: boolean;
  /** The training's exit code once it has ended by itself. */
  readonly exitCode: number | null;
  /** Seconds since the log was last written, by the Pod's own clock. */
  readonly logAgeSec: number | null;
  /** Text of the progress bar, sanitised; may be empty. */
  readonly bar: string;
  /** Last logged step. */
  readonly step: number | null;
  readonly loss: number | null;
  /** Number of the last checkpoint's folder. */
  readonly checkpoint: number | null;
  /** Whether that checkpoint has its commit marker. */
  readonly committed: boolean;
}

/** Why a training counts as failed. */
export type TrainingFailure =
  /** It ended with another exit code than 0. */
  | "exit_code"
  /** The process is gone and left no exit code. */
  | "vanished"
  /** The log has been silent for too long. */
  | "silent"
  /** The time limit is over. */
  | "limit"
  /** Exit code 0, but the last checkpoint is not there or not committed. */
  | "incomplete"
  /** The Pod does not run any more. */
  | "pod_stopped";

export type TrainingVerdict =
  | { readonly kind: "running" }
  | { readonly kind: "succeeded"; readonly step: number }
  | { readonly kind: "failed"; readonly reason: TrainingFailure };

/** What a look is judged by, besides the status itself. */
export interface TrainingLimits {
  /** The checkpoint with which the training is complete. */
  readonly expectedCheckpoint: number;
  /** A log older than this, in seconds, is silent. */
  readonly silentSec: number;
  /** Whether the time limit has passed, by this machine's clock. */
  readonly pastLimit: boolean;
}
