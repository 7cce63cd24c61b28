/** The story of the program in data: server reading → GPU reading → verdict → choice. */

/** One row of the GPU list. `null` is "no reading": never a zero, never "free". */
export interface GpuRow {
  /** nvidia-smi's, 0 to 255; jobs get it as `CUDA_VISIBLE_DEVICES` with `CUDA_DEVICE_ORDER=PCI_BUS_ID`. */
  readonly index: number;
  /** `GPU-…` or `MIG-…`; null when nvidia-smi gave none, so that no process can be joined to it. */
  readonly uuid: string | null;
  /** The product's, such as `NVIDIA RTX A6000`, made safe to show; empty when the row was cut. */
  readonly name: string;
  /** By all processes and the driver together. */
  readonly memoryUsedMib: number | null;
  /** null on cards that share the machine's memory. */
  readonly memoryTotalMib: number | null;
  /** 0 to 100: of the driver's last sampling period, the share in which a kernel ran. */
  readonly utilizationPercent: number | null;
}

/** One moment of one GPU. `null` is "no reading" here too. */
export interface Sample {
  /** 0 to 100. */
  readonly utilizationPercent: number | null;
  /** By all processes and the driver together. */
  readonly memoryUsedMib: number | null;
}

/** A process that computes on a GPU (type `C` or a mixture with it), from the compute list, pmon or both. */
export interface ComputeProcess {
  /** As the driver tells it: in a container it may be another process's number. */
  readonly pid: number;
  /** Owner on the server; null when it could not be told. */
  readonly user: string | null;
  /** Whether `ps` cut the name short (`libvirt+`). */
  readonly userTruncated: boolean;
  /** Whether the owner is the account we log in with. */
  readonly mine: boolean;
  /** Age; null when `ps` gave none or one that a stepped clock must have made. */
  readonly elapsedSec: number | null;
  /** On this GPU alone; null when the compute list does not have the process or its memory. */
  readonly usedMemoryMib: number | null;
  /** Highest share of the SMs seen, in percent; null when pmon gave none. */
  readonly smMaxPercent: number | null;
  /** Whether the process had ended when its owner was asked: memory held by nobody. */
  readonly gone: boolean;
}

/** All that was read of one GPU during one observation. */
export interface GpuReading extends GpuRow {
  /** In the order of time; for an observation of 0 seconds the row itself is the one sample. */
  readonly samples: readonly Sample[];
  /** Everybody's, not only those of the account we log in with. */
  readonly processes: readonly ComputeProcess[];
  /** Whether the server's list of compute processes could be read whole. */
  readonly processListReadable: boolean;
  /** Names of live tias-remote jobs that were given this GPU. */
  readonly jobs: readonly string[];
}

/**
 * `unused`: nobody is there. `idle_held`: below both thresholds, but in someone's hands. `busy`: a threshold was
 * reached at least once. `unknown`: it could not be read, which is never "free".
 */
export type GpuState = "unused" | "idle_held" | "busy" | "unknown";

/** How a GPU was used while it was watched. `constant`: above 0 % in at least 80 % of the samples. */
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
  /** What `run` decides by. */
  readonly state: GpuState;
  /** The first rule that led to the state. */
  readonly reason: Reason;
  /** For display only; null when it cannot be told. */
  readonly pattern: UsagePattern | null;
  /** Compared with `max_memory_used_mib`. */
  readonly memoryUsedMaxMib: number | null;
  /** Rounded to one decimal; for display only. */
  readonly utilizationMeanPercent: number | null;
  /** Compared with `max_utilization_percent`. */
  readonly utilizationMaxPercent: number | null;
  /** How many samples the verdict stands on. */
  readonly samples: number;
}

/** A reading together with the judgement that was made of it. */
export interface JudgedGpu extends GpuReading {
  /** By the thresholds of the configuration. */
  readonly verdict: Verdict;
}

/** Why a server that could be reached has no GPU list. `no_answer`: nvidia-smi hung and was stopped. */
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

/** What `nvidia-smi --query-gpu` said. */
export interface GpuList {
  /** In nvidia-smi's order, no index twice; empty when there is a fault. */
  readonly rows: readonly GpuRow[];
  /** null when the list could be read; `detail` is nvidia-smi's own line, made safe to show, and may be empty. */
  readonly fault: { readonly kind: GpuListFault; readonly detail: string } | null;
  /** Lines of nvidia-smi that are warnings, to show. */
  readonly notes: readonly string[];
}

/** The GPU that `run` takes. */
export interface Choice {
  /** Its `name` in the configuration. */
  readonly server: string;
  /** As the survey saw it: `run` looks once more before it starts anything there. */
  readonly gpu: JudgedGpu;
}
