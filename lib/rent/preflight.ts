import type { Clock } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { logOfPod } from "./names.ts";
import type { ApiFault, ApiResult, PodList, RunpodClient } from "./runpod_client.ts";
import { isTerminated } from "./runpod_schema.ts";

/** What is looked at before the first dollar. Each throws a `UserError` that says what to do. */

/** Minutes that this machine's clock may differ from the service's: the watchdog's deadline is ours, its clock is theirs. */
const clockTolerance = 5;

/** All Pods of the account. @throws {UserError} when they cannot be listed */
export function listAllPods(api: Pick<RunpodClient, "listPods">, host: string): Promise<PodList> {
  return answerOf(() => api.listPods(), host);
}

/** What the service answers. @throws {UserError} when it says no, or cannot be reached or may not be */
export async function answerOf<T>(ask: () => Promise<ApiResult<T>>, host: string): Promise<T> {
  let result;
  try {
    result = await ask();
  } catch (cause) {
    if (!(cause instanceof Deno.errors.NotCapable)) throw cause;
    throw new UserError(message("rent.api.not_permitted", { host }), {
      exit: ExitCode.Usage,
      hint: message("rent.api.not_permitted.hint"),
      cause,
    });
  }
  if (result.ok) return result.value;
  throw apiError(result.fault);
}

/** A fault of the service as an error for the user. */
export function apiError(fault: ApiFault): UserError {
  switch (fault.kind) {
    case "edge":
      return new UserError(message("rent.api.edge"), { hint: message("rent.api.failed.hint") });
    case "limited":
      return new UserError(message("rent.create.limited", { seconds: fault.waitSec }), {
        hint: message("rent.api.failed.hint"),
      });
    case "unclear":
      return new UserError(message("rent.api.failed", { detail: `${fault.reason} ${fault.detail}`.trim() }), {
        hint: message("rent.api.failed.hint"),
      });
    case "refused":
      if (fault.status === 410) {
        return new UserError(message("rent.api.retired"), { hint: message("rent.hint.410") });
      }
      return new UserError(message("rent.api.refused", { status: fault.status, detail: fault.detail }), {
        exit: fault.status === 401 || fault.status === 403 ? ExitCode.NotAuthorised : ExitCode.Failed,
        hint: message("rent.hint.401"),
      });
  }
}

export function requireRightClock(clock: Clock, { serverTime }: Pick<PodList, "serverTime">): void {
  if (serverTime === null) return;
  const minutes = Math.round(Math.abs(clock.now().getTime() - serverTime.getTime()) / 60_000);
  if (minutes <= clockTolerance) return;
  throw new UserError(message("rent.clock", { minutes }), { hint: message("rent.clock.hint") });
}

/** Two Pods for one run would be two bills and one model. */
export function requireNoPod({ pods }: Pick<PodList, "pods">, prefix: string, log: string): void {
  const there = pods.filter((pod) => !isTerminated(pod) && logOfPod(pod, prefix) === log);
  if (there.length === 0) return;
  throw new UserError(message("rent.pod.exists", { log, names: there.map(({ name }) => name).join(", ") }), {
    hint: message("rent.pod.exists.hint", { log }),
  });
}
