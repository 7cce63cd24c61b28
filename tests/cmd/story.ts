import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Laboratory } from "../lab/types.ts";

/** The folder of the toolkit. */
export const toolkit = fileURLToPath(new URL("../..", import.meta.url));

/** What a command printed, and how it ended. */
export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  /** TCP connections that it made to the servers (the jump host's are not counted). */
  readonly connections: number;
}

/** How a command line is started in a project. */
export type Launch = (lab: Laboratory, project: string, command: readonly string[]) => {
  readonly program: string;
  readonly args: readonly string[];
};

export interface StoryOptions {
  readonly language?: "en" | "ja";
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the verb's script, by the Deno that runs the test. */
  readonly launch?: Launch;
  /** Default: the project. */
  readonly cwd?: string;
  /** Called with all of standard output and error so far, whenever there is more of it. */
  readonly onText?: (text: string, child: Deno.ChildProcess) => void | Promise<void>;
}

/** The `deno run` arguments of a verb, with exactly its permission set and the right to read the test's project. */
export function verbArguments(verb: string, project: string, ssh = "ssh"): string[] {
  const write = verb === "pull" ? [`--allow-write=${join(project, "runs")}`] : [];
  return [
    "run",
    "-q",
    "--no-prompt",
    `--config=${join(toolkit, "deno.json")}`,
    `-P=${verb}`,
    `--allow-read=${project}`,
    ...write,
    // A laboratory in network namespaces is entered through a program of its own.
    ...(ssh === "ssh" ? [] : [`--allow-run=${ssh}`]),
    join(toolkit, "cmd", `${verb}.ts`),
  ];
}

/** Runs a verb of tias-remote in a project of the laboratory, as a person would. */
export async function tell(
  lab: Laboratory,
  project: string,
  command: readonly string[],
  options: StoryOptions = {},
): Promise<Outcome> {
  const { program, args } = (options.launch ?? launchScript)(lab, project, command);
  const before = await serverConnections(lab);
  const child = new Deno.Command(program, {
    args: [...args],
    cwd: options.cwd ?? project,
    env: {
      NO_COLOR: "1",
      TIAS_REMOTE_LANG: options.language ?? "en",
      ...(lab.ssh === "ssh" ? {} : { TIAS_REMOTE_SSH: lab.ssh }),
      ...options.env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let all = "";
  const collect = async (stream: ReadableStream<Uint8Array>) => {
    const decoder = new TextDecoder();
    let text = "";
    for await (const chunk of stream) {
      const piece = decoder.decode(chunk, { stream: true });
      text += piece;
      all += piece;
      await options.onText?.(all, child);
    }
    return text;
  };
  const [out, err, { code }] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    child.status,
  ]);
  return { code, out, err, connections: await serverConnections(lab) - before };
}

const launchScript: Launch = (lab, project, [verb = "", ...rest]) => ({
  program: Deno.execPath(),
  args: [...verbArguments(verb, project, lab.ssh), ...rest],
});

async function serverConnections(lab: Laboratory): Promise<number> {
  const counts = await Promise.all(lab.servers.map((server) => server.connections()));
  return counts.reduce((sum, count) => sum + count, 0);
}

/** `text` without what differs from run to run: times, sizes of folders, temporary paths. */
export function steady(text: string, lab: Laboratory): string {
  return text.replaceAll(lab.root, "[LAB]").replaceAll(lab.tmuxSocket, "[SOCKET]")
    .replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}/g, "[TIME]");
}
