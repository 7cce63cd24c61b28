import { lastLines, sanitizeLine } from "../text/sanitize.ts";
import type { GpuList, GpuListFault, GpuRow, Sample } from "./types.ts";

/**
 * Readers of nvidia-smi's and ps's text. Total functions: any text whatever gives a result, and what is not
 * understood is "no reading". Formats: `nvidia-smi --help-query-gpu`, `nvidia-smi pmon -h`, procps `ps`.
 */

/** Largest process number of Linux (`/proc/sys/kernel/pid_max` on 64 bits). */
const maxPid = 4_194_304;
const maxMib = 100_000_000;
const maxAgeSec = 20 * 366 * 86_400;

/** `[N/A]`, `N/A`, `[Not Supported]`, `[Unknown Error]`, `-`, `12 %`: all of them are no reading. */
function reading(field: string | undefined, max: number): number | null {
  const text = field?.trim() ?? "";
  if (!/^\d{1,9}$/.test(text)) return null;
  const value = Number(text);
  return value <= max ? value : null;
}

function gpuIndex(field: string | undefined): number | null {
  return reading(field, 255);
}

/** A process number that may be shown and passed on; drivers have been seen to give memory sizes in its place. */
export function readPid(field: string): number | null {
  const text = field.trim();
  return /^[1-9]\d{0,6}$/.test(text) && Number(text) <= maxPid ? Number(text) : null;
}

/** Two uuids are the same whatever their case and the blanks around them. */
export function readUuid(field: string | undefined): string | null {
  const text = field?.trim() ?? "";
  return /^(gpu|mig)-[\w-]+$/i.test(text) ? text : null;
}

export function sameUuid(a: string | null, b: string | null): boolean {
  return a !== null && b !== null && a.trim().toLowerCase() === b.trim().toLowerCase();
}

// A line that a killed command left without its line feed may be cut anywhere: "0, 0, 4" of "0, 0, 40960".
function wholeLines(text: string, keepLast: boolean): string[] {
  const lines = text.split("\n");
  const last = lines.pop() ?? "";
  if (keepLast && last !== "") lines.push(last);
  return lines.map((line) => line.replace(/\r$/, "")).filter((line) => line.trim() !== "");
}

/**
 * The GPU list: `index, uuid, name, memory.used, memory.total, utilization.gpu`, MiB and percent without units.
 * A name may hold commas, so the row is read from both ends. `status` is nvidia-smi's exit status: 14 with whole rows
 * is a warning, 124 and 137 mean that it was stopped.
 */
export function parseGpuList(text: string, status: number | null): GpuList {
  const stopped = status === null || status === 124 || status === 137 || status === 143;
  const rows: GpuRow[] = [];
  const notes: string[] = [];
  for (const line of wholeLines(text, status === 0 || status === 14)) {
    const fields = line.split(",");
    const index = gpuIndex(fields[0]);
    if (fields.length < 2 || index === null) {
      notes.push(sanitizeLine(line.trim()));
      continue;
    }
    const [used, total, utilization] = numbersOf(fields);
    rows.push({
      index,
      uuid: readUuid(fields[1]),
      name: sanitizeLine(fields.slice(2, -3).join(",").trim()),
      memoryUsedMib: reading(used, maxMib),
      memoryTotalMib: reading(total, maxMib),
      utilizationPercent: reading(utilization, 100),
    });
  }
  if (stopped) return { rows: [], fault: { kind: "no_answer", detail: notes.at(-1) ?? "" }, notes };
  if (rows.length === 0) {
    return { rows, fault: { kind: listFault(text, status), detail: faultDetail(text) }, notes };
  }
  return { rows: withoutTwins(rows), fault: null, notes };
}

// The three numbers at the end of a whole row. Fields are parted by ", ": a comma without the blank stands inside a
// number ("1,024"), and then none is where it seems to be.
function numbersOf(fields: readonly string[]): readonly string[] {
  const numbers = fields.slice(-3);
  const torn = fields[1]?.startsWith(" ") === true && numbers.some((field) => !field.startsWith(" "));
  return fields.length < 6 || torn ? [] : numbers;
}

// Two rows with one index or one uuid cannot be told apart: neither can be judged or joined.
function withoutTwins(rows: readonly GpuRow[]): GpuRow[] {
  const unique = rows.filter((row, at) => rows.findIndex(({ index }) => index === row.index) === at);
  return unique.map((row) => {
    const twins = rows.filter(({ index, uuid }) => index === row.index || sameUuid(uuid, row.uuid));
    return twins.length === 1 ? row : { ...row, uuid: null };
  });
}

function listFault(text: string, status: number | null): GpuListFault {
  if (status === 127 || status === 126) return "not_installed";
  if (/version mismatch/i.test(text)) return "driver_mismatch";
  if (/GPU is lost|Unable to determine the device handle/i.test(text)) return "gpu_lost";
  if (
    /couldn't communicate with the NVIDIA driver|Driver Not Loaded|NVIDIA driver is not loaded/i.test(text)
  ) {
    return "driver_not_loaded";
  }
  if (/Insufficient Permissions|permission denied/i.test(text)) return "permission";
  if (/not a valid field|Invalid combination|not recognized|invalid option/i.test(text)) {
    return "query_refused";
  }
  if (/No devices were found/i.test(text) || (text.trim() === "" && status === 0)) return "no_gpu";
  return "failed";
}

function faultDetail(text: string): string {
  return lastLines(text.split("\n").slice(0, 3).join("\n"), 3)[0] ?? "";
}

