import { expandShell } from "../ssh/expand.ts";
import type { Pattern } from "./whitelist.ts";

/**
 * The script that sends a run's whitelisted files: the first of the two defences. It is POSIX `sh` and needs `find`,
 * `sed`, `awk`, `tee`, `wc`, a `tar` and something that computes SHA-256; GNU tar is preferred.
 *
 * `find` names regular files without following any link; control characters are left out there, so that names are
 * lines from then on. `sed`, in the C locale, keeps the names on the whitelist and, of those, sets aside names that
 * the receiver would have to refuse (see `member_name.ts`), because one such name would stop every pull of the run.
 * The chosen names, all beginning with `./`, are `tar`'s list. Its output goes out while it is counted and hashed.
 *
 * It prints, in the frames of `ssh/framing.ts`, a section `plan`, then a mark `archive` with the raw archive behind
 * it, then a section `trailer`; or a section `problem` with one of {@linkcode sendProblems}.
 */
export const sendScript = expandShell + String.raw`
LC_ALL=C
export LC_ALL
unset CDPATH TAR_OPTIONS
problem() { mark section problem; echo "$1"; mark end problem 0; mark done; exit 0; }
base=$(expand "$remote_dir")
cd "$base/runs" 2>/dev/null || problem no_run
runs=$(pwd -P)
[ -h "./$run_id" ] && problem link
[ -d "./$run_id" ] || problem no_run
cd "./$run_id" 2>/dev/null || problem unreadable
[ "$(pwd -P)" = "$runs/$run_id" ] || problem link

command -v tar >/dev/null 2>&1 || problem no_tar
# openssl first: it uses the processor's own instructions and is several times as fast.
if command -v openssl >/dev/null 2>&1; then sha256() { openssl dgst -sha256 -r; }
elif command -v sha256sum >/dev/null 2>&1; then sha256() { sha256sum; }
elif command -v shasum >/dev/null 2>&1; then sha256() { shasum -a 256; }
else problem no_sha256
fi
knows() { tar "$@" -cf - -T /dev/null </dev/null >/dev/null 2>&1; }
quoted() { sed 's/[^A-Za-z0-9_./-]/\\&/g'; }
pack() { tar "$@" -cf - -T -; }
# Only GNU tar can send a file with several hard links as a file; with another, such files stay behind.
single=
listless=
if knows --format=gnu --hard-dereference --no-recursion; then
  set -- --format=gnu --hard-dereference --no-recursion -b 128
elif knows --format=gnutar --no-read-sparse --no-recursion; then
  set -- --format=gnutar --no-read-sparse --no-recursion -b 128
  single="-links 1"
elif knows --format=gnutar --no-recursion; then
  set -- --format=gnutar --no-recursion -b 128
  single="-links 1"
else
  # busybox, which may not even take a list.
  set --
  single="-links 1"
  knows || { listless=1; pack() { quoted | xargs tar -cf -; }; }
fi

high=$(printf '[\200-\377]')
# One character of UTF-8: a byte that begins one, and the bytes that continue it.
one=$(printf '[^/\200-\277][\200-\277]*')
wanted=$(printf '%s\n' "$wanted" | sed "s,?,$one,g")
superscript=$(printf '\302[\262\263\271]')
# Invisible characters are odd; then whatever is well-formed is taken out, so that what is left is not.
invisible=$(printf '\\,\302[\200-\237\255],b odd
\\,\330\234,b odd
\\,\341\240\216,b odd
\\,\342\200[\213-\217\250-\256],b odd
\\,\342\201[\240-\257],b odd
\\,\357\273\277,b odd
\\,\357\277[\271-\273],b odd
s,[\302-\337][\200-\277],!,g
s,\340[\240-\277][\200-\277],!,g
s,[\341-\354\356\357][\200-\277][\200-\277],!,g
s,\355[\200-\237][\200-\277],!,g
s,\360[\220-\277][\200-\277][\200-\277],!,g
s,[\361-\363][\200-\277][\200-\277][\200-\277],!,g
s,\364[\200-\217][\200-\277][\200-\277],!,g')
filter='\,^[-?]$,{
p
d
}
'$wanted'
s,.*,-,
p
d
:keep
h
s,^[0-9]* \.,,
s,$,/,
\,["<>|?*:\\],b odd
\,[. ]/,b odd
\,/[aAcClLnNpP][lLoOpPrRuU],!b plain
\,/[aA][uU][xX] *[./],b odd
\,/[cC][oO][nN] *[./],b odd
\,/[nN][uU][lL] *[./],b odd
\,/[pP][rR][nN] *[./],b odd
\,/[cC][oO][nN][iI][nN]\$ *[./],b odd
\,/[cC][oO][nN][oO][uU][tT]\$ *[./],b odd
\,/[cC][lL][oO][cC][kK]\$ *[./],b odd
\,/[cC][oO][mM][0-9] *[./],b odd
\,/[lL][pP][tT][0-9] *[./],b odd
\,/[cC][oO][mM]'$superscript' *[./],b odd
\,/[lL][pP][tT]'$superscript' *[./],b odd
:plain
\,'$high',!b good
'$invisible'
\,'$high',b odd
:good
g
p
d
:odd
s,.*,!,
p'

# One line for everything that is no directory: its size and name where it may come, else a dash.
if find . -ignore_readdir_race -prune -printf '' >/dev/null 2>&1; then
  sized=1
  list() {
    # A file that goes while it is being looked at (a job may be writing) is no fault.
    find . -ignore_readdir_race ! -type d \
      \( -type f ! -path '*[[:cntrl:]]*' $single -printf '%s %p\n' -o -printf '-\n' \)
  }
else
  sized=
  list() {
    find . -type f ! -path '*[[:cntrl:]]*' $single -print | sed 's/^/0 /'
    find . ! -type d ! \( -type f ! -path '*[[:cntrl:]]*' $single \) \
      -exec sh -c 'for each; do echo -; done' sh {} +
  }
fi
found=$({ list 2>/dev/null || echo "?"; } | sed -n "$filter")
names=$(printf '%s\n' "$found" | sed -n 's/^[0-9][0-9]* //p')
# Names that are too many for one command line would become several archives.
[ -z "$listless" ] || [ "${"$"}{#names}" -lt 20000 ] || problem no_tar
read -r files bytes left unportable unread <<END
$(printf '%s\n' "$found" | awk '
  /^[0-9]/ { files++; bytes += $1 }
  /^-/ { left++ }
  /^!/ { odd++ }
  /^[?]/ { unread++ }
  END { printf "%.0f %.0f %.0f %.0f %.0f", files, bytes, left + odd, odd, unread }')
END
if [ -z "$sized" ] && [ "$files" -gt 0 ]; then
  bytes=$(printf '%s\n' "$names" | quoted | xargs ls -lnd 2>/dev/null |
    awk '{ n += $5 } END { printf "%.0f", n }')
fi
mark section plan
printf '%s\n' "files $files" "bytes $bytes" "left $left" "unportable $unportable" "unread $unread"
mark end plan 0
if [ "$only_plan" = 1 ] || [ "$files" -eq 0 ]; then mark done; exit 0; fi

# Passes the archive on to the connection, and tells its length and hash.
exec 4>&1
relay() {
  {
    { tee /dev/fd/5 /dev/fd/6 >&4 2>/dev/null; } 5>&1 | { value=$(sha256); echo "sha256 $value" >&3; }
  } 6>&1 | { value=$(wc -c); echo "length $value" >&3; }
}
# With much to send, one process in the place of four is worth trying: every byte goes through one pipe less. A Python
# that cannot begin leaves the archive to the others. One that began and did not come to its end has taken bytes with it
# that nobody has counted: then nothing is told.
relay_at_once() {
  [ "$bytes" -gt 16777216 ] && python3 -I -S -c '
import fcntl, hashlib, os
for pipe in (0, 4):
    try:
        # F_SETPIPE_SZ of Linux. The programs on both sides wait for each other less.
        fcntl.fcntl(pipe, 1031, 1 << 20)
    except OSError:
        pass
print("begun", flush=True)
digest = hashlib.sha256()
length = 0
while True:
    part = os.read(0, 1 << 18)
    if not part:
        break
    digest.update(part)
    length += len(part)
    while part:
        part = part[os.write(4, part):]
print("length", length)
print("sha256", digest.hexdigest())
print("ended")
' >&3 2>/dev/null
}
mark archive
outcome=$({ { printf '%s\n' "$names" | pack "$@" 2>/dev/null 4>&-; echo "tar $?" >&3; } | { relay_at_once || relay; }; } 3>&1)
case $outcome in
  *begun*ended*) ;;
  *begun*) outcome= ;;
esac
mark section trailer
printf '%s\n' "members $files" "$outcome"
mark end trailer 0
mark done
`;

/** Why the script sent nothing. */
export const sendProblems = ["no_run", "link", "unreadable", "no_tar", "no_sha256"] as const;
export type SendProblem = (typeof sendProblems)[number];

/** The script's parameters. */
export function sendValues(
  request: { remoteDir: string; runId: string; patterns: readonly Pattern[]; onlyPlan: boolean },
): Record<string, string | number> {
  return {
    remote_dir: request.remoteDir,
    run_id: request.runId,
    wanted: request.patterns.map(sedCommand).join("\n"),
    only_plan: request.onlyPlan ? 1 : 0,
  };
}

/**
 * The `sed` command that keeps the paths of one pattern, as a POSIX basic regular expression between commas. `?`,
 * which is not special in one, is left for the script to replace: its bytes cannot be written in UTF-8.
 */
export function sedCommand({ segments }: Pattern): string {
  const expression = segments.map((segment) =>
    segment.replaceAll(/[.,[\]^$*]/g, (character) => character === "*" ? "[^/]*" : `\\${character}`)
  ).join("/");
  return `\\,^[0-9]* \\./${expression}$,b keep`;
}
