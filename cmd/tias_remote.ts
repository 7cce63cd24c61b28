import { type Application, buildApplication, buildCommand, buildRouteMap, type Command } from "@stricli/core";
import { applicationSettings, type CliContext, type CommandMaker, runProgram } from "../lib/cli/program.ts";
import { keepOnlyFor } from "../lib/system/privileges.ts";
import { realContext } from "../lib/system/real.ts";
import type { Texts } from "../lib/text/texts.ts";

/** Where each verb's command lies, the same as the script's. What is not typed is not loaded. */
const verbs = {
  gpus: async () => (await import("./gpus.ts")).gpusCommand,
  push: async () => (await import("./push.ts")).pushCommand,
  run: async () => (await import("./run.ts")).runCommand,
  status: async () => (await import("./status.ts")).statusCommand,
  logs: async () => (await import("./logs.ts")).logsCommand,
  kill: async () => (await import("./kill.ts")).killCommand,
  pull: async () => (await import("./pull.ts")).pullCommand,
  init: async () => (await import("./init.ts")).initCommand,
  train: async () => (await import("./train.ts")).trainCommand,
  stop: async () => (await import("./stop.ts")).stopCommand,
  sweep: async () => (await import("./sweep.ts")).sweepCommand,
  doctor: async () => (await import("./doctor.ts")).doctorCommand,
  completion: async () => (await import("./completion.ts")).completionCommand,
  permissions: async () => (await import("./permissions.ts")).permissionsCommand,
} satisfies Record<string, () => Promise<CommandMaker>>;

type Verb = keyof typeof verbs;

/** All verbs under one name. Only the one that `argv` names is a whole command; the others are there to be listed. */
export async function tiasRemote(texts: Texts, argv: readonly string[]): Promise<Application<CliContext>> {
  const routes: Record<string, Command<CliContext>> = {};
  for (const verb of Object.keys(verbs) as Verb[]) {
    routes[verb] = argv[0] === verb ? (await verbs[verb]())(texts) : outline(texts, verb);
  }
  return buildApplication(
    buildRouteMap({ routes, docs: { brief: texts.say("help.app") } }),
    applicationSettings("tias-remote", texts),
  );
}

function outline(texts: Texts, verb: Verb): Command<CliContext> {
  const command = buildCommand<Record<never, never>, [], CliContext>({
    docs: { brief: texts.say(`${verb}.brief`) },
    parameters: {},
    func() {
      throw new Error(`Cannot run ${verb}: it was not loaded`);
    },
  });
  return { ...command, formatUsageLine: ({ prefix }) => `${prefix.join(" ")} ...` };
}

if (import.meta.main) {
  keepOnlyFor(Deno.args[0]);
  Deno.exit(await runProgram(realContext(), Deno.args, tiasRemote));
}
