import { judgeGpu, type Thresholds } from "../../lib/gpu/judge.ts";
import { readServer, type ServerReading } from "../../lib/gpu/reading.ts";
import type { JudgedGpu } from "../../lib/gpu/types.ts";
import type { Section } from "../../lib/ssh/framing.ts";

/** The specification's own thresholds. */
export const thresholds: Thresholds = { max_memory_used_mib: 1024, max_utilization_percent: 10 };

export const uuidA = "GPU-aaaaaaaa-1111-2222-3333-444444444444";
export const uuidB = "GPU-bbbbbbbb-1111-2222-3333-444444444444";
export const uuidC = "GPU-cccccccc-1111-2222-3333-444444444444";

/** What a server's programs printed during one look at it; text that is left out was printed by none. */
export interface Look {
  readonly list: string;
  readonly listStatus?: number | null;
  /** Left out: the look was one instant reading. */
  readonly samples?: string;
  readonly samplesStatus?: number;
  readonly pmon?: string;
  readonly apps?: string;
  readonly appsStatus?: number;
  readonly ps?: Readonly<Record<number, string | { readonly text: string; readonly status: number }>>;
  /** Seconds between the list of processes and the question for each owner. */
  readonly age?: number;
  readonly claims?: string;
}

/** What the program makes of it: the reading, without a judgement. */
export function readLook(look: Look): ServerReading {
  const section = (name: string, text: string, status: number | null = 0): Section => ({
    name,
    text,
    status,
  });
  const sections = [
    section("facts", "user=hasegawa\nhost=newton\nboot=1\nnow=1790000000\n"),
    section("jobs", ""),
    section("gpu_list", look.list, look.listStatus ?? (look.listStatus === null ? null : 0)),
    ...(look.samples === undefined ? [] : [section("samples", look.samples, look.samplesStatus ?? 124)]),
    ...(look.pmon === undefined ? [] : [section("pmon", look.pmon)]),
    section("apps", look.apps ?? "", look.appsStatus ?? 0),
    ...Object.entries(look.ps ?? {}).map(([pid, answer]) =>
      typeof answer === "string"
        ? section(`ps:${pid}`, answer)
        : section(`ps:${pid}`, answer.text, answer.status)
    ),
    section("ages", Object.keys(look.ps ?? {}).map((pid) => `${pid} ${look.age ?? 0}\n`).join("")),
    section("claims", look.claims ?? ""),
  ];
  return readServer({ sections, complete: true, terminalForced: false }, look.samples === undefined);
}

/** The GPUs that the program shows after it, each with its judgement. */
export function judgeLook(look: Look): JudgedGpu[] {
  return readLook(look).gpus.map((gpu) => ({ ...gpu, verdict: judgeGpu(gpu, thresholds) }));
}

/** `state (reason)` of each GPU by its index, which is all that most cases are about. */
export function statesOf(look: Look): Record<number, string> {
  return Object.fromEntries(
    judgeLook(look).map(({ index, verdict }) => [index, `${verdict.state} (${verdict.reason})`]),
  );
}

/** One line of the GPU list. */
export function row(
  index: number | string,
  { uuid = uuidA, name = "NVIDIA A100", used = 3, total = 81920, utilization = 0 }: {
    uuid?: string;
    name?: string;
    used?: number | string;
    total?: number | string;
    utilization?: number | string;
  } = {},
): string {
  return `${index}, ${uuid}, ${name}, ${used}, ${total}, ${utilization}\n`;
}

export const pmonHeader = "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command \n" +
  "# Idx           #    C/G      %      %      %      %      %      %    name \n";
