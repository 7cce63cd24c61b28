import type { ServerConfig } from "../config/remote.ts";
import { parseGpuList } from "../gpu/parse.ts";
import { readFields } from "../job/list.ts";
import type { SshSettings } from "../ssh/arguments.ts";
import { commandByHand } from "../ssh/by_hand.ts";
import { shellQuote } from "../ssh/quote.ts";
import type { CallResult } from "../ssh/connection.ts";
import { type Section, sectionOf, type Transcript } from "../ssh/framing.ts";
import type { Route } from "../ssh/local.ts";
import { type Message, message } from "../system/errors.ts";
import { lastLines, sanitizeLine } from "../text/sanitize.ts";
import { sizeText } from "../text/size.ts";
import { amiss, type Finding, well } from "./types.ts";

/** Everything that is known of one server when it has been examined. */
export interface ServerLook {
  readonly server: ServerConfig;
  readonly settings: SshSettings;
  /** Where ssh goes by its own configuration; `undefined` when ssh could not tell. */
  readonly route: Route | undefined;
  readonly answer: CallResult<Transcript>;
  /** This machine's time when the answer had come. */
  readonly heard: Date;
}

/** Below this a job's log and results may not fit; below the second, not even the code. */
const littleKib = 5 * 1024 * 1024;
const noneKib = 512 * 1024;
/** Seconds by which two clocks may differ: far above what a slow connection adds. */
const skewSeconds = 60;

/** What an examination found, in the order in which it is to be mended. What was not reached has no finding. */
export function serverFindings(look: ServerLook): Finding[] {
  const { answer } = look;
  const transcript = answer.ok ? answer.value : answer.partial;
  const connection = connectionFinding(look);
  if (transcript === undefined) return [connection];
  const checks: Check[] = [
    ["facts", shellFinding],
    ["gpu_list", gpuFinding],
    ["tools", tmuxFinding],
    ["logout", logoutFinding],
    ["tools", tarFinding],
    ["tools", sha256Finding],
    ["uv", uvFinding],
    ["place", placeFinding],
    ["place", diskFinding],
    ["data", dataFinding],
    ["now", clockFinding],
  ];
  return [
    connection,
    ...loginFindings(answer, transcript),
    ...checks.flatMap(([name, check]) => {
      const section = sectionOf(transcript, name);
      return section === undefined ? [] : [check(section, look, transcript)];
    }),
  ];
}

type Check = readonly [
  section: string,
  check: (section: Section, look: ServerLook, transcript: Transcript) => Finding,
];

function connectionFinding({ server, settings, route, answer }: ServerLook): Finding {
  if (!answer.ok) {
    const { kind, detail } = answer.failure;
    return amiss("problem", {
      id: "connection",
      what: message(`ssh.failure.${kind}`),
      detail: detail === "" ? null : detail,
      why: message("doctor.connection.why"),
      mend: message(`ssh.hint.${kind}`),
      command: commandByHand(settings, server, "true"),
    });
  }
  const destination = route === undefined
    ? `${server.user}@${server.address}`
    : sanitizeLine(`${route.user}@${route.host}:${route.port}`);
  const jump = settings.jump_host ?? route?.jump ?? null;
  return well(
    "connection",
    jump === null
      ? message("doctor.connection.direct", { destination })
      : message("doctor.connection.through", { destination, jump: sanitizeLine(jump) }),
  );
}

function loginFindings(answer: CallResult<Transcript>, { terminalForced }: Transcript): Finding[] {
  const findings: Finding[] = [];
  if (answer.ok) {
    findings.push(
      answer.noise === 0 ? well("noise", message("doctor.noise.none")) : amiss("warning", {
        id: "noise",
        what: message("doctor.noise", { bytes: answer.noise }),
        why: message("doctor.noise.why"),
        mend: message("doctor.noise.mend"),
        command: "case $- in *i*) ;; *) return ;; esac",
      }),
    );
  }
  if (terminalForced) {
    findings.push(amiss("problem", {
      id: "terminal",
      what: message("doctor.terminal"),
      why: message("doctor.terminal.why"),
      mend: message("doctor.terminal.mend"),
    }));
  }
  return findings;
}

