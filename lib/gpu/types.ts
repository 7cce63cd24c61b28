/** The story of the program in data: server reading → GPU reading → verdict → choice. */

/** One row of the GPU list. `null` is "no reading": never a zero, never "free". */
export interface GpuRow {
  readonly index: number;
  /** `GPU-…` or `MIG-…`; null when nvidia-smi gave none, so that no process can be joined to it. */
  readonly uuid: string | null;
  readonly name: string;
  readonly memoryUsedMib: number | null;
  readonly memoryTotalMib: number | null;
  readonly utilizationPercent: number | null;
}

/** One moment of one GPU. */
export interface Sample {
  readonly utilizationPercent: number | null;
  readonly memoryUsedMib: number | null;
}

/** A process that computes on a GPU (type `C` or a mixture with it), from the compute list, pmon or both. */
export interface ComputeProcess {
  readonly pid: number;
  /** Owner on the server; null when it could not be told. */
  readonly user: string | null;
  /** Whether `ps` cut the name short (`libvirt+`). */
  readonly userTruncated: boolean;
  /** Whether the owner is the account we log in with. */
  readonly mine: boolean;
  readonly elapsedSec: number | null;
  readonly usedMemoryMib: number | null;
  /** Highest share of the SMs seen, in percent; null when pmon gave none. */
  readonly smMaxPercent: number | null;
  /** Whether the process had ended when its owner was asked: memory held by nobody. */
  readonly gone: boolean;
}

/** All that was read of one GPU during one observation. */
export interface GpuReading extends GpuRow {
  readonly samples: readonly Sample[];
  readonly processes: readonly ComputeProcess[];
  /** Whether the server's list of compute processes could be read whole. */
  readonly processListReadable: boolean;
  /** Names of live tias-remote jobs that were given this GPU. */
  readonly jobs: readonly string[];
}

export type GpuState = "unused" | "idle_held" | "busy" | "unknown";
export type UsagePattern = "constant" | "intermittent" | "memory_only" | "unused";

/** Why a GPU has its state. */
export type Reason =
  | "below_thresholds"
  | "compute_process"
  | "assigned_job"
  | "process_list_unreadable"
  | "utilization_reached"
  | "memory_reached"
  | "held_by_ended_process"
  | "row_unreadable"
  | "no_sample"
  | "sample_unreadable"
  | "not_identified";

/** The judgement of one GPU. Maxima and mean are over all samples; null when none was readable. */
export interface Verdict {
  readonly state: GpuState;
  readonly reason: Reason;
  readonly pattern: UsagePattern | null;
  readonly memoryUsedMaxMib: number | null;
  readonly utilizationMeanPercent: number | null;
  readonly utilizationMaxPercent: number | null;
  /** How many samples the verdict stands on. */
  readonly samples: number;
}

export interface JudgedGpu extends GpuReading {
  readonly verdict: Verdict;
}

/** Why a server that could be reached has no GPU list. */
export type GpuListFault =
  | "not_installed"
  | "no_answer"
  | "driver_mismatch"
  | "driver_not_loaded"
  | "gpu_lost"
  | "query_refused"
  | "permission"
  | "no_gpu"
  | "failed";

export interface GpuList {
  readonly rows: readonly GpuRow[];
  readonly fault: { readonly kind: GpuListFault; readonly detail: string } | null;
  /** Lines of nvidia-smi that are warnings, to show. */
  readonly notes: readonly string[];
}

/** The GPU that `run` takes. */
export interface Choice {
  readonly server: string;
  readonly gpu: JudgedGpu;
}
