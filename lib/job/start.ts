import { computeAppsQuery, gpuListQuery } from "../gpu/queries.ts";
import type { RemoteScript } from "../ssh/connection.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import { shellAssignments, shellQuote } from "../ssh/quote.ts";
import { unpackShell } from "../transfer/unpack_script.ts";
import { readFields } from "./list.ts";
import { jobShell, limitedShell } from "./shell.ts";

/** Seconds within which a job's end counts as a failed start. */
export const earlyEndSeconds = 3;

/** Environment that a job always gets; `--env` cannot override it, because it assigns the GPU. */
export const reservedVariables = [
  "CUDA_VISIBLE_DEVICES",
  "CUDA_DEVICE_ORDER",
  "TIAS_DATA_ROOT",
  "PYTHONUNBUFFERED",
] as const;

/** Everything that a server needs to start one job on one of its GPUs. */
export interface StartRequest {
  readonly server: string;
  readonly job: string;
  /** 32 hexadecimal digits, new for each start. */
  readonly id: string;
  readonly command: readonly [string, ...string[]];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly gpu: number;
  readonly uuid: string;
  readonly remoteDir: string;
  readonly dataDir: string;
  readonly uv: string;
  readonly tmuxSocket: string;
  /** What the survey knew of this GPU; whatever else is there now has come since. */
  readonly known: {
    readonly pids: readonly number[];
    readonly jobs: readonly string[];
    readonly listReadable: boolean;
  };
  /** `--force`: start although somebody is there. */
  readonly force: boolean;
}

// What tmux (or setsid) keeps. It writes its state first and last, waits for the command whatever signal comes, and
// shows the log in its terminal. The log is a file that the command writes itself, so that nothing between them can
// lose a byte or hold a pipe open.
const keeperText = `
log=$logs/$job.log
state=$jobs/$job.state
log_line() {
  if [ -s "$log" ] && [ -n "$(tail -c 1 "$log")" ]; then echo; fi
  printf '=== [%s] %s\\n' "$(date '+%Y-%m-%d %H:%M:%S %z')" "$1"
}
rm -f "$0"
trap : INT TERM HUP
PATH=$HOME/.local/bin:$PATH
CUDA_VISIBLE_DEVICES=$gpu CUDA_DEVICE_ORDER=PCI_BUS_ID TIAS_DATA_ROOT=$(expand "$data_dir") PYTHONUNBUFFERED=1
TIAS_REMOTE_JOB_ID=$id
export PATH CUDA_VISIBLE_DEVICES CUDA_DEVICE_ORDER TIAS_DATA_ROOT PYTHONUNBUFFERED TIAS_REMOTE_JOB_ID
seen=$(limited 10 ${gpuListQuery} 2>/dev/null | awk -F, -v gpu="$gpu" '$1 ~ /^ *[0-9]+ *$/ && $1 + 0 == gpu { gsub(/^ +/, "", $2); gsub(/^ +/, "", $3); print $2 ", " $3; exit }')
offset=$(($(wc -c <"$log" 2>/dev/null || echo 0)))
printf 'id=%s\\npid=%s\\nstart=%s\\nboot=%s\\nhost=%s\\ngpu=%s\\nuuid=%s\\nbegan=%s\\nkeeper=%s\\noffset=%s\\n' \\
  "$id" $$ "$(start_time $$)" "$boot" "$host" "$gpu" "$uuid" "$(date +%s)" "$keeper" "$offset" >"$state.new" &&
  printf '%s %s %s %s %s %s\\n' $$ "$(start_time $$)" "$boot" "$host" "$id" "$job" >"$claims/$uuid/$id.claim" &&
  log_line "start $server GPU $gpu ($seen) CUDA_VISIBLE_DEVICES=$CUDA_VISIBLE_DEVICES" >>"$log" &&
  mv "$state.new" "$state" || exit 73
if [ "$keeper" = tmux ]; then tail -c "+$((offset + 1))" -f "$log" & tail_pid=$!; fi
cd "$remote_dir" && run_command "$@" >>"$log" 2>&1
code=$?
log_line "exit $code" >>"$log"
# Another server with the same home may have begun a job of this name while this one could not be asked.
read_state "$state"
[ "$s_id" != "$id" ] || printf 'ended=%s\\ncode=%s\\n' "$(date +%s)" "$code" >>"$state"
rm -f "$claims/$uuid/$id.claim"
[ -z "$tail_pid" ] || kill "$tail_pid"
`;

