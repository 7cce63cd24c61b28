/**
 * Shell function for the server: the absolute path that a configured one means there. A relative one lies below the
 * home folder, wherever a login's own files may have gone.
 */
export const expandShell = `
expand() {
  case $1 in
    '~') printf '%s' "$HOME" ;;
    '~/'*) printf '%s' "$HOME/\${1#??}" ;;
    /*) printf '%s' "$1" ;;
    *) printf '%s' "$HOME/$1" ;;
  esac
}
`;
