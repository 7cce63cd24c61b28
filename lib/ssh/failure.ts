import { lastLines } from "../text/sanitize.ts";

/** Why a connection gave no answer. `local` kinds are mended on this machine and concern every server alike. */
export type FailureKind =
  | "resolve"
  | "refused"
  | "no_route"
  | "timeout"
  | "host_key_unknown"
  | "host_key_changed"
  | "host_key_unsaved"
  | "authentication"
  | "ssh_config"
  | "ssh_too_old"
  | "jump_failed"
  | "proxy_jump_broken"
  | "slurm"
  | "password_expired"
  | "blocked"
  | "session_refused"
  | "login_refused"
  | "closed"
  | "cut"
  | "silent"
  | "interrupted"
  | "unknown";

/** A connection that gave no answer. */
export interface ConnectionFailure {
  /** `unknown` where ssh's words are none of those we know. */
  readonly kind: FailureKind;
  /** The line of ssh or of the server that says so, made safe to show; may be empty. */
  readonly detail: string;
}

export interface CallEnd {
  /** ssh's own exit status; `null` when we ended it. */
  readonly code: number | null;
  readonly stderr: string;
  /** What came on standard output before our first marker. */
  readonly noise: string;
  /** Whether the script began on the server. */
  readonly begun: boolean;
  /** Why we ended ssh ourselves, if we did. */
  readonly ended?: "deadline" | "interrupted" | undefined;
}

// Success is never judged from here: it is the markers and the status. Each phrase is OpenSSH's own English text; the
// operating system's part of a message may be in another language and code page, so it is not matched.
const phrases: readonly (readonly [RegExp, FailureKind])[] = [
  [
    /Bad owner or permissions on|Can't open user config file|Bad configuration option|terminating, \d+ bad configuration/i,
    "ssh_config",
  ],
  [/REMOTE HOST IDENTIFICATION HAS CHANGED/, "host_key_changed"],
  [/Could not create directory[\s\S]*Host key verification failed/, "host_key_unsaved"],
  [/Host key verification failed/, "host_key_unknown"],
  [/CreateProcessW failed|posix_spawnp?:|posix_spawn failed/i, "proxy_jump_broken"],
  [/pam_slurm|slurm.*(no active jobs|no running jobs)/i, "slurm"],
  [/Password change required|password has expired/i, "password_expired"],
  [/Session open refused by peer/, "session_refused"],
  [
    /Permission denied \(|Too many authentication failures|No supported authentication methods/,
    "authentication",
  ],
  [/Could not resolve hostname/, "resolve"],
  [
    /Connection timed out|Operation timed out|Connection to .* timed out|timed out during banner exchange/i,
    "timeout",
  ],
  [/Connection refused/i, "refused"],
  [/No route to host|Network is unreachable|Host is down/i, "no_route"],
  [/stdio forwarding failed|administratively prohibited|channel \d+: open failed/i, "jump_failed"],
  // Behind the jump host's own words: its channel failing ends the key exchange too.
  [/Not allowed at this time|kex_exchange_identification: .*(reset|closed)|Exceeded MaxStartups/i, "blocked"],
  [
    /Connection closed by|Connection reset by|Broken pipe|client_loop: send disconnect|not responding/i,
    "closed",
  ],
];

const localKinds: readonly FailureKind[] = [
  "ssh_config",
  "ssh_too_old",
  "host_key_unsaved",
  "proxy_jump_broken",
];

/** Whether the cause lies on this machine, so that one message serves for all servers. */
export function isLocal(failure: ConnectionFailure): boolean {
  return localKinds.includes(failure.kind);
}

/** Finds the reason in what ssh and the server said. Total: anything whatever gives some reason. */
export function classifyFailure(end: CallEnd): ConnectionFailure {
  if (end.ended === "interrupted") return { kind: "interrupted", detail: "" };
  // OpenSSH 10's notes on key exchange begin with "** "; they are no failure.
  const stderr = end.stderr.split("\n").filter((line) => !line.startsWith("** ")).join("\n");
  if (end.begun) {
    return { kind: end.ended === "deadline" ? "silent" : "cut", detail: lastLines(stderr, 1)[0] ?? "" };
  }
  if (/Bad configuration option: remotecommand/i.test(stderr)) {
    return { kind: "ssh_too_old", detail: lastLines(stderr, 1)[0] ?? "" };
  }
  for (const [pattern, kind] of phrases) {
    if (pattern.test(stderr)) return { kind, detail: tellingLine(stderr, pattern) };
  }
  if (end.ended === "deadline") return { kind: "timeout", detail: lastLines(stderr, 1)[0] ?? "" };
  // A login that ends with a sentence of its own: "This account is currently not available."
  const said = lastLines(end.noise, 1)[0] ?? lastLines(stderr, 1)[0] ?? "";
  if (said !== "" && end.noise.trim() !== "") return { kind: "login_refused", detail: said };
  return { kind: "unknown", detail: said === "" ? `ssh: exit ${end.code ?? "?"}` : said };
}

function tellingLine(stderr: string, pattern: RegExp): string {
  const line = stderr.split(/\r?\n/).find((candidate) => pattern.test(candidate));
  return lastLines(line ?? stderr, 1)[0] ?? "";
}
