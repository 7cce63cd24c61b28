/**
 * A job as its server knows it. `running`: its keeper lives. `ended`: it wrote its exit code. `lost`: the keeper was
 * killed or the server restarted, so that no exit code is known.
 */
export interface Job {
  /** What `run --name` was given; unique among the running jobs of a server, not over time. */
  readonly name: string;
  /** As of the moment when the server was asked. */
  readonly state: "running" | "ended" | "lost";
  /** Random, for each start; `TIAS_REMOTE_JOB_ID` in the environment of all its processes. Empty when unread. */
  readonly id: string;
  /** Process number of the keeper, which leads the job's process group; null when unread. */
  readonly pid: number | null;
  /** Index of the GPU at the start; a restart of the server may number its GPUs anew. */
  readonly gpu: number | null;
  /** That GPU's own, by which the two are joined. */
  readonly uuid: string | null;
  /** By the server's clock. */
  readonly began: Date | null;
  /** null while it runs. Of a lost job: when its log was last written. */
  readonly ended: Date | null;
  /** 128 + n when signal n ended it; null unless the state is `ended`. */
  readonly exitCode: number | null;
  /** `setsid` where the server has no tmux: such a job has no terminal to attach to. */
  readonly keeper: "tmux" | "setsid";
}
