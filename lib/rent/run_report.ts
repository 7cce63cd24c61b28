import type { GpuSample } from "./gpu_csv.ts";

/** A point of the loss curve. The loss may be `NaN` or infinite. */
export interface LossPoint {
  readonly step: number;
  readonly loss: number;
}

/** All that the report and the result of a run tell. Texts are in the reader's language already and are escaped here. */
export interface RunReport {
  /** The run's name. */
  readonly log: string;
  readonly outcome: { readonly good: boolean; readonly text: string };
  /** Name, id and GPU of the Pod; `null` when none was rented. */
  readonly pod: string | null;
  readonly began: Date;
  readonly ended: Date;
  /** IANA time zone in which times are shown. */
  readonly timeZone: string;
  /** `null` where the price is not known. */
  readonly cost: { readonly usd: number; readonly hourlyUsd: number } | null;
  /** What was done when, in order; each lasts until the next, the last one until the end. */
  readonly steps: readonly { readonly label: string; readonly at: Date }[];
  readonly checkpoint: { readonly hub: string | null; readonly local: string | null };
  readonly receipt:
    /** `checks`: what was asked and answered. */
    | { readonly kind: "proved"; readonly at: Date; readonly checks: string }
    | { readonly kind: "unproved" }
    /** Left on purpose, with the only copy of the checkpoint; its watchdog deletes it at `until`. */
    | { readonly kind: "left"; readonly until: Date }
    | { readonly kind: "none" };
  readonly notes: readonly string[];
  readonly loss: readonly LossPoint[];
  readonly gpu: readonly GpuSample[];
}
