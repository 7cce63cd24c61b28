import type { RemoteScript } from "../ssh/connection.ts";
import { jobShell } from "./shell.ts";

/** What of a log is wanted: its last lines, or everything from a byte on. */
export type LogStart = { readonly lines: number } | { readonly offset: number };

// Sizes are taken before bytes are sent, and the job's state before the size, so that nothing written before the end
// is missed. A beat every ten seconds lets this script notice that nobody listens any more.
const logsText = `
log=$logs/$job.log
log_size() { printf '%s' "$(($(wc -c <"$log")))"; }
refresh() { if read_state "$jobs/$job.state"; then state=$(job_state); else state=none; fi; }
announce() { if [ "$state" = none ]; then printf 'job=%s\\nstate=none\\n' "$job"; else print_job "$job"; fi; }
send() {
  while [ "$at" -lt "$size" ]; do
    count=$((size - at)); [ "$count" -le 1048576 ] || count=1048576
    mark data "$at" "$count"
    tail -c "+$((at + 1))" "$log" | head -c "$count"
    at=$((at + count))
  done
}
refresh
if [ "$state" = elsewhere ] || [ ! -f "$log" ] || [ ! -r "$log" ]; then
  mark section job; printf 'found=0\\n'; mark end job 0; mark done; exit 0
fi
mark section job; printf 'found=1\\n'; announce; mark end job 0
size=$(log_size)
if [ -n "$offset" ]; then at=$offset; else at=$((size - $(head -c "$size" "$log" | tail -n "$lines" | wc -c))); fi
idle=0
while :; do
  refresh
  size=$(log_size)
  if [ "$size" -lt "$at" ]; then mark truncated; at=0; fi
  if [ "$size" -gt "$at" ]; then send; idle=0; fi
  [ "$follow" = 1 ] && [ "$state" = running ] || break
  idle=$((idle + 1)); if [ "$idle" -ge 20 ]; then mark beat; idle=0; fi
  sleep 0.5 2>/dev/null || sleep 1
done
mark section ended; announce; mark end ended 0
mark done
`;

/** Prints a job's log as `data` frames, and with `follow` goes on until the job has ended. */
export function logsScript(remoteDir: string, job: string, start: LogStart, follow: boolean): RemoteScript {
  return {
    text: jobShell + logsText,
    values: {
      remote_dir: remoteDir,
      job,
      lines: "lines" in start ? start.lines : 0,
      offset: "offset" in start ? start.offset : "",
      follow: follow ? 1 : 0,
    },
    seconds: follow ? null : 120,
  };
}
