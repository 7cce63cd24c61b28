import { join } from "node:path";
import type { ServerConfig } from "../config/remote.ts";
import type { SshSettings } from "../ssh/arguments.ts";
import { Connection, type SshDeps } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import { Backlog } from "./backlog.ts";
import type { Disk } from "./disk.ts";
import { Obstacle, placeTree, PlacingFailed, refuseObstacle } from "./place.ts";
import { Refusal } from "./refusal.ts";
import { type SendProblem, sendScript, sendValues } from "./send_script.ts";
import { readSent, type SendPlan, type Sent } from "./sent.ts";
import { Spool } from "./spool.ts";
import { removeLeftovers } from "./staging.ts";
import { type TarLimits, TarReader, type TarSummary } from "./tar_reader.ts";
import type { Pattern } from "./whitelist.ts";

export interface PullRequest {
  readonly server: ServerConfig;
  /** Checked with `faultOfRunId`. */
  readonly runId: string;
  readonly patterns: readonly Pattern[];
  readonly limits: TarLimits;
  /** The project's `runs` folder on this machine. */
  readonly runs: string;
  /** Ask what would come, and leave it at that. */
  readonly onlyPlan: boolean;
}

export interface PullDeps extends SshDeps {
  readonly disk: Disk;
  /** Milliseconds of silence after which the server is given up; 10 minutes where nothing is said. */
  readonly patience?: number;
}

/** Told what is known, as soon as it is. */
export interface PullListener {
  plan(plan: SendPlan): void;
  /** Another pull into the same folder has to end first. */
  waiting(): void;
  /** Bytes of the archive so far. */
  received(bytes: number): void;
}

/** How a pull ended. But for `placing`, whatever is not `done` has changed nothing on this machine. */
export type PullOutcome =
  | { readonly kind: "done"; readonly plan: SendPlan }
  | { readonly kind: "planned"; readonly plan: SendPlan }
  | { readonly kind: "problem"; readonly problem: SendProblem }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "tar_failed"; readonly status: number }
  | { readonly kind: "connection"; readonly failure: ConnectionFailure }
  | { readonly kind: "stalled"; readonly minutes: number }
  | { readonly kind: "not_understood" }
  | { readonly kind: "obstacle"; readonly obstacle: Obstacle["kind"] }
  | { readonly kind: "placing"; readonly problem: string }
  | { readonly kind: "disk"; readonly fault: DiskFault; readonly problem: string };

/** Why this machine could not take the files. */
export type DiskFault = "full" | "not_permitted" | "not_writable";

const defaultPatience = 10 * 60 * 1000;

/**
 * Pulls one run from one server over one connection. Files are placed only after the whole archive has come, every
 * member has been judged, and the server's own account of it (number, length, hash, tar's status) agrees.
 *
 * @throws {DOMException} `AbortError` when interrupted while waiting for another pull
 */
export async function pullRun(
  deps: PullDeps,
  settings: SshSettings,
  request: PullRequest,
  listener: PullListener,
): Promise<PullOutcome> {
  const spool = new Spool({ disk: deps.disk, runs: request.runs, random: deps.random });
  const destination = join(request.runs, request.runId);
  try {
    if (!request.onlyPlan) await clearTheWay(deps, request.runs, listener);
    // Told before hours of transfer rather than after; placing looks again.
    refuseObstacle(deps.disk, destination, "directory");
    const received = await receive(deps, settings, request, listener, spool);
    if (received.kind !== "received") return received;
    placeTree(deps.disk, spool.stage(), destination);
    return { kind: "done", plan: { ...received.plan, ...received.summary } };
  } catch (error) {
    return outcomeOf(error);
  } finally {
    spool.remove();
  }
}

/** Removes what a killed pull left; says so when one that is alive has to be waited for. */
async function clearTheWay(deps: PullDeps, runs: string, listener: PullListener): Promise<void> {
  const over = new AbortController();
  const { promise: interruption, reject } = Promise.withResolvers<never>();
  const interrupt = () => reject(deps.interrupted.reason);
  deps.interrupted.addEventListener("abort", interrupt, { once: true });
  void deps.clock.sleep(1000, over.signal).then(() => over.signal.aborted || listener.waiting());
  try {
    await Promise.race([removeLeftovers(deps.disk, runs), interruption]);
  } finally {
    over.abort();
    deps.interrupted.removeEventListener("abort", interrupt);
  }
}

type Received =
  | { readonly kind: "received"; readonly plan: SendPlan; readonly summary: TarSummary }
  | Exclude<PullOutcome, { kind: "done" }>;

