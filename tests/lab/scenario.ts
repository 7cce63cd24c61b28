/**
 * What the GPUs of a simulated server do, and its rendering as the shell functions that the stand-in programs of
 * `bin/` read.
 */

/** A number, or the text that nvidia-smi prints where it has none, such as `[N/A]`. */
export type Reading = number | string;

/** One instant of a GPU. */
export interface Frame {
  /** Percent. */
  readonly utilization: Reading;
  /** MiB. */
  readonly memory: Reading;
}

/** A process on a GPU. */
export interface GpuProcess {
  readonly pid: number;
  /** As pmon prints it; default `C`. Types without a `C` are not in the list of compute processes. */
  readonly type?: "C" | "G" | "C+G" | "M+C";
  /** Default `python`. */
  readonly command?: string;
  /** Owner; without one the process list knows the pid and ps does not. */
  readonly user?: string;
  /** Seconds since its start; default 60. */
  readonly elapsed?: number;
  /** MiB; default `[N/A]`. */
  readonly memory?: Reading;
  /** Percent, for the successive rounds of pmon, from the first again after the last; default `-`. */
  readonly sm?: Reading | readonly Reading[];
}

/** A GPU of a server. */
export interface Gpu {
  /** Default: its place in the list. */
  readonly index?: number;
  /** Default: one that no other GPU of the laboratory has, see {@linkcode gpuUuid}. */
  readonly uuid?: string;
  /** Default `NVIDIA RTX A6000`. */
  readonly name?: string;
  /** MiB; default 49140. */
  readonly memoryTotal?: Reading;
  /** The first is what the GPU list shows; each sampling starts there and goes round; default one idle frame. */
  readonly frames?: readonly Frame[];
  readonly processes?: readonly GpuProcess[];
}

/** An exact answer of a program in the place of what the GPUs would give. */
export interface RawAnswer {
  readonly text?: string;
  readonly stderr?: string;
  /** Exit status; default 0. */
  readonly status?: number;
  /** After the text: never end; `"enduring"` does not end by SIGTERM, HUP or INT either. */
  readonly hang?: boolean | "enduring";
}

/** Everything that the stand-in programs of one server know. */
export interface Scenario {
  readonly gpus?: readonly Gpu[];
  /** nvidia-smi is not installed. */
  readonly absent?: boolean;
  readonly answers?: {
    /** To each of the four invocations of nvidia-smi that has no own answer here. */
    readonly all?: RawAnswer;
    readonly gpus?: RawAnswer;
    readonly samples?: RawAnswer;
    readonly pmon?: RawAnswer;
    readonly apps?: RawAnswer;
    /** By pid. */
    readonly ps?: Readonly<Record<number, RawAnswer>>;
  };
}

/** The UUID of a GPU that gives none: from the number of its server in the laboratory and its own index. */
export function gpuUuid(server: number, index: number): string {
  const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
  return `GPU-${hex(server + 1, 8)}-0000-4000-8000-${hex(index, 12)}`;
}

type KnownGpu = Gpu & { readonly index: number; readonly uuid: string; readonly frames: readonly Frame[] };

/** The scenario of the laboratory's `server`-th server as shell functions. */
export function renderScenario(scenario: Scenario, server = 0): string {
  const answers = scenario.answers ?? {};
  const gpus = (scenario.gpus ?? []).map((gpu, place): KnownGpu => ({
    ...gpu,
    index: gpu.index ?? place,
    uuid: gpu.uuid ?? gpuUuid(server, gpu.index ?? place),
    frames: gpu.frames?.length ? gpu.frames : [{ utilization: 0, memory: 3 }],
  }));
  const raw = (answer: RawAnswer | undefined) => answer ?? answers.all;
  return [
    shellFunction("gpus", raw(answers.gpus), printed(gpus.map(gpuRow))),
    shellFunction("samples", raw(answers.samples), inTurn(sampleRounds(gpus))),
    shellFunction("pmon_header", raw(answers.pmon) && {}, printed(PMON_HEADER)),
    shellFunction("pmon", raw(answers.pmon), inTurn(pmonRounds(gpus))),
    shellFunction("apps", raw(answers.apps), printed(gpus.flatMap(appRows))),
    `owner() {\ncase $1 in\n${owners(gpus, answers.ps ?? {})}esac\n}\n`,
  ].join("");
}

/** As drivers from 550 on print it, each line with its space at the end. */
const PMON_HEADER = [
  "# gpu         pid   type     sm    mem    enc    dec    jpg    ofa    command ",
  "# Idx           #    C/G      %      %      %      %      %      %    name ",
];

