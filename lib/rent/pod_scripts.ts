import { killScript } from "../job/kill.ts";
import { readFields } from "../job/list.ts";
import { jobShell, limitedShell } from "../job/shell.ts";
import type { RemoteScript } from "../ssh/connection.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import { shellAssignments } from "../ssh/quote.ts";
import { podEnvironmentShell } from "./pod_environment.ts";

/**
 * What is sent to a Pod. Everything that may take longer than a breath (setup, training, upload) runs as a *task*: a
 * keeper in a session of its own, which outlives the connection, notes its exit code and can be looked at again. A task
 * is laid down as a job is (see `job/shell.ts`), so that a job's kill script serves for it too.
 */
export interface PodTask {
  /** Absolute folder that is ours alone, such as `/workspace/.tias-remote`. */
  readonly folder: string;
  /** `setup`, `prepare`, `train`, `upload`: safe as a file name. */
  readonly name: string;
  /** Absolute file for what the command prints; begun anew at each start. Default: beside the task's state. */
  readonly log?: string;
}

export interface TaskRequest extends PodTask {
  /** 32 hexadecimal digits. A second start with the same id starts nothing, so a start may be tried again. */
  readonly id: string;
  /** Absolute folder in which the command runs. */
  readonly cwd: string;
  /** Shell text, run by bash where there is one. */
  readonly command: string;
  /** Added to the environment; no secrets. */
  readonly env?: Readonly<Record<string, string>>;
  /** Absolute file for the GPUs' use, sampled while the command runs. */
  readonly gpuCsv?: string;
  /** Goes into a file on a tmpfs that `HF_TOKEN_PATH` names, until the command ends. */
  readonly token?: string;
}

/** Seconds between two samples of the GPUs. */
export const gpuSampleSeconds = 30;
/** Head of the file that `gpuCsv` names. The time is Unix time by the Pod's clock. */
export const gpuCsvHeader = "time,gpu,utilization_percent,memory_used_mib,memory_total_mib";

// The sampler begins before the id is exported, so that it does not itself count as a living part of the task.
const keeperText = `
state=$jobs/$job.state
rm -f "$0"
trap : INT TERM HUP
# One keeper for an id, however often it is launched. The lock of one that died before it wrote its state counts for
# nothing.
if ! mkdir "$jobs/$id.lock" 2>/dev/null; then
  { read -r l_pid l_start l_boot l_host <"$jobs/$id.lock/holder"; } 2>/dev/null || exit 0
  if lives "$l_pid" "$l_start" "$l_boot" "$l_host"; then exit 0; fi
  if read_state "$state" && [ "$s_id" = "$id" ]; then exit 0; fi
fi
printf '%s %s %s %s\\n' $$ "$(start_time $$)" "$boot" "$host" >"$jobs/$id.lock/holder"
inherit_environment
if command -v bash >/dev/null 2>&1; then shell=bash; else shell=sh; fi
sample_gpus() {
  printf '%s\\n' '${gpuCsvHeader}'
  while lives "$1" "$2" "$boot" "$host"; do
    now=$(date +%s)
    LC_ALL=C limited 20 nvidia-smi --query-gpu=index,utilization.gpu,memory.used,memory.total \\
      --format=csv,noheader,nounits 2>/dev/null | sed -n "/^ *[0-9]/{s/, */,/g;s/^ */$now,/;p;}"
    sleep "$sample_seconds"
  done
}
printf 'id=%s\\npid=%s\\nstart=%s\\nboot=%s\\nhost=%s\\nbegan=%s\\nkeeper=setsid\\noffset=0\\n' \\
  "$id" $$ "$(start_time $$)" "$boot" "$host" "$(date +%s)" >"$state.new" && mkdir -p "\${log%/*}" && : >"$log" || exit 73
if [ -n "$gpu_csv" ]; then
  mkdir -p "\${gpu_csv%/*}"
  sample_gpus $$ "$(start_time $$)" >"$gpu_csv" 2>/dev/null </dev/null & sampler=$!
fi
export PYTHONUNBUFFERED=1 TIAS_REMOTE_JOB_ID="$id"
[ -z "$token_file" ] || export HF_TOKEN_PATH="$token_file"
mv "$state.new" "$state" || exit 73
{ cd "$cwd" && "$shell" -c "$command"; } >>"$log" 2>&1 </dev/null
code=$?
[ -z "$token_file" ] || rm -f "$token_file"
[ -z "$sampler" ] || kill "$sampler" 2>/dev/null
printf 'ended=%s\\ncode=%s\\n' "$(date +%s)" "$code" >>"$state"
`;

