import type { Clock } from "../system/context.ts";
import type { RunpodClient } from "./runpod_client.ts";
import { isTerminated } from "./runpod_schema.ts";

/** Tries after which it is said that a Pod may be left. */
const patience = 10;

/**
 * Deletes a Pod and reads back twice that it is gone, by its id and in the list.
 *
 * @returns what could not be proved, or `undefined`
 */
export async function deletePod(
  clock: Clock,
  api: Pick<RunpodClient, "deletePod" | "getPod" | "listPods">,
  id: string,
): Promise<string | undefined> {
  let trouble = "";
  let readings = 0;
  for (let tries = 0; tries < patience; tries++) {
    if (readings === 0) {
      const deleted = await api.deletePod(id);
      if (!deleted.ok) trouble = deleted.fault.kind === "limited" ? "429" : deleted.fault.detail;
    }
    await clock.sleep(3000);
    const pod = await api.getPod(id);
    const list = await api.listPods();
    const gone = pod.ok && (pod.value === null || isTerminated(pod.value)) && list.ok &&
      list.value.pods.every((each) => each.id !== id || isTerminated(each));
    readings = gone ? readings + 1 : 0;
    if (readings === 2) return undefined;
  }
  return trouble === "" ? "still there" : trouble;
}