function shellFinding({ text }: Section): Finding {
  return well("shell", message("doctor.shell", { shell: said(readFields(text)["shell"]) || "?" }));
}

function gpuFinding({ text, status }: Section, look: ServerLook, transcript: Transcript): Finding {
  const { rows, fault } = parseGpuList(text, status);
  if (fault !== null) {
    return amiss("problem", {
      id: "gpu",
      what: message(`gpu.fault.${fault.kind}`),
      detail: fault.detail === "" ? null : fault.detail,
      why: message("doctor.gpu.why"),
      mend: message("gpu.fault.hint"),
      command: commandByHand(look.settings, look.server, "nvidia-smi"),
    });
  }
  const driver = sanitizeLine(sectionOf(transcript, "driver")?.text.split("\n")[0]?.trim() ?? "");
  const count = rows.length;
  return well(
    "gpu",
    /^[\w.]+$/.test(driver)
      ? message("doctor.gpu.driver", { count, driver })
      : message("doctor.gpu.no_driver", { count }),
  );
}

function tmuxFinding({ text }: Section): Finding {
  const version = readFields(text)["tmux"];
  if (version !== undefined) return well("tmux", message("doctor.tmux", { version: said(version) }));
  return amiss("warning", {
    id: "tmux",
    what: message("doctor.tmux.missing"),
    why: message("doctor.tmux.why"),
    mend: message("doctor.mend.install"),
    command: "sudo apt install tmux",
  });
}

/** Lingering alone does not help: with KillUserProcesses logind ends the session's own processes all the same. */
function logoutFinding({ text }: Section): Finding {
  const { systemd, kills = "", Linger = "" } = readFields(text);
  if (systemd === "0") return well("logout", message("doctor.logout.no_systemd"));
  const lingering = Linger === "yes" || Linger === "no" ? Linger : "?";
  if (/^(false|no|off|0)$/i.test(kills)) {
    return well("logout", message("doctor.logout.outlives", { lingering }));
  }
  const mending = {
    why: message("doctor.logout.why"),
    mend: message("doctor.logout.mend"),
    command: "sudo mkdir -p /etc/systemd/logind.conf.d && " +
      "printf '[Login]\\nKillUserProcesses=no\\n' | sudo tee /etc/systemd/logind.conf.d/tmux.conf && " +
      "sudo systemctl kill -s HUP systemd-logind",
  };
  if (/^(true|yes|on|1)$/i.test(kills)) {
    return amiss("problem", {
      id: "logout",
      what: message("doctor.logout.kills", { lingering }),
      ...mending,
    });
  }
  return amiss("warning", {
    id: "logout",
    what: message("doctor.logout.unknown", { lingering }),
    ...mending,
    mend: message("doctor.logout.unknown.mend"),
    command: "loginctl show-user --property=Linger; systemd-analyze cat-config systemd/logind.conf",
  });
}

function tarFinding({ text }: Section): Finding {
  const version = readFields(text)["tar"];
  if (version === undefined) {
    return amiss("problem", {
      id: "tar",
      what: message("doctor.tar.missing"),
      why: message("doctor.tar.missing.why"),
      mend: message("doctor.mend.install"),
      command: "sudo apt install tar",
    });
  }
  if (/GNU tar/.test(version)) return well("tar", message("doctor.tar", { version: said(version) }));
  return amiss("warning", {
    id: "tar",
    what: message("doctor.tar.other", { version: said(version) || "?" }),
    why: message("doctor.tar.other.why"),
    mend: message("doctor.tar.other.mend"),
    command: "sudo apt install tar",
  });
}

function sha256Finding({ text }: Section): Finding {
  const program = readFields(text)["sha256"];
  if (program !== undefined) return well("sha256", message("doctor.sha256", { program: said(program) }));
  return amiss("problem", {
    id: "sha256",
    what: message("doctor.sha256.missing"),
    why: message("doctor.sha256.why"),
    mend: message("doctor.mend.install"),
    command: "sudo apt install coreutils",
  });
}

