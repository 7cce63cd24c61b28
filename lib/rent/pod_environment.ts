/**
 * An ssh session of a Pod lacks what the image and Runpod put into the container's environment (the search path, CUDA's
 * folders), and `.bashrc` is not read by a command. So a task takes it from process 1. Keys and passwords are left
 * behind: a training that logs its environment must not log those.
 */
export const podEnvironmentShell = `
inherit_environment() {
  inherited=$(tr '\\000' '\\n' <"$environ" 2>/dev/null) || inherited=
  while IFS= read -r pair; do
    name=\${pair%%=*}
    # Capitals only, so that no variable of these scripts is touched.
    case $name in '' | "$pair" | [0-9]* | *[!A-Z0-9_]*) continue ;; esac
    case $name in
      *KEY* | *TOKEN* | *SECRET* | *PASSWORD* | HOME | PWD | OLDPWD | SHLVL | _ | USER | LOGNAME | SHELL | TERM | IFS | ENV | BASH_ENV) ;;
      PATH) PATH=\${pair#*=}:$PATH ;;
      *) export "$name=\${pair#*=}" ;;
    esac
  done <<INHERITED
$inherited
INHERITED
  PATH=$HOME/.local/bin:$PATH
  export PATH
}
`;