function keeperScript(request: StartRequest): string {
  return shellAssignments({
    remote_dir: request.remoteDir,
    data_dir: request.dataDir,
    uv: request.uv,
    server: request.server,
    job: request.job,
    id: request.id,
    gpu: request.gpu,
    uuid: request.uuid,
  }) +
    "keeper=$1\ntail_pid=\n" + jobShell + limitedShell +
    // In a subshell, or a variable called `gpu` or `log` would be taken for the keeper's own; and exported there, not
    // named in the arguments of `env`, which everybody on the server could read.
    `set -- "$(expand "$uv")" run ${request.command.map(shellQuote).join(" ")}\n` +
    `run_command() (\n${
      request.env.map(([name, value]) => `export ${name}=${shellQuote(value)}\n`).join("")
    }` +
    `export TIAS_REMOTE_JOB_ID=${request.id}\nexec "$@"\n)\n` +
    keeperText;
}

// One lock a GPU, on this account; \`flock\` lets go by itself when its holder dies. Inside it the GPU is looked at
// once more: a process or a live job that the survey had not shown has come since.
const startText = `
PATH=$HOME/.local/bin:$PATH:/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib
nap() { sleep 0.1 2>/dev/null || sleep 1; }
lock() {
  if command -v flock >/dev/null 2>&1; then exec 9>"$claims/$uuid/lock"; flock -w 60 9; return; fi
  lock_dir=$claims/$uuid/lock.d
  lock_turns=0
  until mkdir "$lock_dir" 2>/dev/null; do
    if { read -r l_pid l_start l_boot l_host <"$lock_dir/holder"; } 2>/dev/null; then
      lives "$l_pid" "$l_start" "$l_boot" "$l_host" || rm -rf "$lock_dir"
    elif [ -n "$(find "$lock_dir" -prune -mmin +1 2>/dev/null)" ]; then
      rm -rf "$lock_dir" # Its holder was killed before it could sign.
    fi
    lock_turns=$((lock_turns + 1)); [ "$lock_turns" -lt 600 ] || return 1
    nap
  done
  printf '%s %s %s %s\\n' $$ "$(start_time $$)" "$boot" "$host" >"$lock_dir/holder"
}
unlock() { if [ -n "$lock_dir" ]; then rm -rf "$lock_dir"; else exec 9>&-; fi; }

look_again() {
  [ "$force" = 0 ] || return 0
  list_text=$(LC_ALL=C limited 20 ${gpuListQuery} 2>&1)
  printf '%s\\n' "$list_text" | LC_ALL=C awk -F, -v gpu="$gpu" -v uuid="$uuid" '
    { id = $2; gsub(/[ \\t\\r]/, "", id) }
    $1 ~ /^ *[0-9]+ *$/ && $1 + 0 == gpu && tolower(id) == tolower(uuid) { found = 1 }
    END { exit !found }' || { printf 'outcome=taken\\nwhy=renumbered\\n'; return 1; }
  apps_text=$(LC_ALL=C limited 20 ${computeAppsQuery} 2>&1); apps_status=$?
  pmon_text=$(LC_ALL=C limited 20 nvidia-smi pmon -s u -d 1 -c 1 2>/dev/null)
  case $apps_status in 0 | 14) ;; *) apps_text='unreadable' ;; esac
  news=$(printf '%s\\n%s\\n' "$apps_text" "$pmon_text" | LC_ALL=C awk -v gpu="$gpu" -v uuid="$uuid" -v known="$known_pids" '
    BEGIN { split(known, list, " "); for (i in list) seen[list[i]] = 1 }
    function tell(pid) { if (pid !~ /^[1-9][0-9]*$/) pid = "unreadable"; if (!seen[pid]++) print pid }
    $1 == "unreadable" { tell($1); next }
    $1 ~ /^[A-Za-z]+-/ {
      split($0, field, ","); id = field[1]; pid = field[2]
      gsub(/[ \\t\\r]/, "", id); gsub(/[ \\t\\r]/, "", pid)
      if (tolower(id) == tolower(uuid)) tell(pid)
      next
    }
    $1 == gpu && $2 != "-" && $3 != "G" && NF >= 4 { tell($2) }')
  for new in $news; do
    [ "$new" != unreadable ] || { [ "$known_list" = 1 ] || continue; printf 'outcome=taken\\nwhy=unreadable\\n'; return 1; }
    new_user=$(ps -o user=,etimes= -p "$new" 2>/dev/null); new_user=\${new_user%% *}
    printf 'outcome=taken\\nwhy=process\\npid=%s\\nuser=%s\\n' "$new" "$new_user"
    return 1
  done
  for live in $(list_claims | tr ' ' ':'); do
    live_job=\${live#*:}; live_job=\${live_job%%:*}
    [ "\${live%%:*}" = "$uuid" ] || continue
    case " $known_jobs " in *" $live_job "*) continue ;; esac
    printf 'outcome=taken\\nwhy=job\\njob=%s\\n' "$live_job"
    return 1
  done
}

launch() {
  # Through \`cat\`, which tells a full disk; the shell's own words for it are "I/O error".
  (umask 077; printf '%s' "$keeper_script" | cat >"$jobs/$id.run") 2>&1 || return 73
  if command -v tmux >/dev/null 2>&1; then
    tmux -L "$socket" -f /dev/null new-session -d -s "$job" -x 200 -y 50 /bin/sh "$jobs/$id.run" tmux 2>&1 </dev/null 9>&-
  elif command -v setsid >/dev/null 2>&1; then
    setsid nohup /bin/sh "$jobs/$id.run" setsid </dev/null >/dev/null 2>&1 9>&- &
  else
    nohup /bin/sh "$jobs/$id.run" setsid </dev/null >/dev/null 2>&1 9>&- &
  fi
}

start_job() {
  # The lock is touched first: a shell ends at once where \`exec\` cannot open it.
  { mkdir -p "$jobs" "$claims/$uuid" && touch "$claims/$uuid/lock"; } 2>&1 || { printf 'outcome=unwritable\\n'; return; }
  uv_path=$(expand "$uv")
  [ -x "$uv_path" ] || { printf 'outcome=uv_missing\\nuv=%s\\n' "$uv_path"; return; }
  lock || { printf 'outcome=lock_busy\\n'; return; }
  if look_again; then
    if read_state "$jobs/$job.state" && [ "$(job_state)" = running ]; then
      printf 'outcome=name_taken\\n'
    else
      launch_and_watch
    fi
  fi
  rm -f "$jobs/$id.run"
}

launch_and_watch() {
  launch_text=$(launch); launch_status=$?
  if [ "$launch_status" -ne 0 ]; then
    unlock
    if [ "$launch_status" -eq 73 ]; then
      printf '%s\\noutcome=unwritable\\n' "$launch_text"
    else
      printf 'outcome=launch_failed\\ndetail=%s\\n' "$(printf '%s' "$launch_text" | tr '\\n' ' ')"
    fi
    return
  fi
  turns=0
  until read_state "$jobs/$job.state" && [ "$s_id" = "$id" ]; do
    turns=$((turns + 1)); [ "$turns" -lt 200 ] || { unlock; printf 'outcome=not_started\\n'; return; }
    nap
  done
  unlock
  turns=0
  while [ "$turns" -lt ${earlyEndSeconds * 10} ] && [ -z "$s_ended" ]; do
    turns=$((turns + 1)); nap; read_state "$jobs/$job.state"
  done
  if [ "$(job_state)" = running ]; then printf 'outcome=started\\n'; else printf 'outcome=ended\\n'; fi
  print_job "$job"
  printf 'log=%s\\n' "$logs/$job.log"
  [ "$(job_state)" = running ] || early_log=1
}
`;

