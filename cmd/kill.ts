import { buildCommand, type Command } from "@stricli/core";
import { type CommonFlags, commonFlags, serverFlag, wholeNumberParser } from "../lib/cli/flags.ts";
import { jobArgument, onlyJob, planJob } from "../lib/cli/job.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { failureText } from "../lib/cli/survey_view.ts";
import { openProject } from "../lib/config/project.ts";
import type { RemoteConfig, ServerConfig } from "../lib/config/remote.ts";
import { killScript } from "../lib/job/kill.ts";
import { type LocatedJob, locateJob } from "../lib/job/locate.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

interface KillFlags extends CommonFlags {
  readonly server?: string;
  readonly grace?: number;
}

interface KillPlan {
  readonly config: RemoteConfig;
  readonly servers: readonly ServerConfig[];
  readonly job: string;
  readonly graceSeconds: number;
}

function planKill(flags: KillFlags, job: string, config: RemoteConfig): KillPlan {
  return { ...planJob(config, job, flags.server), graceSeconds: flags.grace ?? 10 };
}

async function executeKill(world: Context, texts: Texts, plan: KillPlan): Promise<ExitCode> {
  const { job } = plan;
  // Each script waits for its order, so that nothing is touched before every server has answered.
  const orders = new Map(
    plan.servers.map(({ name }) => [name, new TransformStream<Uint8Array, Uint8Array>()]),
  );
  const orderFor = (server: ServerConfig) => {
    const order = orders.get(server.name);
    if (order === undefined) throw new Error("Cannot kill on a server that was not asked");
    return order;
  };
  const location = await locateJob(
    world,
    plan.config,
    plan.servers,
    (server) => killScript(server.remote_dir, job, plan.graceSeconds, orderFor(server).readable),
    (fields) => fields["found"] === "1" && fields["state"] !== "elsewhere",
  );
  const target = await onlyJob(world, texts, job, { ...location, found: liveliest(location.found) });
  for (const other of location.found) if (other !== target) await other.stream.close();
  const { server } = target;
  try {
    if (target.fields["state"] === "ended") {
      const code = target.fields["code"] ?? "?";
      throw new UserError(message("kill.not_running", { job, server: server.name, code }));
    }
    await world.err.write(`${texts.say("kill.stopping", { job, server: server.name })}\n`);
    const writer = orderFor(server).writable.getWriter();
    await writer.write(new TextEncoder().encode("go\n"));
    await writer.close();
    return await awaitEnd(world, texts, job, target);
  } finally {
    await target.stream.close();
  }
}

/** A job that runs is meant before one whose keeper is gone, and that before one that has ended. */
function liveliest(found: readonly LocatedJob[]): readonly LocatedJob[] {
  for (const state of ["running", "lost"]) {
    const those = found.filter(({ fields }) => fields["state"] === state);
    if (those.length > 0) return those;
  }
  return found;
}

async function awaitEnd(world: Context, texts: Texts, job: string, target: LocatedJob): Promise<ExitCode> {
  const server = target.server.name;
  for await (const event of target.events) {
    if (event.kind !== "section" || event.name !== "kill") continue;
    const { outcome, code = "?", left = "" } = event.fields;
    if (outcome === "killed") {
      await world.out.write(`${texts.say("kill.done", { job, server, code })}\n`);
      return ExitCode.Done;
    }
    if (outcome === "gone") throw new UserError(message("kill.gone", { job, server }));
    throw new UserError(message("kill.survived", { job, server, pids: left.trim() }), {
      hint: message("kill.survived.hint"),
    });
  }
  const reason = failureText(texts, await target.stream.failure());
  throw new UserError(message("kill.lost_connection", { job, server, reason }), {
    hint: message("kill.lost_connection.hint"),
    exit: world.interrupted.aborted ? ExitCode.Interrupted : ExitCode.Failed,
  });
}

/** `kill`: ends a job and everything that it started. */
export function killCommand(texts: Texts): Command<CliContext> {
  return buildCommand<KillFlags, [string], CliContext>({
    docs: { brief: texts.say("kill.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        server: { ...serverFlag(texts), brief: texts.say("logs.flag.server") },
        grace: {
          kind: "parsed",
          parse: wholeNumberParser(0, 300),
          brief: texts.say("kill.flag.grace"),
          placeholder: "SEC",
          optional: true,
        },
      },
      positional: jobArgument(texts),
    },
    func: action(async ({ world, texts }, flags: KillFlags, job: string) => {
      const { config } = await openProject(world, flags.config);
      return executeKill(world, texts, planKill(flags, job, config));
    }),
  });
}

if (import.meta.main) await main("kill", killCommand);