/**
 * Samples of each GPU in the order of time, from `index, utilization.gpu, memory.used` repeated by `-lms`. A sentence
 * between them ("Unable to determine the device handle …: GPU is lost") tells that something is wrong with one of the
 * GPUs, not with which: for each of them it is a moment without a reading.
 */
export function parseSamples(text: string): Map<number, Sample[]> {
  const samples = new Map<number, Sample[]>();
  for (const line of wholeLines(text, false)) {
    const fields = line.split(",");
    const index = gpuIndex(fields[0]);
    if (index === null) {
      if (/^(WARNING:|index,)/i.test(line.trim())) continue;
      for (const moments of samples.values()) moments.push({ utilizationPercent: null, memoryUsedMib: null });
      continue;
    }
    const whole = fields.length === 3;
    const sample = {
      utilizationPercent: whole ? reading(fields[1], 100) : null,
      memoryUsedMib: whole ? reading(fields[2], maxMib) : null,
    };
    const moments = samples.get(index);
    if (moments === undefined) samples.set(index, [sample]);
    else moments.push(sample);
  }
  return samples;
}

/** A row of pmon that is not pure graphics. */
export interface PmonProcess {
  readonly gpuIndex: number;
  readonly pid: number;
  readonly smMaxPercent: number | null;
}

/** Columns of a table whose header did not come. */
const defaultColumns: readonly string[] = ["gpu", "pid", "type", "sm"];

export interface PmonReading {
  readonly processes: readonly PmonProcess[];
  /** Whether a row may have been a compute process but could not be read. */
  readonly doubtful: boolean;
}

/**
 * pmon's table. Columns are found by the names in the header, because drivers differ; only `gpu`, `pid`, `type` and
 * `sm` are read, counted from the left, because the command at the end is a user's free text. `-` is no reading.
 */
export function parsePmon(text: string): PmonReading {
  const found = new Map<string, PmonProcess>();
  let columns: readonly string[] | undefined;
  let doubtful = false;
  for (const line of wholeLines(text, false)) {
    if (line.trim().startsWith("#")) {
      const names = line.replace("#", " ").trim().toLowerCase().split(/\s+/);
      if (!names.includes("pid")) continue;
      // A process may have a line feed in its name, and behind it what it likes.
      doubtful ||= !["gpu", "type"].every((name) => names.includes(name)) ||
        (columns !== undefined && columns.join(" ") !== names.join(" "));
      columns ??= names;
      continue;
    }
    const words = line.trim().split(/\s+/);
    const column = (name: string) => words[(columns ?? defaultColumns).indexOf(name)] ?? "";
    const index = gpuIndex(column("gpu"));
    const pid = readPid(column("pid"));
    // A sentence ("Not supported on the device(s)") is no row; `-` for a process is a GPU without one.
    if (index === null && pid === null || column("pid") === "-") continue;
    if (column("type") === "G") continue;
    if (index === null || pid === null) {
      doubtful = true;
      continue;
    }
    const key = `${index}:${pid}`;
    const values = [found.get(key)?.smMaxPercent ?? null, reading(column("sm"), 100)].filter((sm) =>
      sm !== null
    );
    found.set(key, { gpuIndex: index, pid, smMaxPercent: values.length === 0 ? null : Math.max(...values) });
  }
  return { processes: [...found.values()], doubtful };
}

export interface ComputeApp {
  readonly uuid: string;
  readonly pid: number;
  readonly usedMemoryMib: number | null;
}

/** The list of compute processes. `readable` is false as soon as one line of it was not understood. */
export interface ComputeApps {
  readonly apps: readonly ComputeApp[];
  readonly readable: boolean;
}

/** `gpu_uuid, pid, used_memory`. One process may hold several GPUs. */
export function parseComputeApps(text: string, status: number | null): ComputeApps {
  const apps: ComputeApp[] = [];
  let readable = status === 0 || status === 14;
  // A cut row is unreadable, not absent.
  for (const line of wholeLines(text, true)) {
    if (/^WARNING:/i.test(line.trim())) continue;
    const [uuidField, pidField, memory, ...rest] = line.split(",");
    const uuid = readUuid(uuidField);
    const pid = readPid(pidField ?? "");
    if (uuid === null || pid === null || memory === undefined || rest.length > 0) {
      readable = false;
      continue;
    }
    apps.push({ uuid, pid, usedMemoryMib: reading(memory, maxMib) });
  }
  return { apps, readable };
}

export interface Owner {
  readonly user: string | null;
  readonly userTruncated: boolean;
  readonly elapsedSec: number | null;
  readonly gone: boolean;
}

/**
 * `ps -o user=,etimes= -p PID`: the last word is the age in seconds, the rest the owner, who may have blanks in his
 * name (`CORP\alice smith`). A negative age, or one of decades, comes from a wrapped or stepped clock: no reading.
 *
 * @param sinceListedSec seconds between the reading of the process list and this one: a younger process has inherited
 * the number of an ended one
 */
export function parseOwner(
  text: string,
  status: number | null,
  sinceListedSec = 0,
): Owner {
  const line = wholeLines(text, true)[0]?.trim() ?? "";
  if (status !== 0 || line === "") {
    return { user: null, userTruncated: false, elapsedSec: null, gone: status === 1 && line === "" };
  }
  const [, named, ageField] = /^(.*?)(?:\s+(-?\d+))?$/.exec(line) ?? [];
  const user = sanitizeLine((named ?? "").trim());
  const age = reading(ageField, maxAgeSec);
  if (age !== null && age < sinceListedSec) {
    return { user: null, userTruncated: false, elapsedSec: null, gone: true };
  }
  return {
    user: user === "" ? null : user,
    userTruncated: user.endsWith("+"),
    elapsedSec: age,
    gone: false,
  };
}
