import type { Ledger } from "../rent/ledger.ts";
import { dollars } from "../rent/cost.ts";
import { timeText } from "../rent/report.ts";
import { ExitCode, type Message, message } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";

/** The time zone in which this machine shows times. */
export function localTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A Unix time as this machine shows it. */
export function clockText(unixTime: number): string {
  return timeText(new Date(unixTime * 1000), localTimeZone());
}

/** How a run ended, in one sentence without its own beginning. */
export function outcomeMessage(texts: Texts, { outcome, plan, deadline }: Ledger): Message {
  const limits = { deadline: clockText(deadline) };
  switch (outcome?.kind) {
    case undefined:
      return message("rent.outcome.interrupted");
    case "trained":
    case "no_capacity":
    case "time_over":
    case "interrupted":
    case "stopped":
      return message(`rent.outcome.${outcome.kind}`);
    case "unsaved":
      return message("rent.outcome.unsaved", { detail: outcome.detail, ...limits });
    case "lost":
      return message(`rent.outcome.lost.${outcome.why}`);
    case "training_failed": {
      const reason = texts.sentence(
        failureMessage(outcome.reason, outcome.exitCode, plan.expectedCheckpoint),
      );
      return message("rent.outcome.training_failed", { reason });
    }
    case "refused":
      return outcome.status === 410
        ? message("rent.outcome.retired")
        : message("rent.outcome.refused", { status: outcome.status, detail: outcome.detail });
    case "too_expensive": {
      const caps = { price: dollars(outcome.hourlyUsd), cap: dollars(plan.hourlyCapUsd) };
      return message("rent.outcome.too_expensive", caps);
    }
    case "pod_died":
    case "unproved":
      return message(`rent.outcome.${outcome.kind}`, { status: outcome.status });
    case "step_failed": {
      const { index, code, detail } = outcome;
      return message("rent.outcome.step_failed", { number: index + 1, code: code ?? "?", detail });
    }
    case "no_ssh":
    case "not_started":
    case "cannot_tell":
    case "fault":
      return message(`rent.outcome.${outcome.kind}`, { detail: outcome.detail });
  }
}

function failureMessage(
  reason: (Ledger["outcome"] & { kind: "training_failed" })["reason"],
  exitCode: number | null,
  step: number,
): Message {
  switch (reason) {
    case "exit_code":
      return message("rent.failure.exit_code", { code: exitCode ?? "?" });
    case "incomplete":
      return message("rent.failure.incomplete", { step });
    default:
      return message(`rent.failure.${reason}`);
  }
}

/** What to do about it, if there is something. */
export function outcomeHint(
  repository: string,
  { outcome, log, unproved, home, commit }: Ledger,
): Message | undefined {
  if (unproved || outcome?.kind === "cannot_tell") return message("rent.left.hint", { log });
  if (outcome?.kind === "unsaved") return message("rent.unsaved.hint", { log });
  if (outcome?.kind === "trained" && home === null) {
    return message("rent.on_hub.hint", { repository, commit: commit ?? "?", log });
  }
  if (outcome?.kind !== "refused") return undefined;
  const { status } = outcome;
  if (status === 402 || status === 410) return message(`rent.hint.${status}`);
  return status === 401 || status === 403 ? message("rent.hint.401") : undefined;
}

export function exitOf({ outcome, unproved, home, deferred }: Ledger): ExitCode {
  if (unproved) return ExitCode.Failed;
  switch (outcome?.kind) {
    case "trained":
      return home !== null ? ExitCode.Done : deferred ? ExitCode.Interrupted : ExitCode.Failed;
    case "no_capacity":
      return ExitCode.NothingSuitable;
    case "refused":
      return outcome.status === 401 || outcome.status === 403 ? ExitCode.NotAuthorised : ExitCode.Failed;
    case "interrupted":
      return ExitCode.Interrupted;
    case "lost":
      return outcome.why === "signal" ? ExitCode.Interrupted : ExitCode.Failed;
    case "stopped":
      return ExitCode.Done;
    default:
      return ExitCode.Failed;
  }
}
