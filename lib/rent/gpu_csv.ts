/** One GPU at one moment, as the Pod's sampler noted it. `null` is "no reading". */
export interface GpuSample {
  /** Unix time by the Pod's clock. */
  readonly at: number;
  readonly gpu: number;
  readonly utilizationPercent: number | null;
  readonly usedMib: number | null;
  readonly totalMib: number | null;
}

/** Reads `gpu_train.csv`. Total: lines that are none (a head, a cut end) are passed over. */
export function readGpuCsv(text: string): GpuSample[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [at, gpu, utilization, used, total, ...more] = line.split(",");
    if (
      total === undefined || more.length > 0 || !/^\d{9,11}$/.test(at ?? "") || !/^\d{1,3}$/.test(gpu ?? "")
    ) {
      return [];
    }
    return [{
      at: Number(at),
      gpu: Number(gpu),
      utilizationPercent: reading(utilization, 100),
      usedMib: reading(used, 1e8),
      totalMib: reading(total, 1e8),
    }];
  });
}

function reading(text: string | undefined, most: number): number | null {
  return text !== undefined && /^\d{1,9}$/.test(text) && Number(text) <= most ? Number(text) : null;
}
