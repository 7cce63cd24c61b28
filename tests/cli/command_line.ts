import { completionCommand } from "../../cmd/completion.ts";
import { doctorCommand } from "../../cmd/doctor.ts";
import { gpusCommand } from "../../cmd/gpus.ts";
import { initCommand } from "../../cmd/init.ts";
import { killCommand } from "../../cmd/kill.ts";
import { logsCommand } from "../../cmd/logs.ts";
import { pullCommand } from "../../cmd/pull.ts";
import { pushCommand } from "../../cmd/push.ts";
import { runCommand } from "../../cmd/run.ts";
import { statusCommand } from "../../cmd/status.ts";
import { tiasRemote } from "../../cmd/tias_remote.ts";
import { buildCommandApplication, type CommandMaker, runProgram } from "../../lib/cli/program.ts";
import { testContext } from "../test_context.ts";

/** The commands of the shared servers, and those that prepare their use. */
export const verbs: Readonly<Record<string, CommandMaker>> = {
  gpus: gpusCommand,
  push: pushCommand,
  run: runCommand,
  status: statusCommand,
  logs: logsCommand,
  kill: killCommand,
  pull: pullCommand,
  init: initCommand,
  doctor: doctorCommand,
  completion: completionCommand,
};

export interface Printed {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

/** What `tias-remote <words>` prints when nothing of the world may be touched. */
export async function typed(language: "ja" | "en", ...words: string[]): Promise<Printed> {
  const world = testContext({ env: { TIAS_REMOTE_LANG: language } });
  const exit = await runProgram(world, words, tiasRemote);
  return { exit, out: world.out.text, err: world.err.text };
}

/** The same for `deno run cmd/<verb>.ts <words>`. */
export async function typedToScript(
  language: "ja" | "en",
  verb: string,
  ...words: string[]
): Promise<Printed> {
  const world = testContext({ env: { TIAS_REMOTE_LANG: language } });
  const maker = verbs[verb];
  if (maker === undefined) throw new Error(`There is no ${verb}`);
  const exit = await runProgram(
    world,
    words,
    (texts) => buildCommandApplication(`tias-remote ${verb}`, maker, texts),
  );
  return { exit, out: world.out.text, err: world.err.text };
}