function uvFinding({ text }: Section, look: ServerLook): Finding {
  const { path = "", state, said: words } = readFields(text);
  const place = said(path) || look.server.uv;
  if (state === "runs") return well("uv", message("doctor.uv", { version: said(words), path: place }));
  const missing = state === "missing";
  return amiss("problem", {
    id: "uv",
    what: missing
      ? message("doctor.uv.missing", { path: place })
      : message("doctor.uv.fails", { path: place }),
    detail: missing ? null : said(words) || null,
    why: message("doctor.uv.why"),
    mend: message("doctor.uv.mend"),
    command: commandByHand(look.settings, look.server, "curl -LsSf https://astral.sh/uv/install.sh | sh"),
  });
}

function placeFinding({ text }: Section, look: ServerLook): Finding {
  const { path = "", existing, writable, said: words } = readFields(text);
  const place = said(path) || look.server.remote_dir;
  if (writable === "1") {
    return well(
      "remote_dir",
      existing === path
        ? message("doctor.remote_dir", { path: place })
        : message("doctor.remote_dir.new", { path: place }),
    );
  }
  return amiss("problem", {
    id: "remote_dir",
    what: message("doctor.remote_dir.unwritable", { path: place }),
    detail: said(words) || null,
    why: message("doctor.remote_dir.why"),
    mend: message("doctor.remote_dir.mend"),
    command: commandByHand(
      look.settings,
      look.server,
      `mkdir -p ${quotedPath(look.server.remote_dir)} && df -h ${quotedPath(look.server.remote_dir)}`,
    ),
  });
}

function diskFinding({ text }: Section, look: ServerLook): Finding {
  const kib = readFields(text)["free_kib"] ?? "";
  const mending = {
    id: "disk",
    why: message("doctor.disk.why"),
    mend: message("doctor.disk.mend"),
    command: commandByHand(look.settings, look.server, "du -xhd 2 ~ | sort -h | tail"),
  } as const;
  if (!/^\d{1,15}$/.test(kib)) return amiss("warning", { ...mending, what: message("doctor.disk.unknown") });
  const free = Number(kib);
  const size = sizeText(free * 1024);
  if (free >= littleKib) return well("disk", message("doctor.disk", { size }));
  return amiss(free < noneKib ? "problem" : "warning", {
    ...mending,
    what: message("doctor.disk.little", { size }),
  });
}

function dataFinding({ text }: Section, { server, settings }: ServerLook): Finding {
  const { path = "", state = "" } = readFields(text);
  const place = said(path) || server.data_dir;
  if (!server.data_ready) return well("data_dir", message("doctor.data_dir.not_ready"));
  if (state === "filled") return well("data_dir", message("doctor.data_dir", { path: place }));
  const faults: Readonly<Record<string, Message>> = {
    missing: message("doctor.data_dir.missing", { path: place }),
    empty: message("doctor.data_dir.empty", { path: place }),
    not_folder: message("doctor.data_dir.not_folder", { path: place }),
  };
  return amiss("problem", {
    id: "data_dir",
    what: faults[state] ?? message("doctor.data_dir.unreadable", { path: place }),
    why: message("doctor.data_dir.why"),
    mend: message("doctor.data_dir.mend"),
    command: commandByHand(settings, server, `ls -ld ${quotedPath(server.data_dir)}`),
  });
}

function clockFinding({ text }: Section, { heard }: ServerLook): Finding {
  const now = text.trim();
  const mending = {
    id: "clock",
    why: message("doctor.clock.why"),
    mend: message("doctor.clock.mend"),
    command: "timedatectl",
  } as const;
  if (!/^\d{1,12}$/.test(now)) return amiss("warning", { ...mending, what: message("doctor.clock.unknown") });
  const ahead = Number(now) - Math.round(heard.getTime() / 1000);
  if (Math.abs(ahead) < skewSeconds) return well("clock", message("doctor.clock"));
  const seconds = Math.abs(ahead);
  return amiss("warning", {
    ...mending,
    what: ahead > 0
      ? message("doctor.clock.ahead", { seconds })
      : message("doctor.clock.behind", { seconds }),
  });
}

/** A path of the configuration as a word of the server's shell, which is to expand its `~`. */
function quotedPath(path: string): string {
  return path.startsWith("~/") ? `~/${shellQuote(path.slice(2))}` : shellQuote(path);
}

/** One line of what a program on the server said. */
function said(text: string | undefined): string {
  return lastLines(text ?? "", 1)[0] ?? "";
}
