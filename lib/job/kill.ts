import type { RemoteScript } from "../ssh/connection.ts";
import { jobShell } from "./shell.ts";

// A job's processes are those of its keeper's group and all that carry its random id in their environment, also when
// they left the group. No name is ever matched, so \`job1\` cannot hit \`job10\`, nor this script itself. The keeper dies
// last: it writes the exit code.
const killText = `
members() {
  for environ in $(grep -l "TIAS_REMOTE_JOB_ID=$s_id" /proc/[0-9]*/environ 2>/dev/null); do
    member=\${environ#/proc/}; member=\${member%/environ}
    [ "$member" = "$s_pid" ] || ! start_time "$member" >/dev/null || printf '%s\\n' "$member"
  done
  # Those of the group that another program has given a clean environment.
  for stat_file in /proc/[0-9]*/stat; do
    { read -r stat_line <"$stat_file"; } 2>/dev/null || continue
    member=\${stat_line%% *}
    stat_line=\${stat_line##*) }
    set -- $stat_line
    [ "$3" = "$s_pid" ] && [ "$1" != Z ] && [ "$member" != "$s_pid" ] && printf '%s\\n' "$member"
  done
}
everyone() { members | sort -un | tr '\\n' ' '; }
signal_all() { for target in $2; do kill "-$1" "$target" 2>/dev/null; done; }
keeper_lives() { lives "$s_pid" "$s_start" "$s_boot" "$s_host"; }
wait_until_gone() {
  turns=0
  while [ "$turns" -lt "$1" ]; do
    [ -n "$(everyone)" ] || keeper_lives || return 0
    sleep 0.2 2>/dev/null || sleep 1
    turns=$((turns + 1))
  done
  return 1
}
stop_job() {
  read_state "$jobs/$job.state" || { printf 'outcome=gone\\n'; return; }
  case $s_id in *[!0-9a-f]* | '') printf 'outcome=gone\\n'; return ;; esac
  if ! keeper_lives && { s_pid=none; [ -z "$(everyone)" ]; }; then
    printf 'outcome=gone\\n'; return
  fi
  signal_all TERM "$(everyone)"
  if ! wait_until_gone "$((grace * 5))"; then
    signal_all KILL "$(everyone)"
    wait_until_gone 10 || { keeper_lives && kill -KILL "$s_pid" 2>/dev/null; wait_until_gone 5; }
  fi
  left=$(everyone); ! keeper_lives || left="$left$s_pid"
  if [ -n "$left" ]; then
    printf 'outcome=survived\\nleft=%s\\n' "$left"
    return
  fi
  read_state "$jobs/$job.state"
  if [ -z "$s_ended" ]; then
    printf '=== [%s] exit 137\\n' "$(date '+%Y-%m-%d %H:%M:%S %z')" >>"$logs/$job.log"
    printf 'ended=%s\\ncode=137\\n' "$(date +%s)" >>"$jobs/$job.state"
    rm -f "$claims/$s_uuid/$s_id.claim"
    s_code=137
  fi
  printf 'outcome=killed\\ncode=%s\\n' "$s_code"
}
mark section job
if read_state "$jobs/$job.state"; then printf 'found=1\\n'; print_job "$job"; else printf 'found=0\\n'; fi
mark end job 0
read -r word
if [ "$word" = go ]; then mark section kill; stop_job </dev/null; mark end kill 0; fi
mark done
`;

/**
 * Reports the job and waits: only the line `go` on `order` lets it end the job (TERM, after `graceSeconds` KILL).
 * So all servers can be asked before one is touched.
 */
export function killScript(
  remoteDir: string,
  job: string,
  graceSeconds: number,
  order: ReadableStream<Uint8Array>,
): RemoteScript {
  return {
    text: jobShell + killText,
    values: { remote_dir: remoteDir, job, grace: graceSeconds },
    payload: order,
    seconds: 120 + graceSeconds,
  };
}