const withPayload = `mark section push; unpack 2>&1; push_status=$?; mark end push $push_status\n`;
const startSections = `
early_log=
if [ "$push_status" -eq 0 ]; then
  mark section start; start_job </dev/null; mark end start 0
  if [ -n "$early_log" ]; then
    mark section log; tail -c "+$((s_offset + 1))" "$logs/$job.log" | tail -n 20; mark end log 0
  fi
fi
mark done
`;

/** The script that brings the code (when `payload` is given) and starts the job, in one connection. */
export function startScript(
  request: StartRequest,
  payload?: { readonly stream: ReadableStream<Uint8Array>; readonly seal: string; readonly seconds: number },
): RemoteScript {
  const values = {
    remote_dir: request.remoteDir,
    uv: request.uv,
    socket: request.tmuxSocket,
    job: request.job,
    id: request.id,
    gpu: request.gpu,
    uuid: request.uuid,
    known_pids: request.known.pids.join(" "),
    known_jobs: request.known.jobs.join(" "),
    known_list: request.known.listReadable ? 1 : 0,
    force: request.force ? 1 : 0,
    keeper_script: keeperScript(request),
    seal: payload?.seal ?? "",
    push_status: 0,
    lock_dir: "",
  };
  const seconds = 240 + (payload?.seconds ?? 0);
  const shared = jobShell + limitedShell + startText;
  return payload === undefined
    ? { text: shared + startSections, values, seconds }
    : { text: shared + unpackShell + withPayload + startSections, values, payload: payload.stream, seconds };
}

