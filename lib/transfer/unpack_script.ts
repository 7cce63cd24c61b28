/**
 * Shell function for the server: unpacks the tar on standard input over `$remote_dir`.
 *
 * Everything is unpacked beside its place first and moved there file by file (a rename) only when the last member,
 * `$seal`, has arrived: a connection that breaks, or a full disk, leaves no half-written file under its final name.
 * Status: 0 done, 3 the server could not write, 4 the stream was cut, 127 there is no tar.
 */
export const unpackShell = `
unpack() {
  command -v tar >/dev/null 2>&1 || { echo 'tar: not found'; return 127; }
  # Words are looked at, so they must be English; what runs afterwards keeps the account's own language.
  LC_ALL=C mkdir -p "$remote_dir" || return 3
  # What a push left here whose server went down in the middle.
  find "$remote_dir" ! -path "$remote_dir" -prune -name '.tias-remote-incoming.*' -mmin +120 -exec rm -rf {} + 2>/dev/null
  incoming=$(LC_ALL=C mktemp -d "$remote_dir/.tias-remote-incoming.XXXXXX") || return 3
  trap 'rm -rf "$incoming"' EXIT
  # PIPE is how a client that was killed shows: nobody reads what is told here.
  trap 'exit 129' HUP INT TERM PIPE
  if ! tar_says=$(LC_ALL=C tar -C "$incoming" -xof - 2>&1); then
    cat >/dev/null
    printf '%s\\n' "$tar_says"
    case $tar_says in
      *[Uu]nexpected\\ EOF* | *[Tt]runcated* | *[Ss]hort\\ read* | *not\\ look\\ like\\ a\\ tar*) return 4 ;;
    esac
    return 3
  fi
  [ -e "$incoming/$seal" ] || return 4
  rm -f "$incoming/$seal"
  # No name in the tar holds a line feed: they are refused before packing.
  (cd "$incoming" && find . -type d | while IFS= read -r folder; do
    LC_ALL=C mkdir -p "$remote_dir/$folder" || exit 3
    LC_ALL=C find "$folder/." ! -name . -prune ! -type d -exec sh -c 'to=$1; shift; exec mv -f "$@" "$to/"' \\
      sh "$remote_dir/$folder" {} + || exit 3
  done) || return 3
  rm -rf "$incoming"
  trap - EXIT HUP INT TERM PIPE
}
`;
