import { shellAssignments } from "../ssh/quote.ts";

/**
 * The watchdog: the POSIX shell text that is a Pod's first process. It starts a watcher and then becomes the image's
 * own start script. The watcher knows one absolute time and deletes its own Pod when it has come, with the key that
 * Runpod gives to each Pod for itself. Nothing on the client's side is needed for that.
 *
 * Its folder holds, for the client:
 *
 *     alive    now=, until=, proof= (HTTP status of reading its own Pod), every few seconds
 *     extend   a Unix time; may only put `until` off, and never beyond deadline + extension
 *     disarm   the Pod's own name, written by a person's hand, stops it for as long as the file is there
 */

/** Environment variables of our Pods. They hold no secret: whoever has the account's key can read them. */
export const podVariable = {
  /** Our mark: the Pod's own full name. */
  name: "TIAS_REMOTE_POD",
  /** Unix time at which the watchdog deletes the Pod. */
  deadline: "TIAS_REMOTE_DEADLINE",
  /** Seconds by which the deadline may be put off at most. */
  extension: "TIAS_REMOTE_EXTENSION",
} as const;

export interface WatchdogPlaces {
  /** `https://api.runpod.io/v2` */
  readonly apiUrl: string;
  /** Folder on the volume, which outlives a restart of the container. */
  readonly folder: string;
  /** Seconds between two looks at the clock. */
  readonly tickSec: number;
  /** Environment of the container's first process. */
  readonly environ?: string;
  /** Where Runpod's images note that environment for logins. */
  readonly exported?: string;
}

/** Where the watchdog notes its life when the volume cannot be written. */
export const spareFolder = "/tmp/tias-remote-watchdog";

const python = `
import sys, urllib.error, urllib.request
class Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_): return None
method, url, body, agent = sys.argv[1:5]
headers = {"Authorization": "Bearer " + sys.stdin.read(), "User-Agent": agent, "Content-Type": "application/json"}
request = urllib.request.Request(url, body.encode() or None, headers, method=method)
try:
    answer = urllib.request.build_opener(Stay).open(request, timeout=30)
except urllib.error.HTTPError as error:
    answer = error
sys.stdout.write(answer.read().decode("utf-8", "replace") + "\\n" + str(answer.getcode()))
`;

// `printf` is part of the shell, so a key that it prints is in no process's arguments.
const watcherText = String.raw`
umask 077
agent=tias-remote-watchdog/0.1
is_number() { case $1 in '' | *[!0-9]* | ????????????*) return 1 ;; esac; }
# Variable $1: of this process, of the container's first one, or as the image noted it.
lookup() {
  eval "found=\${$1:-}"
  [ -n "$found" ] || found=$(tr '\000' '\n' <"$environ" 2>/dev/null | sed -n "s/^$1=//p" | sed -n 1p)
  [ -n "$found" ] || found=$(sed -n "s/^export $1=//p" "$exported" 2>/dev/null | sed -n '1{s/^"//;s/"$//;p;}')
}
identify() {
  lookup RUNPOD_POD_ID; id=$found
  case $id in *[!A-Za-z0-9_-]*) id= ;; esac
  lookup RUNPOD_API_KEY; key=$found; found=
  case $key in *[!A-Za-z0-9_.-]*) key= ;; esac
}
# call METHOD URL [BODY]: sets status (000 when nobody answered) and answer.
call() {
  method=$1 url=$2 body=${"$"}{3-} status=000 answer=
  if [ -n "$key" ] && command -v curl >/dev/null 2>&1; then
    set --
    [ -z "$body" ] || set -- -H 'Content-Type: application/json' --data-raw "$body"
    answer=$(printf 'header = "Authorization: Bearer %s"\n' "$key" |
      curl -q -sS -K - -A "$agent" -X "$method" "$@" --connect-timeout 10 --max-time 30 -w '\n%{http_code}' "$url" 2>/dev/null)
    take_status
  fi
  if [ "$status" = 000 ] && [ -n "$key" ] && command -v python3 >/dev/null 2>&1; then
    answer=$(printf '%s' "$key" | python3 -c "$python" "$method" "$url" "$body" "$agent" 2>/dev/null)
    take_status
  fi
}
take_status() {
  status=$(printf '%s\n' "$answer" | sed -n '$p')
  case $status in [1-5][0-9][0-9]) ;; *) status=000 ;; esac
}
is_gone() { case $status in 2?? | 404) return 0 ;; esac; return 1; }
tool() {
  command -v runpodctl >/dev/null 2>&1 || return 1
  if [ -n "$key" ]; then RUNPOD_API_KEY=$key runpodctl "$@" >/dev/null 2>&1; else runpodctl "$@" >/dev/null 2>&1; fi
}
note() { printf '%s %s\n' "$(date +%s)" "$*" >>"$state/log" 2>/dev/null; }
destroy() {
  identify
  call DELETE "$api/pods/$id"; note "delete $status"
  is_gone && return
  call POST "$api/pods/$id/action" '{"action":"terminate"}'; note "terminate $status"
  is_gone && return
  call POST "$graphql" '{"query":"mutation { podTerminate(input: {podId: \"'"$id"'\"}) }"}'; note "graphql $status"
  case $status:$answer in 200:*'"errors"'*) ;; 200:*) return ;; esac
  tool remove pod "$id" && { note "runpodctl removed"; return; }
  call POST "$api/pods/$id/action" '{"action":"stop"}'; note "stop $status"
  tool stop pod "$id"
}
is_disarmed() { { read -r word <"$state/disarm"; } 2>/dev/null && [ -n "$word" ] && [ "$word" = "$TIAS_REMOTE_POD" ]; }
watch() {
  trap '' HUP INT TERM
  deadline=$TIAS_REMOTE_DEADLINE; is_number "$deadline" || deadline=0
  extension=$TIAS_REMOTE_EXTENSION; is_number "$extension" || extension=0
  last=$((deadline + extension)) until=$deadline proof=000
  mkdir -p "$state" 2>/dev/null && : >>"$state/log" 2>/dev/null || { state=$spare; mkdir -p "$state"; }
  while :; do
    { read -r asked <"$state/extend"; } 2>/dev/null || asked=
    if is_number "$asked" && [ "$asked" -gt "$until" ]; then
      [ "$asked" -le "$last" ] || asked=$last
      until=$asked
    fi
    now=$(date +%s)
    if [ "$proof" != 200 ]; then identify; call GET "$api/pods/$id"; proof=$status; fi
    printf 'now=%s\nuntil=%s\nproof=%s\n' "$now" "$until" "$proof" >"$state/alive.new" && mv -f "$state/alive.new" "$state/alive"
    if [ "$now" -ge "$until" ] && ! is_disarmed; then destroy; fi
    sleep "$tick"
  done
}
# Not as a redirection of the function: dash would keep the container's own outputs open beside it.
{ exec </dev/null >/dev/null 2>&1; watch; } &
exec "$@"
`;

/** The text; it is run as `sh -c TEXT tias-remote START…`, where START is the image's own start command. */
export function watchdogScript(places: WatchdogPlaces): string {
  return shellAssignments({
    api: places.apiUrl,
    graphql: places.apiUrl.replace(/\/[^/]*$/, "/graphql"),
    state: places.folder,
    spare: spareFolder,
    tick: places.tickSec,
    environ: places.environ ?? "/proc/1/environ",
    exported: places.exported ?? "/etc/rp_environment",
    python,
  }) + watcherText.trimStart();
}