// A start whose connection broke half-way is simply made again: is_started, and the keeper's own lock, see to it that
// the command runs once.
const startText = `
outcome() { printf 'outcome=%s\\n' "$1"; }
nap() { sleep 0.1 2>/dev/null || sleep 1; }
is_started() { read_state "$jobs/$job.state" && [ "$s_id" = "$id" ]; }
place_token() {
  [ -n "$token_file" ] || return 0
  awk -v folder="\${token_file%/*}" '$2 == folder && $3 == "tmpfs" { found = 1 } END { exit !found }' /proc/mounts || return 1
  (umask 077; printf '%s' "$token" >"$token_file") 2>/dev/null
}
start_task() {
  mkdir -p "$jobs" 2>&1 || { outcome unwritable; return; }
  [ -d "$cwd" ] || { outcome no_folder; return; }
  if is_started; then outcome started; return; fi
  if read_state "$jobs/$job.state" && [ "$(job_state)" = running ]; then outcome busy; return; fi
  place_token || { outcome no_tmpfs; return; }
  # A file of its own for each launch: a shell reads its script while it runs.
  (umask 077; printf '%s' "$keeper_script" >"$jobs/$job.run.$$") 2>&1 || { outcome unwritable; return; }
  setsid nohup sh "$jobs/$job.run.$$" </dev/null >/dev/null 2>&1 &
  turns=0
  until is_started; do
    turns=$((turns + 1))
    if [ "$turns" -ge 200 ]; then
      # Whoever made this lock so long ago and wrote no name into it is dead.
      [ -s "$jobs/$id.lock/holder" ] || rm -rf "$jobs/$id.lock"
      outcome not_started; return
    fi
    nap
  done
  outcome started
}
mark section start; start_task </dev/null; mark end start 0
mark done
`;

/** Where everything about a task lies, as the scripts name it. */
function placeOf({ folder, name, log }: PodTask): Record<"remote_dir" | "job" | "log", string> {
  return { remote_dir: folder, job: name, log: log ?? `${folder}/${name}.log` };
}

/** Where a token lies on the Pod while a task needs it. */
function tokenFile(id: string): string {
  return `/dev/shm/tias-remote-${id}`;
}

/** Starts a task, or does nothing when this very task was started already. The call returns at once. */
export function startTaskScript(request: TaskRequest, sampleSeconds = gpuSampleSeconds): RemoteScript {
  const shared = {
    ...placeOf(request),
    id: request.id,
    cwd: request.cwd,
    token_file: request.token === undefined ? "" : tokenFile(request.id),
  };
  const keeper = shellAssignments({
    ...shared,
    command: request.command,
    gpu_csv: request.gpuCsv ?? "",
    sample_seconds: sampleSeconds,
    sampler: "",
    environ: "/proc/1/environ",
  }) + jobShell + limitedShell + podEnvironmentShell +
    Object.entries(request.env ?? {}).map(([name, value]) => `export ${shellAssignments({ [name]: value })}`)
      .join("") +
    keeperText;
  return {
    text: jobShell + startText,
    values: { ...shared, token: request.token ?? "", keeper_script: keeper },
    seconds: 60,
  };
}

