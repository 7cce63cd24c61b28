import type { Ledger } from "../rent/ledger.ts";
import { timeText } from "../rent/report.ts";
import { ExitCode, type Message, message } from "../system/errors.ts";

/** The time zone in which this machine shows times. */
export function localTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** A Unix time as this machine shows it. */
export function clockText(unixTime: number): string {
  return timeText(new Date(unixTime * 1000), localTimeZone());
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
