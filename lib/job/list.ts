import type { Job } from "./types.ts";

/** `key=value` lines of a section. Later ones win. */
export function readFields(text: string): Record<string, string> {
  const fields: Record<string, string> = {};
  for (const line of text.split("\n")) {
    const at = line.indexOf("=");
    if (at > 0) fields[line.slice(0, at)] = line.slice(at + 1).replace(/\r$/, "");
  }
  return fields;
}

/** The jobs of the section `jobs` (see `print_job` in shell.ts); those of another host with the same home are left out. */
export function parseJobs(text: string): Job[] {
  return text.split(/^(?=job=)/m).filter((block) => block.startsWith("job=")).flatMap((block) => {
    const job = readJob(readFields(block));
    return job === undefined ? [] : [job];
  });
}

/** One job from its fields, or `undefined` when it does not belong to this host or is not understood. */
export function readJob(fields: Readonly<Record<string, string>>): Job | undefined {
  const { job = "", state, id = "" } = fields;
  if (!isJobName(job) || (state !== "running" && state !== "ended" && state !== "lost")) return undefined;
  return {
    name: job,
    state,
    id: /^[0-9a-f]{32}$/.test(id) ? id : "",
    pid: wholeNumber(fields["pid"]),
    gpu: wholeNumber(fields["gpu"]),
    uuid: fields["uuid"] || null,
    began: instant(fields["began"]),
    ended: instant(fields["ended"]),
    exitCode: wholeNumber(fields["code"]),
    keeper: fields["keeper"] === "setsid" ? "setsid" : "tmux",
  };
}

/** Starts with a letter or digit; letters, digits, `_`, `-`; 1 to 64 characters: safe as a file and a tmux session. */
export function isJobName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name);
}

function wholeNumber(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,12}$/.test(text) ? Number(text) : null;
}

function instant(epochSeconds: string | undefined): Date | null {
  const seconds = wholeNumber(epochSeconds);
  return seconds === null ? null : new Date(seconds * 1000);
}
