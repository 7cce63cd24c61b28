import type { ReachedServer, ServerReport } from "./survey.ts";
import { reached } from "./survey.ts";
import type { Choice, GpuState, JudgedGpu } from "./types.ts";

/** What the user asked for. Without `server` and `gpu` the choice is automatic. */
export interface Wish {
  /** Only this server, by its `name` in the configuration. */
  readonly server?: string | undefined;
  /** Only the GPU with this index, on `server`; without one, on the candidate with the best priority. */
  readonly gpu?: number | undefined;
  /** Take the named `gpu` although it is busy or its state is unknown. Without effect when none is named. */
  readonly force: boolean;
  /** Take servers whose clinical data is not in place as well. */
  readonly noData: boolean;
}

/** A GPU to try, and whether somebody's processes are on it. */
export interface Candidate extends Choice {
  /** `unused` or `idle_held`, but for a forced one. */
  readonly state: GpuState;
  /** Ordered with `--force` although it is busy or its state is unknown. */
  readonly forced: boolean;
}

/**
 * What came of a wish. `none`: no candidate server has a free GPU, so waiting may help. `refused`: the GPU that was
 * named cannot be had; `no_list` when its server was not reached, not observed, no candidate, or gave no GPU list.
 */
export type Selection =
  | { readonly kind: "candidates"; readonly candidates: readonly [Candidate, ...Candidate[]] }
  | { readonly kind: "none" }
  | {
    readonly kind: "refused";
    readonly refusal: "no_such_gpu" | "not_free" | "no_list";
    readonly gpu?: JudgedGpu;
  };

/** Whether `run` may use this server at all. */
export function isCandidate(server: { name: string; data_ready: boolean }, wish: Wish): boolean {
  return (wish.noData || server.data_ready) && (wish.server === undefined || wish.server === server.name);
}

/**
 * The GPUs to try, best first: every *unused* one over all candidate servers, by priority, then order in the file,
 * then index; behind them those *idle in someone's hands* in the same order. An unused GPU on a less preferred server
 * therefore beats an idle one on a preferred server. Last come those that only wait for their tias-remote jobs to begin,
 * the one with the fewest first, so that jobs do not pile up on one. Busy and unknown GPUs are never among them, but for
 * the one that `--server --gpu --force` orders.
 */
export function selectGpu(reports: readonly ServerReport[], wish: Wish): Selection {
  const servers = reached(reports).filter(({ server, observed }) => observed && isCandidate(server, wish))
    // A stable sort keeps the order of the file among equals.
    .sort((a, b) => a.server.priority - b.server.priority);
  if (wish.gpu !== undefined) return selectNamed(servers[0], wish.gpu, wish.force);
  const inState = (state: GpuState) =>
    servers.flatMap(({ server, gpus }) =>
      gpus.filter(({ verdict }) => verdict.state === state).sort((a, b) => a.index - b.index)
        .map((gpu): Candidate => ({ server: server.name, gpu, state, forced: false }))
    );
  const waiting = ({ gpu }: Candidate) => gpu.verdict.reason === "assigned_job" ? gpu.jobs.length : 0;
  const [first, ...others] = [
    ...inState("unused"),
    ...inState("idle_held").sort((a, b) => waiting(a) - waiting(b)),
  ];
  return first === undefined ? { kind: "none" } : { kind: "candidates", candidates: [first, ...others] };
}

function selectNamed(report: ReachedServer | undefined, index: number, force: boolean): Selection {
  if (report === undefined || report.fault !== null) return { kind: "refused", refusal: "no_list" };
  const gpu = report.gpus.find((candidate) => candidate.index === index);
  if (gpu === undefined) return { kind: "refused", refusal: "no_such_gpu" };
  const { state } = gpu.verdict;
  const free = state === "unused" || state === "idle_held";
  if (!free && !force) return { kind: "refused", refusal: "not_free", gpu };
  return { kind: "candidates", candidates: [{ server: report.server.name, gpu, state, forced: !free }] };
}
