import type { ServerConfig } from "../config/remote.ts";
import { gpuListQuery } from "../gpu/queries.ts";
import { jobShell, limitedShell } from "../job/shell.ts";
import type { RemoteScript } from "../ssh/connection.ts";

// The trial file is the one thing written, and is removed at once: neither permissions nor `df` know of quotas. Of the
// clinical data nothing is told but whether something is there: a name may hold a patient's.
const checkupText = `
LC_ALL=C; export LC_ALL
PATH=$HOME/.local/bin:$PATH:/usr/local/bin:/usr/bin:/bin:/usr/lib/wsl/lib
has() { command -v "$1" >/dev/null 2>&1; }
first_line() { head -n 1 | cut -c 1-200; }
facts() { printf 'user=%s\\nhost=%s\\nshell=%s\\n' "$(id -un)" "$host" "\${SHELL##*/}"; }
gpu_list() { limited 15 ${gpuListQuery} 2>&1; }
driver() { limited 15 nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null; }
tools() {
  if has tmux; then printf 'tmux=%s\\n' "$(limited 5 tmux -V 2>&1 | first_line)"; fi
  if has tar; then printf 'tar=%s\\n' "$(limited 5 tar --version 2>&1 | first_line)"; fi
  for tool in openssl sha256sum shasum; do
    if has "$tool"; then printf 'sha256=%s\\n' "$tool"; break; fi
  done
}
uv_there() {
  uv_path=$(expand "$uv")
  printf 'path=%s\\n' "$uv_path"
  [ -e "$uv_path" ] || { printf 'state=missing\\n'; return; }
  uv_text=$(limited 10 "$uv_path" --version 2>&1); uv_status=$?
  if [ "$uv_status" -eq 0 ]; then printf 'state=runs\\n'; else printf 'state=fails\\n'; fi
  printf 'said=%s\\n' "$(printf '%s\\n' "$uv_text" | first_line)"
}
place() {
  at=$remote_dir
  until [ -e "$at" ] || [ -z "$at" ]; do at=\${at%/*}; done
  at=\${at:-/}
  printf 'path=%s\\nexisting=%s\\n' "$remote_dir" "$at"
  trial=$at/.tias-remote-doctor-$nonce
  if trial_text=$( { echo trial >"$trial"; } 2>&1); then printf 'writable=1\\n'; else printf 'writable=0\\n'; fi
  rm -f "$trial" 2>/dev/null
  printf 'said=%s\\n' "$(printf '%s\\n' "$trial_text" | first_line)"
  while [ ! -d "$at" ]; do at=\${at%/*}; at=\${at:-/}; done
  printf 'free_kib=%s\\n' "$(limited 10 df -Pk "$at" 2>/dev/null |
    awk 'NR > 1 { for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+%$/) { print $(i - 1); exit } }')"
}
data() {
  data_path=$(expand "$data_dir")
  printf 'path=%s\\n' "$data_path"
  if [ ! -e "$data_path" ]; then printf 'state=missing\\n'
  elif [ ! -d "$data_path" ]; then printf 'state=not_folder\\n'
  elif [ ! -r "$data_path" ] || [ ! -x "$data_path" ]; then printf 'state=unreadable\\n'
  elif [ -n "$(ls -A "$data_path" 2>/dev/null | head -c 1)" ]; then printf 'state=filled\\n'
  else printf 'state=empty\\n'; fi
}
# logind is asked itself; its files tell where it cannot be.
logout() {
  lingering=$(limited 5 loginctl show-user "$(id -un)" --property=Linger 2>/dev/null)
  [ -d /run/systemd/system ] || [ -n "$lingering" ] || { printf 'systemd=0\\n'; return; }
  printf 'systemd=1\\n'
  kills=$(limited 5 busctl get-property org.freedesktop.login1 /org/freedesktop/login1 \\
    org.freedesktop.login1.Manager KillUserProcesses 2>/dev/null)
  [ -n "$kills" ] || kills=$(cat /etc/systemd/logind.conf /usr/lib/systemd/logind.conf.d/*.conf \\
    /run/systemd/logind.conf.d/*.conf /etc/systemd/logind.conf.d/*.conf 2>/dev/null |
    sed -n 's/^[[:space:]]*KillUserProcesses[[:space:]]*=[[:space:]]*//p' | tail -n 1)
  printf 'kills=%s\\n' "\${kills#b }"
  printf '%s\\n' "$lingering"
}
section facts facts
section tools tools
section uv uv_there
section place place
section data data
section logout logout
if section gpu_list gpu_list; then section driver driver; fi
section now date +%s
mark done
`;

/** The one script that examines a server. Sections: facts, tools, uv, place, data, logout, gpu_list, driver, now. */
export function checkupScript(
  server: Pick<ServerConfig, "remote_dir" | "data_dir" | "uv">,
): RemoteScript {
  return {
    text: jobShell + limitedShell + checkupText,
    values: { remote_dir: server.remote_dir, data_dir: server.data_dir, uv: server.uv },
    seconds: 100,
  };
}
