import { type Message, message } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { dollars } from "./cost.ts";
import type { Outcome } from "./ledger.ts";

/** How a run ended, as one sentence. */
export function outcomeMessage(outcome: Outcome | null): Message {
  if (outcome === null) return message("outcome.none");
  switch (outcome.kind) {
    case "trained":
      return message(`outcome.trained.${outcome.copy}`);
    case "lost":
      return message(`outcome.lost.${outcome.why}`);
    case "training_failed":
      return outcome.reason === "exit_code"
        ? message("outcome.training_failed.exit_code", { code: outcome.exitCode ?? "?" })
        : message(`outcome.training_failed.${outcome.reason}`);
    case "refused":
      return message("outcome.refused", { status: outcome.status, detail: sanitizeLine(outcome.detail) });
    case "too_expensive":
      return message("outcome.too_expensive", { usd: dollars(outcome.hourlyUsd) });
    case "pod_died":
      return message("outcome.pod_died", { status: sanitizeLine(outcome.status) });
    case "unproved":
      return message("outcome.unproved", { status: outcome.status });
    case "step_failed":
      return message("outcome.step_failed", {
        number: outcome.index + 1,
        code: outcome.code ?? "?",
        detail: sanitizeLine(outcome.detail),
      });
    case "unsaved":
    case "no_ssh":
    case "not_started":
    case "cannot_tell":
    case "fault":
      return message(`outcome.${outcome.kind}`, { detail: sanitizeLine(outcome.detail) });
    default:
      return message(`outcome.${outcome.kind}`);
  }
}