function gpuRow(gpu: KnownGpu): string {
  const { name = "NVIDIA RTX A6000", memoryTotal = 49140, frames: [first] } = gpu;
  return [gpu.index, gpu.uuid, name, first?.memory, memoryTotal, first?.utilization].join(", ");
}

function sampleRounds(gpus: readonly KnownGpu[]): string[][] {
  return rounds(gpus.map((gpu) => gpu.frames)).map((round) =>
    gpus.map((gpu) => {
      const { utilization, memory } = cyclic(gpu.frames, round);
      return `${gpu.index}, ${utilization}, ${memory}`;
    })
  );
}

function pmonRounds(gpus: readonly KnownGpu[]): string[][] {
  const nobody = { pid: "-", type: "-", command: "-", sm: "-" };
  const rows = gpus.flatMap((gpu) =>
    (gpu.processes?.length ? gpu.processes : [nobody]).map((process) => ({
      index: gpu.index,
      pid: process.pid,
      type: process.type ?? "C",
      command: process.command ?? "python",
      sm: [process.sm ?? "-"].flat() as readonly Reading[],
    }))
  );
  return rounds(rows.map((row) => row.sm)).map((round) =>
    rows.map((row) => {
      const columns = `${pad(row.index, 5)} ${pad(row.pid, 10)} ${pad(row.type, 5)} ${
        pad(cyclic(row.sm, round), 6)
      }`;
      return `${columns}${"      -".repeat(5)}    ${row.command.slice(0, 15).padEnd(15)}`;
    })
  );
}

function appRows(gpu: KnownGpu): string[] {
  return (gpu.processes ?? [])
    .filter((process) => (process.type ?? "C").includes("C"))
    .map((process) => `${gpu.uuid}, ${process.pid}, ${process.memory ?? "[N/A]"}`);
}

function owners(gpus: readonly KnownGpu[], answers: Readonly<Record<number, RawAnswer>>): string {
  const known = new Map<number, string>();
  for (const { pid, user, elapsed = 60 } of gpus.flatMap((gpu) => gpu.processes ?? [])) {
    // ps cuts a long name like this.
    const name = user !== undefined && user.length > 8 ? `${user.slice(0, 7)}+` : user;
    known.set(
      pid,
      name === undefined ? "exit 1" : `${printed([`${name.padEnd(8)} ${pad(elapsed, 7)}`])}; exit 0`,
    );
  }
  for (const [pid, answer] of Object.entries(answers)) known.set(Number(pid), given(answer));
  return [...known].map(([pid, commands]) => `${pid}) ${commands} ;;\n`).join("");
}

function shellFunction(name: string, raw: RawAnswer | undefined, body: string): string {
  return `${name}() {\n${raw === undefined ? body : given(raw)}\n}\n`;
}

/** A raw answer ends the program, except an empty one, which says nothing and lets it go on. */
function given(answer: RawAnswer): string {
  if (Object.keys(answer).length === 0) return ":";
  const commands = [`printf '%s' ${quoted(answer.text ?? "")}`];
  if (answer.stderr) commands.push(`printf '%s' ${quoted(answer.stderr)} >&2`);
  if (answer.hang) commands.push(answer.hang === "enduring" ? "endure" : "hang");
  else commands.push(`exit ${answer.status ?? 0}`);
  return commands.join("; ");
}

function printed(lines: readonly string[]): string {
  return lines.length === 0 ? ":" : `printf '%s' ${quoted(lines.map((line) => `${line}\n`).join(""))}`;
}

function inTurn(texts: readonly (readonly string[])[]): string {
  const cases = texts.map((lines, round) => `${round}) ${printed(lines)} ;;\n`);
  return `case $(($1 % ${texts.length})) in\n${cases.join("")}esac`;
}

/** The rounds after which all cycles are at their beginning again. */
function rounds(cycles: readonly (readonly unknown[])[]): number[] {
  const gcd = (a: number, b: number): number => b === 0 ? a : gcd(b, a % b);
  const count = cycles.reduce((all, { length }) => all / gcd(all, length) * length, 1);
  if (count > 1000) {
    throw new RangeError(`Cannot render the scenario: its cycles repeat only after ${count} rounds`);
  }
  return Array.from({ length: count }, (_, round) => round);
}

function cyclic<T>(items: readonly T[], round: number): T {
  return items[round % items.length] as T;
}

function pad(value: Reading, width: number): string {
  return String(value).padStart(width);
}

/** One word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
