import { buildCommand, type Command } from "@stricli/core";
import { type CommonFlags, commonFlags, serverFlag, switchFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { listForPush, pushFaultMessage, type PushList, withProgress } from "../lib/cli/push_view.ts";
import { warn } from "../lib/cli/report.ts";
import { serversNamed } from "../lib/cli/servers.ts";
import { openProject, type Project } from "../lib/config/project.ts";
import type { ServerConfig } from "../lib/config/remote.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { randomToken } from "../lib/system/token.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";
import { packProject } from "../lib/transfer/pack.ts";
import { type PushResult, pushToServer } from "../lib/transfer/push.ts";

interface PushFlags extends CommonFlags {
  readonly server?: string;
  readonly dryRun?: boolean;
}

interface PushPlan {
  readonly project: Project;
  readonly servers: readonly ServerConfig[];
  readonly dryRun: boolean;
}

function planPush(flags: PushFlags, project: Project): PushPlan {
  return { project, servers: serversNamed(project.config, flags.server), dryRun: flags.dryRun ?? false };
}

async function executePush(world: Context, texts: Texts, plan: PushPlan): Promise<ExitCode> {
  const list = await listForPush(texts, plan.project);
  const { files, size } = list;
  if (plan.dryRun) {
    for (const { path, kind } of list.entries) {
      if (kind !== "directory") await world.out.write(`${sanitizeLine(path)}\n`);
    }
    await world.err.write(`${texts.say("push.dry", { files, size })}\n`);
    return ExitCode.Done;
  }
  const names = plan.servers.map(({ name }) => name).join(", ");
  await world.err.write(`${texts.say("push.sending", { files, size, servers: names })}\n`);
  const results = await Promise.all(plan.servers.map(async (server) => {
    const archive = packProject(list.entries, randomToken(world), world.clock.now());
    const shown = plan.servers.length === 1 ? withProgress(world, texts, server.name, archive) : archive;
    const result = await pushToServer(world, plan.project.config, server, shown);
    // Ctrl-C is told once, below, and is no fault of a server.
    if (!world.interrupted.aborted) await reportPush(world, texts, server, list, result);
    return result;
  }));
  world.interrupted.throwIfAborted();
  return verdict(texts, plan, results);
}

async function reportPush(
  world: Context,
  texts: Texts,
  server: ServerConfig,
  list: PushList,
  result: PushResult,
) {
  if (!result.ok) {
    await warn(world, texts, texts.sentence(pushFaultMessage(texts, server.name, result.fault)));
    return;
  }
  const { files, size } = list;
  await world.out.write(
    `${texts.say("push.done", { server: server.name, files, size, folder: server.remote_dir })}\n`,
  );
  if (result.running.length > 0) {
    const jobs = result.running.join(", ");
    await warn(world, texts, texts.say("push.job_running", { server: server.name, jobs }));
  }
}

/** A server that cannot be reached is passed over; a failure on one that can is a failure of the push. */
function verdict(texts: Texts, plan: PushPlan, results: readonly PushResult[]): ExitCode {
  const faults = results.flatMap((result) => result.ok ? [] : [result.fault]);
  const unreachable = faults.filter((fault) => fault.kind === "unreachable");
  const kind = unreachable[0]?.failure.kind;
  if (unreachable.length === results.length && kind !== undefined) {
    const only = plan.servers.length === 1 ? plan.servers[0]?.name : undefined;
    const fault = faults[0];
    const text = only === undefined || fault === undefined
      ? message("survey.all_unreachable")
      : pushFaultMessage(texts, only, fault);
    throw new UserError(text, { hint: message(`ssh.hint.${kind}`) });
  }
  if (faults.length > unreachable.length) {
    throw new UserError(message("push.some_failed"), { hint: message("push.failed.hint") });
  }
  return ExitCode.Done;
}

/** `push`: the project's code, to one server or to all that can be reached. */
export function pushCommand(texts: Texts): Command<CliContext> {
  return buildCommand<PushFlags, [], CliContext>({
    docs: { brief: texts.say("push.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        server: serverFlag(texts),
        dryRun: switchFlag(texts.say("push.flag.dry_run")),
      },
    },
    func: action(async ({ world, texts }, flags: PushFlags) =>
      executePush(world, texts, planPush(flags, await openProject(world, flags.config)))
    ),
  });
}

if (import.meta.main) await main("push", pushCommand);