/** What became of an attempt to start. */
export type StartOutcome =
  | { readonly kind: "started"; readonly keeper: "tmux" | "setsid"; readonly log: string }
  | { readonly kind: "ended"; readonly code: number | null; readonly log: string; readonly lines: string }
  | {
    readonly kind: "taken";
    readonly why: TakenReason;
    readonly pid: string;
    readonly user: string;
    readonly job: string;
  }
  | { readonly kind: "push_failed"; readonly status: number | null; readonly text: string }
  | {
    readonly kind: "uv_missing" | "unwritable" | "lock_busy" | "name_taken" | "launch_failed" | "not_started";
    readonly detail: string;
  };
export type TakenReason = "process" | "job" | "unreadable" | "renumbered";

/** Reads the answer of `startScript`. Total: an answer that makes no sense is `not_started`. */
export function readStartOutcome(transcript: Transcript): StartOutcome {
  const push = sectionOf(transcript, "push");
  if (push !== undefined && push.status !== 0) {
    return { kind: "push_failed", status: push.status, text: push.text };
  }
  const text = sectionOf(transcript, "start")?.text ?? "";
  const fields = readFields(text);
  const field = (name: string) => fields[name] ?? "";
  switch (field("outcome")) {
    case "started":
      return { kind: "started", keeper: field("keeper") === "setsid" ? "setsid" : "tmux", log: field("log") };
    case "ended": {
      const code = /^\d{1,3}$/.test(field("code")) ? Number(field("code")) : null;
      return { kind: "ended", code, log: field("log"), lines: sectionOf(transcript, "log")?.text ?? "" };
    }
    case "taken": {
      const why = (["process", "job", "unreadable", "renumbered"] as const).find((word) =>
        word === field("why")
      );
      return {
        kind: "taken",
        why: why ?? "unreadable",
        pid: field("pid"),
        user: field("user"),
        job: field("job"),
      };
    }
    case "uv_missing":
      return { kind: "uv_missing", detail: field("uv") };
    case "unwritable":
      return { kind: "unwritable", detail: text.split("\n")[0] ?? "" };
    case "lock_busy":
    case "name_taken":
      return { kind: field("outcome") as "lock_busy" | "name_taken", detail: "" };
    case "launch_failed":
      return { kind: "launch_failed", detail: field("detail") };
    default:
      return {
        kind: "not_started",
        detail: text.split("\n").find((line) => !line.startsWith("outcome=")) ?? "",
      };
  }
}
