import { jobShell, limitedShell } from "../job/shell.ts";
import type { RemoteScript } from "../ssh/connection.ts";
import { computeAppsQuery, gpuListQuery } from "./queries.ts";

/** Seconds that one question to nvidia-smi may take; a dead driver makes it hang. */
const querySeconds = 15;

const factsText = `
LC_ALL=C; export LC_ALL
PATH=$PATH:/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib
facts() {
  printf 'user=%s\\nhost=%s\\nboot=%s\\nnow=%s\\n' "$(id -un)" "$host" "$boot" "$(date +%s)"
}
section facts facts
section jobs list_jobs
`;

// The samples stream straight out. pmon runs beside them and is kept in a variable until they are done, so that
// nothing has to be written on the server. Its text and the compute list give the process numbers to ask `ps` about;
// only what looks like one is passed on.
const observeText = `
gpu_list() { limited ${querySeconds} ${gpuListQuery} 2>&1; }
samples() {
  limited "$seconds" nvidia-smi --query-gpu=index,utilization.gpu,memory.used --format=csv,noheader,nounits \\
    -lms "$interval" 2>/dev/null
}
captured() {
  capture_name=$1; shift
  "$@" </dev/null
  printf '\\n@@%s end %s %s' "$nonce" "$capture_name" $?
}
pmon() { limited $((seconds + ${querySeconds})) nvidia-smi pmon -s u -d 1 -c "$seconds" 2>/dev/null; }
apps() { limited ${querySeconds} ${computeAppsQuery} 2>&1; }
owner() {
  answer=$(ps -o user=,etimes= -p "$1" 2>&1); ps_status=$?
  user=\${answer%% *}
  case $user:$ps_status in
    *+:0) full=$(stat -c %U "/proc/$1" 2>/dev/null) && answer="$full \${answer##* }" ;;
    *:0 | :*) ;;
    *) # A ps that does not know these options.
      ps_status=2
      full=$(stat -c %U "/proc/$1" 2>/dev/null) && ticks=$(start_time "$1") && read -r up rest </proc/uptime &&
        answer="$full $((\${up%%.*} - ticks / $(getconf CLK_TCK 2>/dev/null || echo 100)))" && ps_status=0 ;;
  esac
  printf '%s\\n' "$answer"
  return $ps_status
}
processes() {
  apps_text=$(captured apps apps)
  listed=$(date +%s)
  mark section apps; printf '%s\\n' "$apps_text"
  pids=$(printf '%s\\n%s\\n' "$apps_text" "$pmon_text" | awk '
    { pid = "" }
    $1 ~ /^[A-Za-z]+-/ { split($0, field, ","); pid = field[2]; gsub(/[ \\t\\r]/, "", pid) }
    $1 ~ /^[0-9]+$/ && $3 != "G" { pid = $2 }
    pid ~ /^[1-9][0-9]*$/ && length(pid) < 8 && pid + 0 <= 4194304 && !seen[pid]++ { print pid }')
  ages=
  for pid in $pids; do ages="$ages$pid $(($(date +%s) - listed)) "; section "ps:$pid" owner "$pid"; done
  mark section ages; printf '%s %s\\n' $ages; mark end ages 0
}
if section gpu_list gpu_list || [ $? -lt 124 ]; then
  if [ "$seconds" -gt 0 ]; then
    captured pmon pmon | {
      section samples samples
      pmon_text=$(cat)
      mark section pmon; printf '%s\\n' "$pmon_text"
      processes
    }
  else
    pmon_text=
    processes
  fi
fi
section claims list_claims
`;

/** Seconds and milliseconds of an observation; `seconds` 0 is one instant reading. */
export interface Observation {
  /** How long to watch; the survey takes a little longer. A GPU in intermittent use needs ten or so to be seen. */
  readonly seconds: number;
  /** From one sample to the next. Without effect when `seconds` is 0. */
  readonly intervalMs: number;
}

/**
 * The one script that looks at a server: its jobs, and, with an observation, its GPUs.
 * Sections: facts, jobs, gpu_list, samples, pmon, apps, ps:<pid>…, ages, claims.
 */
export function probeScript(remoteDir: string, observation: Observation | null): RemoteScript {
  const text = jobShell + limitedShell + factsText + (observation === null ? "" : observeText) +
    "mark done\n";
  const values = {
    remote_dir: remoteDir,
    seconds: observation?.seconds ?? 0,
    interval: observation?.intervalMs ?? 0,
  };
  return { text, values, seconds: 20 + (observation === null ? 0 : observation.seconds + 2 * querySeconds) };
}
