import { readFields } from "../job/list.ts";
import { barText, type ProgressStyle, readProgress } from "./progress.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import type { TrainingStatus } from "./types.ts";

/** A checkpoint's folder, named by its step. */
export interface CheckpointSeen {
  readonly step: number;
  /** Whether its commit marker says that it is whole. */
  readonly committed: boolean;
}

/** What one ssh call saw of a task on the Pod. Every time is by the Pod's own clock. */
export interface TrainingLook {
  /** Whether the Pod knows the task at all; a restarted container with an empty disk does not. */
  readonly known: boolean;
  /** The task's random id, to tell it from an earlier one of the same name. */
  readonly id: string;
  readonly running: boolean;
  /** `null` while there is none: the task runs, or was killed from outside. */
  readonly exitCode: number | null;
  /** Unix time of the start and the end. */
  readonly began: number | null;
  readonly ended: number | null;
  /** Seconds since the log was written to; `null` when there is none. */
  readonly logAgeSeconds: number | null;
  /** Bytes in the log. */
  readonly logSize: number;
  /** The log's last 256 KiB. */
  readonly logTail: string;
  /** Highest step first. */
  readonly checkpoints: readonly CheckpointSeen[];
}

/**
 * A look as the story tells it. The checkpoint is the expected one as soon as it is there, else the highest: an older
 * run may have left a higher number behind.
 */
export function trainingStatus(look: TrainingLook, style: ProgressStyle, expected: number): TrainingStatus {
  const { bar, logged } = readProgress(look.logTail, style);
  const checkpoint = look.checkpoints.find(({ step }) => step === expected) ?? look.checkpoints[0];
  return {
    running: look.running,
    exitCode: look.exitCode,
    logAgeSec: look.logAgeSeconds,
    bar: bar === null ? "" : barText(bar),
    step: logged?.step ?? null,
    loss: logged?.loss ?? null,
    checkpoint: checkpoint?.step ?? null,
    committed: checkpoint?.committed ?? false,
  };
}

/** Reads the answer of `lookScript`; `undefined` when it makes no sense, which is "cannot tell". */
export function readTrainingLook(transcript: Transcript): TrainingLook | undefined {
  const task = sectionOf(transcript, "task");
  if (!transcript.complete || task === undefined || task.status !== 0) return undefined;
  const fields = readFields(task.text);
  if (fields["known"] !== "0" && fields["known"] !== "1") return undefined;
  return {
    known: fields["known"] === "1",
    id: /^[0-9a-f]{32}$/.test(fields["id"] ?? "") ? fields["id"] ?? "" : "",
    running: fields["running"] === "1",
    exitCode: wholeNumber(fields["code"]),
    began: wholeNumber(fields["began"]),
    ended: wholeNumber(fields["ended"]),
    logAgeSeconds: wholeNumber(fields["log_age"]),
    logSize: wholeNumber(fields["log_size"]) ?? 0,
    logTail: sectionOf(transcript, "log")?.text ?? "",
    checkpoints: readCheckpoints(sectionOf(transcript, "checkpoints")?.text ?? ""),
  };
}

function readCheckpoints(text: string): CheckpointSeen[] {
  return text.split("\n").flatMap((line) => {
    const [, step, committed] = /^(\d{1,12}) ([01])$/.exec(line) ?? [];
    return step === undefined ? [] : [{ step: Number(step), committed: committed === "1" }];
  }).sort((a, b) => b.step - a.step);
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
