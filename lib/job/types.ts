/**
 * A job as its server knows it. `running`: its keeper lives. `ended`: it wrote its exit code. `lost`: the keeper was
 * killed or the server restarted, so that no exit code is known.
 */
export interface Job {
  readonly name: string;
  readonly state: "running" | "ended" | "lost";
  /** Random, for each start; also in the environment of all its processes as `TIAS_REMOTE_JOB_ID`. */
  readonly id: string;
  /** Process number of the keeper, which leads the job's process group. */
  readonly pid: number | null;
  readonly gpu: number | null;
  readonly uuid: string | null;
  readonly began: Date | null;
  /** Of a lost job: when its log was last written. */
  readonly ended: Date | null;
  readonly exitCode: number | null;
  readonly keeper: "tmux" | "setsid";
}
