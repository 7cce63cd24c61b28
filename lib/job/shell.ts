import { expandShell } from "../ssh/expand.ts";

/**
 * Shell functions that every script about jobs shares, and the files that they speak of. All of it lies in the
 * account's own home; nothing is installed.
 *
 *     <remote_dir>/runs/_remote_logs/<job>.log           what the job printed, appended run after run
 *     <remote_dir>/runs/_remote_logs/.jobs/<job>.state   key=value lines, written by the job's own keeper
 *     <remote_dir>/runs/_remote_logs/.jobs/<id>.run      the start script of one start; removed by the job itself
 *     ~/.cache/tias-remote/<host>/<uuid>/lock            held while a job is started on that GPU
 *     ~/.cache/tias-remote/<host>/<uuid>/<id>.claim      "this live job was given this GPU"
 *
 * A process number alone proves nothing: it counts as ours only with the same boot id and start time
 * (`/proc/PID/stat`, field 22). Homes may be shared between servers, hence the host's name.
 */
export const jobShell = `${expandShell}
{ read -r boot </proc/sys/kernel/random/boot_id; } 2>/dev/null || boot=unknown
host=$(uname -n)
remote_dir=$(expand "$remote_dir")
logs=$remote_dir/runs/_remote_logs
jobs=$logs/.jobs
claims=$HOME/.cache/tias-remote/$host

# Start time of process $1 in clock ticks since boot; fails when there is none or it is a zombie.
start_time() {
  { read -r stat_line <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat_line=\${stat_line##*) }
  set -- $stat_line
  [ "$1" != Z ] && [ -n "\${20}" ] && printf '%s' "\${20}"
}

# Whether process $1 with start time $2, boot id $3 and host $4 still lives here.
lives() { [ "$3" = "$boot" ] && [ "$4" = "$host" ] && [ "$(start_time "$1")" = "$2" ]; }

# Reads the state file $1 into s_<key> variables.
read_state() {
  s_id= s_pid= s_start= s_boot= s_host= s_gpu= s_uuid= s_began= s_keeper= s_offset= s_ended= s_code=
  [ -r "$1" ] || return 1
  while IFS='=' read -r key value; do
    case $key in
      id) s_id=$value ;; pid) s_pid=$value ;; start) s_start=$value ;; boot) s_boot=$value ;; host) s_host=$value ;;
      gpu) s_gpu=$value ;; uuid) s_uuid=$value ;; began) s_began=$value ;; keeper) s_keeper=$value ;;
      offset) s_offset=$value ;; ended) s_ended=$value ;; code) s_code=$value ;;
    esac
  done <"$1"
}

# After read_state: running, ended, or lost (its keeper was killed, or the server was restarted). Another host's is none.
job_state() {
  if [ "$s_host" != "$host" ]; then printf elsewhere
  elif [ -n "$s_ended" ]; then printf ended
  elif lives "$s_pid" "$s_start" "$s_boot" "$s_host"; then printf running
  else printf lost; fi
}

print_job() {
  print_state=$(job_state) print_ended=$s_ended
  # Of a lost job nothing later is known than when its log was last written.
  [ "$print_state" != lost ] || print_ended=$(date -r "$logs/$1.log" +%s 2>/dev/null)
  printf 'job=%s\\nstate=%s\\nid=%s\\npid=%s\\ngpu=%s\\nuuid=%s\\nbegan=%s\\nkeeper=%s\\nended=%s\\ncode=%s\\n' \\
    "$1" "$print_state" "$s_id" "$s_pid" "$s_gpu" "$s_uuid" "$s_began" "$s_keeper" "$print_ended" "$s_code"
}

# Every job that there ever was has a state file; those that ended more than two days ago are passed over unread.
list_jobs() {
  for state_file in $(
    cd "$jobs" 2>/dev/null && {
      find . -name '*.state' -mtime -2
      find . -name '*.state' ! -mtime -2 -exec grep -L '^ended=' {} +
    } | sort
  ); do
    read_state "$jobs/$state_file" || continue
    state_name=\${state_file#./}
    print_job "\${state_name%.state}"
  done
}

# One line for each live claim: "UUID JOB ID".
list_claims() {
  for claim in "$claims"/*/*.claim; do
    { read -r c_pid c_start c_boot c_host c_id c_job <"$claim"; } 2>/dev/null || continue
    lives "$c_pid" "$c_start" "$c_boot" "$c_host" || continue
    c_uuid=\${claim%/*}
    printf '%s %s %s\\n' "\${c_uuid##*/}" "$c_job" "$c_id"
  done
}
`;

/** A time limit for a command: status 124 when it ran out, as \`timeout\` has it; with an own answer where there is none. */
export const limitedShell = `
limited() {
  limit=$1; shift
  if command -v timeout >/dev/null 2>&1; then timeout -k 2 "$limit" "$@"; return; fi
  "$@" & limited_pid=$!
  ( sleep "$limit"; kill "$limited_pid"; sleep 2; kill -9 "$limited_pid" ) >/dev/null 2>&1 & guard_pid=$!
  wait "$limited_pid"; limited_status=$?
  kill "$guard_pid" 2>/dev/null
  [ "$limited_status" -le 128 ] || limited_status=124
  return "$limited_status"
}
`;
