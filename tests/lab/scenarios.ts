/** Ready scenarios: the servers that a laboratory most often has. */

import type { Gpu, GpuProcess, Scenario } from "./scenario.ts";

/** Nobody is on any GPU. */
export function quiet(gpus = 1): Scenario {
  return { gpus: Array.from({ length: gpus }, (): Gpu => ({})) };
}

/** One GPU that flips between 0 and 74 % as measured; one instant reading takes it for free. */
export const flipping: Scenario = {
  gpus: [{
    frames: [{ utilization: 0, memory: 812 }, { utilization: 74, memory: 812 }],
    processes: [{ pid: 41234, user: "bob", elapsed: 5400, memory: 780, sm: [0, 71] }],
  }],
};

/** Alice's process of {@linkcode holder}: 27.7 hours old. */
export const alice: GpuProcess = {
  pid: 40404,
  user: "alice",
  elapsed: 99720,
  memory: 500,
  sm: 0,
};

/** One GPU whose memory alice holds, below the thresholds, without using it. */
export const holder: Scenario = {
  gpus: [{ frames: [{ utilization: 0, memory: 520 }], processes: [alice] }],
};

/** One GPU in constant use. */
export const busy: Scenario = {
  gpus: [{
    frames: [{ utilization: 97, memory: 41200 }, { utilization: 99, memory: 41200 }],
    processes: [{ pid: 42424, user: "carol", elapsed: 7200, memory: 41180, sm: [96, 98] }],
  }],
};

/** The driver is not loaded: text on stdout, exit status 9. */
export const deadDriver: Scenario = {
  answers: {
    all: {
      text: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. " +
        "Make sure that the latest NVIDIA driver is installed and running.\n\n" +
        "Failed to properly shut down NVML: Driver Not Loaded\n",
      status: 9,
    },
  },
};

/** The driver was replaced under a running kernel module. */
export const versionMismatch: Scenario = {
  answers: {
    all: {
      text: "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 535.161\n",
      status: 18,
    },
  },
};

/** A GPU split by MIG, which has no utilisation of its own. */
export const mig: Scenario = {
  gpus: [{
    name: "NVIDIA H100 80GB HBM3",
    memoryTotal: 81559,
    frames: [{ utilization: "[N/A]", memory: 44 }],
  }],
};

/** nvidia-smi never answers. */
export const hanging: Scenario = { answers: { all: { hang: true } } };

/** The GPU list is there, but the sampling gives nothing. */
export const noReading: Scenario = { gpus: [{}], answers: { samples: { status: 0 } } };

/** nvidia-smi is not installed. */
export const absent: Scenario = { absent: true };
