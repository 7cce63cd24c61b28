import type { Ledger } from "./ledger.ts";
import { logOfPod } from "./names.ts";
import { isTerminated, type Pod } from "./runpod_schema.ts";

/** The Pods of ours that cost money and that no record of the project knows. */
export function strayPods(
  pods: readonly Pod[],
  prefix: string,
  ledgers: Iterable<Pick<Ledger, "name">>,
): Pod[] {
  const known = new Set([...ledgers].map(({ name }) => name));
  return pods.filter((pod) =>
    !isTerminated(pod) && logOfPod(pod, prefix) !== undefined && !known.has(pod.name)
  );
}
