import { readFields } from "../job/list.ts";
import type { RemoteScript } from "../ssh/connection.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import { spareFolder } from "./watchdog_script.ts";

/** What the watchdog says of itself, by the Pod's clock. */
export interface WatchdogSign {
  /** Seconds since its last sign of life. */
  readonly ageSec: number;
  /** Unix time at which it will delete the Pod. */
  readonly until: number;
  /** HTTP status of reading its own Pod with its own key; 0 when nobody answered. */
  readonly proof: number;
}

const signText = `
show() {
  for folder in "$folder" "$spare"; do
    [ -r "$folder/alive" ] || continue
    cat "$folder/alive"
    printf 'clock=%s\\n' "$(date +%s)"
    return 0
  done
  return 1
}
`;

/** Asks whether the watchdog lives and what it may do. */
export function signScript(folder: string): RemoteScript {
  return {
    text: `${signText}section watchdog show\nmark done\n`,
    values: { folder, spare: spareFolder },
    seconds: 30,
  };
}

/** Puts the deadline off to `until` (Unix time) and waits until the watchdog says so. */
export function extendScript(folder: string, until: number, patienceSec: number): RemoteScript {
  return {
    text: `${signText}
extend() {
  for place in "$folder" "$spare"; do
    [ -d "$place" ] && printf '%s\\n' "$until" >"$place/extend.new" && mv -f "$place/extend.new" "$place/extend"
  done
  turns=0
  while [ "$turns" -lt "$patience" ]; do
    said=$(show | sed -n 's/^until=//p')
    case $said in '' | *[!0-9]*) ;; *) [ "$said" -lt "$until" ] || return 0 ;; esac
    turns=$((turns + 1)); sleep 1
  done
}
extend >/dev/null 2>&1
section watchdog show
mark done
`,
    values: { folder, spare: spareFolder, until, patience: patienceSec },
    seconds: patienceSec + 30,
  };
}

/** `undefined` when there is no watchdog, or it makes no sense. */
export function readSign(transcript: Transcript): WatchdogSign | undefined {
  const fields = readFields(sectionOf(transcript, "watchdog")?.text ?? "");
  const [now, until, clock, proof] = ["now", "until", "clock", "proof"].map((name) =>
    /^\d{1,11}$/.test(fields[name] ?? "") ? Number(fields[name]) : undefined
  );
  if (now === undefined || until === undefined || clock === undefined) return undefined;
  return { ageSec: Math.max(0, clock - now), until, proof: proof ?? 0 };
}

/** Seconds between two looks of the watchdog at the clock. */
export const watchdogTickSec = 10;

/** Whether it lives, reaches the service over TLS, and its key may read its own Pod. */
export function isProved(sign: WatchdogSign | undefined): sign is WatchdogSign {
  return sign !== undefined && sign.proof === 200 && sign.ageSec <= 6 * watchdogTickSec;
}