// Whether the keeper or anything with the task's id still lives is asked before the state is read: the keeper notes
// the exit code before it ends, so "gone without an exit code" is never a matter of bad timing.
const lookText = `
any_member() {
  for environ in $(grep -l "TIAS_REMOTE_JOB_ID=$s_id" /proc/[0-9]*/environ 2>/dev/null); do
    member=\${environ#/proc/}; ! start_time "\${member%/environ}" >/dev/null || return 0
  done
  return 1
}
show_task() {
  if ! read_state "$jobs/$job.state"; then printf 'known=0\\n'; return 0; fi
  running=0
  if lives "$s_pid" "$s_start" "$s_boot" "$s_host" || any_member; then running=1; fi
  read_state "$jobs/$job.state"
  printf 'known=1\\nid=%s\\nrunning=%s\\nbegan=%s\\nended=%s\\ncode=%s\\n' "$s_id" "$running" "$s_began" "$s_ended" "$s_code"
  if [ -f "$log" ]; then
    written=$(stat -c %Y "$log" 2>/dev/null) && printf 'log_age=%s\\n' "$(($(date +%s) > written ? $(date +%s) - written : 0))"
    printf 'log_size=%s\\n' "$(($(wc -c <"$log")))"
  fi
  return 0
}
show_log() { if [ -f "$log" ]; then tail -c 262144 "$log"; fi; }
# Orbax writes its marker first, with null for the time of the commit until everything else is written.
unfinished() { grep -q '"commit_timestamp_nsecs"' "$1" && ! grep -q '"commit_timestamp_nsecs": *[1-9]' "$1"; }
show_checkpoints() {
  [ -n "$checkpoints" ] || return 0
  for found in "$checkpoints"/*/; do
    found=\${found%/}; step=\${found##*/}
    case $step in '' | *[!0-9]*) continue ;; esac
    committed=0
    if [ -f "$found/$marker" ] && ! unfinished "$found/$marker"; then committed=1; fi
    printf '%s %s\\n' "$step" "$committed"
  done
}
section task show_task
section log show_log
section checkpoints show_checkpoints
mark done
`;

/** Where a training puts its checkpoints, one numbered folder each. */
export interface CheckpointPlace {
  readonly checkpoints: string;
  /** The file in a checkpoint that says that it is whole. */
  readonly marker: string;
}

/** One look at a task: its state, the end of its log and, for a training, its checkpoints. */
export function lookScript(task: PodTask, place?: CheckpointPlace): RemoteScript {
  return {
    text: jobShell + lookText,
    values: { ...placeOf(task), checkpoints: place?.checkpoints ?? "", marker: place?.marker ?? "" },
    seconds: 60,
  };
}

/** Removes a task's token, should its keeper have been killed before it could. */
export function forgetTokenScript(id: string): RemoteScript {
  return { text: 'rm -f "$token_file"\nmark done\n', values: { token_file: tokenFile(id) }, seconds: 30 };
}

/** Stops a task and everything it started, found by its process group and its id. The answer has a section `kill`. */
export function stopTaskScript(task: PodTask, graceSeconds: number): RemoteScript {
  const order = ReadableStream.from([new TextEncoder().encode("go\n")]);
  return killScript(task.folder, task.name, graceSeconds, order);
}

export type StartedTask =
  | "started"
  /** Another task of that name is running. */
  | "busy"
  | "no_folder"
  | "unwritable"
  /** There is no tmpfs for the token, or no room in it. */
  | "no_tmpfs"
  | "not_started";

/** Reads the answer of `startTaskScript`. Total: what makes no sense is `not_started`. */
export function readStartedTask(transcript: Transcript): StartedTask {
  const outcome = readFields(sectionOf(transcript, "start")?.text ?? "")["outcome"];
  const outcomes = ["started", "busy", "no_folder", "unwritable", "no_tmpfs"] as const;
  return outcomes.find((known) => known === outcome) ?? "not_started";
}

/** What became of a stop: `survived` means that some process did not even obey SIGKILL. */
export type StoppedTask = "stopped" | "survived" | "not_understood";

/** Reads the answer of `stopTaskScript`. A task that ran no more is stopped too. */
export function readStoppedTask(transcript: Transcript): StoppedTask {
  const outcome = readFields(sectionOf(transcript, "kill")?.text ?? "")["outcome"];
  if (outcome === "killed" || outcome === "gone") return "stopped";
  return outcome === "survived" ? "survived" : "not_understood";
}
