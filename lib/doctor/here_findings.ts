import { lastLines } from "../text/sanitize.ts";
import { message, UserError } from "../system/errors.ts";
import { amiss, type Finding, type FindingId, well } from "./types.ts";

/** Reads what `ssh -V` says, on standard error: `OpenSSH_9.2p1 …`, `OpenSSH_for_Windows_9.5p1, …`. */
export function sshFinding(text: string): Finding {
  const version = lastLines(text, 1)[0] ?? "";
  const [, major, minor] = /OpenSSH\D*(\d{1,3})\.(\d{1,3})/.exec(version) ?? [];
  const mending = {
    id: "ssh",
    why: message("doctor.ssh.why"),
    mend: message("ssh.hint.ssh_too_old"),
    command: "ssh -V",
  } as const;
  if (major === undefined || minor === undefined) {
    return amiss("warning", { ...mending, what: message("doctor.ssh.unknown"), detail: version || null });
  }
  // RemoteCommand=none, which every connection asks for, came with 7.6 (https://www.openssh.com/txt/release-7.6).
  const old = Number(major) < 7 || (Number(major) === 7 && Number(minor) < 6);
  return old
    ? amiss("problem", { ...mending, what: message("doctor.ssh.old", { version }) })
    : well("ssh", message("doctor.ssh", { version }));
}

/** Another part of the program could not do its work here: its own sentence and its own advice. */
export function faultFinding(id: FindingId, fault: unknown, why = message("doctor.here.why")): Finding {
  if (!(fault instanceof UserError)) throw fault;
  return amiss("problem", {
    id,
    what: fault.text,
    why,
    mend: fault.hint ?? null,
    detail: fault.details[0] ?? null,
  });
}
