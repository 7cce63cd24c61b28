import { parseJobs, readFields } from "../job/list.ts";
import type { Job } from "../job/types.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import {
  type ComputeApps,
  type Owner,
  parseComputeApps,
  parseGpuList,
  parseOwner,
  parsePmon,
  parseSamples,
  type PmonReading,
  sameUuid,
} from "./parse.ts";
import type { ComputeProcess, GpuList, GpuReading, GpuRow, Sample } from "./types.ts";

/** What one look at one server gave. */
export interface ServerReading {
  readonly gpuList: GpuList;
  readonly gpus: readonly GpuReading[];
  readonly jobs: readonly Job[];
  /** The server's own clock when it was asked. */
  readonly now: Date | null;
  readonly terminalForced: boolean;
}

/** Makes a server's reading out of the probe's transcript. Pure and total. `instant` is an observation of 0 s. */
export function readServer(transcript: Transcript, instant: boolean): ServerReading {
  const text = (name: string) => sectionOf(transcript, name)?.text ?? "";
  const facts = readFields(text("facts"));
  const list = sectionOf(transcript, "gpu_list");
  const gpuList = parseGpuList(list?.text ?? "", list?.status ?? null);
  const apps = sectionOf(transcript, "apps");
  const evidence: Evidence = {
    samples: parseSamples(text("samples")),
    pmon: parsePmon(text("pmon")),
    apps: parseComputeApps(apps?.text ?? "", apps?.status ?? null),
    owners: readOwners(transcript, text("ages")),
    account: facts["user"] ?? "",
    claims: readClaims(text("claims")),
  };
  const now = seconds(facts["now"]);
  return {
    gpuList,
    gpus: gpuList.rows.map((row) => readGpu(row, gpuList.rows, evidence, instant)),
    jobs: parseJobs(text("jobs")),
    now: now === null ? null : new Date(now * 1000),
    terminalForced: transcript.terminalForced,
  };
}

interface Evidence {
  readonly samples: ReadonlyMap<number, readonly Sample[]>;
  readonly pmon: PmonReading;
  readonly apps: ComputeApps;
  readonly owners: ReadonlyMap<number, Owner>;
  readonly account: string;
  readonly claims: readonly { uuid: string; job: string }[];
}

function readGpu(row: GpuRow, rows: readonly GpuRow[], evidence: Evidence, instant: boolean): GpuReading {
  const { apps, pmon } = evidence;
  // A process on a GPU that the list does not show (a MIG slice, a renumbered card) may be on any of them.
  const attributable = apps.apps.every((app) => rows.some(({ uuid }) => sameUuid(uuid, app.uuid))) &&
    pmon.processes.every((process) => rows.some(({ index }) => index === process.gpuIndex));
  return {
    ...row,
    samples: instant ? [row] : evidence.samples.get(row.index) ?? [],
    processes: readProcesses(row, evidence),
    processListReadable: apps.readable && !pmon.doubtful && attributable,
    jobs: evidence.claims.filter(({ uuid }) => sameUuid(uuid, row.uuid)).map(({ job }) => job),
  };
}

// In containers the two sources may number the same process differently, so they are joined by GPU, and a process
// that only one of them shows counts too.
function readProcesses(row: GpuRow, { apps, pmon, owners, account }: Evidence): ComputeProcess[] {
  const listed = apps.apps.filter(({ uuid }) => sameUuid(uuid, row.uuid));
  const watched = pmon.processes.filter(({ gpuIndex }) => gpuIndex === row.index);
  const pids = [...new Set([...listed, ...watched].map(({ pid }) => pid))];
  return pids.map((pid) => {
    const owner = owners.get(pid);
    const user = owner?.user ?? null;
    return {
      pid,
      user,
      userTruncated: owner?.userTruncated ?? false,
      mine: user !== null && user === account,
      elapsedSec: owner?.elapsedSec ?? null,
      usedMemoryMib: listed.find((app) => app.pid === pid)?.usedMemoryMib ?? null,
      smMaxPercent: watched.find((process) => process.pid === pid)?.smMaxPercent ?? null,
      gone: owner?.gone ?? false,
    };
  });
}

// `ages` has, for each process, the seconds between the list and the question for its owner: "PID SECONDS".
function readOwners(transcript: Transcript, ages: string): Map<number, Owner> {
  const sinceListed = new Map(
    ages.split("\n").map((line) => line.split(" ")).map(([pid = "", age]) => [pid, seconds(age) ?? 0]),
  );
  const owners = new Map<number, Owner>();
  for (const { name, text, status } of transcript.sections) {
    const pid = /^ps:(\d+)$/.exec(name)?.[1];
    if (pid === undefined) continue;
    // Cut to whole seconds at both ends, the span may be told one too long: a process just born is no impostor.
    owners.set(Number(pid), parseOwner(text, status, (sinceListed.get(pid) ?? 0) - 1));
  }
  return owners;
}

function readClaims(text: string): { uuid: string; job: string }[] {
  return text.split("\n").map((line) => line.trim().split(" ")).filter((words) => words.length === 3)
    .map(([uuid = "", job = ""]) => ({ uuid, job }));
}

function seconds(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,11}$/.test(text) ? Number(text) : null;
}
