/** The questions to nvidia-smi whose answers `parse.ts` reads. */

/** Fields of the GPU list, in the order that `parseGpuList` reads. */
export const gpuListQuery =
  "nvidia-smi --query-gpu=index,uuid,name,memory.used,memory.total,utilization.gpu --format=csv,noheader,nounits";
/** Read by `parseComputeApps`. */
export const computeAppsQuery =
  "nvidia-smi --query-compute-apps=gpu_uuid,pid,used_memory --format=csv,noheader,nounits";
