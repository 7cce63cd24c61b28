/** Reads what a laboratory's servers wrote down. */

import type { LabEvent } from "./spec.ts";

/** The events of one server, or of all, in order; with `event`, that alone. */
export async function readEvents(
  file: string,
  { server, event }: { readonly server?: string | undefined; readonly event?: LabEvent["event"] | undefined },
): Promise<LabEvent[]> {
  const lines = (await Deno.readTextFile(file)).trimEnd().split("\n").filter((line) => line !== "");
  return lines
    .map((line): LabEvent => JSON.parse(line))
    .filter((each) => (server ?? each.server) === each.server && (event ?? each.event) === each.event);
}