async function receive(
  deps: PullDeps,
  settings: SshSettings,
  request: PullRequest,
  listener: PullListener,
  spool: Spool,
): Promise<Received> {
  const { server, runId, patterns, onlyPlan } = request;
  const reader = new TarReader(patterns, request.limits, spool);
  const backlog = new Backlog(reader, () => spool.useFiles());
  const connection = new Connection(deps, settings, server, {
    text: sendScript,
    values: sendValues({ remoteDir: server.remote_dir, runId, patterns, onlyPlan }),
    seconds: null,
  });
  const patience = deps.patience ?? defaultPatience;
  const watch = watchForSilence(deps, patience, () => connection.close());
  let sent: Sent;
  try {
    sent = await readSent(connection.body(), connection.nonce, {
      heard: watch.heard,
      plan(plan) {
        // What is too much already by the server's own account need not come first.
        if (plan.files > request.limits.maxMembers) throw new Refusal("too_many_members");
        if (plan.bytes > request.limits.maxBytes) throw new Refusal("too_large");
        backlog.expect(plan.bytes);
        listener.plan(plan);
      },
      archive(bytes) {
        backlog.push(bytes);
        listener.received(backlog.length);
      },
    });
  } finally {
    watch.end();
    // Also when a refusal ends the reading early: no more of it is wanted.
    await connection.close();
  }
  deps.interrupted.throwIfAborted();
  if (watch.silent()) return { kind: "stalled", minutes: Math.round(patience / 60_000) };
  if (!sent.complete) return { kind: "connection", failure: await connection.failure() };
  backlog.finish();
  return judgeSent(sent, reader, onlyPlan);
}

/** The last judgement, on an answer that came to its end. @throws {Refusal} */
function judgeSent(sent: Sent, reader: TarReader, onlyPlan: boolean): Received {
  const { plan, problem, trailer } = sent;
  if (problem !== undefined) return { kind: "problem", problem };
  if (plan === undefined) return { kind: "not_understood" };
  if (onlyPlan || (plan.files === 0 && reader.length === 0)) return { kind: "planned", plan };
  if (trailer === undefined) return { kind: "not_understood" };
  if (trailer.length !== reader.length) throw new Refusal("length_differs");
  if (trailer.sha256 !== sent.sha256) throw new Refusal("hash_differs");
  if (trailer.tar !== 0) return { kind: "tar_failed", status: trailer.tar };
  const summary = reader.finish();
  if (summary.files !== trailer.members || summary.files !== plan.files) throw new Refusal("count_differs");
  return { kind: "received", plan, summary };
}

/** Calls `giveUp` when nothing was heard for `patience` milliseconds. */
function watchForSilence(deps: Pick<PullDeps, "clock">, patience: number, giveUp: () => Promise<unknown>) {
  const over = new AbortController();
  let count = 0;
  let silent = false;
  void (async () => {
    while (!over.signal.aborted) {
      const before = count;
      await deps.clock.sleep(patience, over.signal);
      if (over.signal.aborted || count !== before) continue;
      silent = true;
      over.abort();
      await giveUp();
    }
  })();
  return {
    /** Something has come. */
    heard: () => void count++,
    silent: () => silent,
    end: () => over.abort(),
  };
}

/** @throws `error` itself, when it is none of the ways in which a pull may fail */
function outcomeOf(error: unknown): PullOutcome {
  if (error instanceof Refusal) return { kind: "refused", refusal: error };
  if (error instanceof Obstacle) return { kind: "obstacle", obstacle: error.kind };
  if (error instanceof PlacingFailed) {
    const { cause } = error;
    const problem = cause instanceof Obstacle ? cause.kind : systemCode(cause) ?? "?";
    // Nothing has changed yet: the same as a file system that does not take the files at all.
    if (!error.begun) {
      return cause instanceof Obstacle
        ? outcomeOf(cause)
        : { kind: "disk", fault: diskFault(cause), problem };
    }
    return { kind: "placing", problem };
  }
  const problem = systemCode(error);
  if (problem === undefined) throw error;
  return { kind: "disk", fault: diskFault(error), problem };
}

function diskFault(error: unknown): DiskFault {
  if (error instanceof Deno.errors.NotCapable) return "not_permitted";
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(systemCode(error) ?? "") ? "full" : "not_writable";
}

/** The system's short name of an error. Its sentence would name a path, and so maybe a member. */
function systemCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const { code } = error as { code?: unknown };
  if (typeof code === "string" && /^E[A-Z0-9]+$/.test(code)) return code;
  return error.name in Deno.errors ? error.name : undefined;
}
