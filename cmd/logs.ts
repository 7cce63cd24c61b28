import { buildCommand, type Command } from "@stricli/core";
import {
  type CommonFlags,
  commonFlags,
  serverFlag,
  switchFlag,
  wholeNumberParser,
} from "../lib/cli/flags.ts";
import { jobArgument, onlyJob, planJob } from "../lib/cli/job.ts";
import { followLog } from "../lib/cli/log_view.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { openProject } from "../lib/config/project.ts";
import type { RemoteConfig, ServerConfig } from "../lib/config/remote.ts";
import { locateJob } from "../lib/job/locate.ts";
import { logsScript } from "../lib/job/logs.ts";
import type { Context } from "../lib/system/context.ts";
import type { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

interface LogsFlags extends CommonFlags {
  readonly server?: string;
  readonly lines?: number;
  readonly follow?: boolean;
}

interface LogsPlan {
  readonly config: RemoteConfig;
  readonly servers: readonly ServerConfig[];
  readonly job: string;
  readonly lines: number;
  readonly follow: boolean;
}

function planLogs(flags: LogsFlags, job: string, config: RemoteConfig): LogsPlan {
  return { ...planJob(config, job, flags.server), lines: flags.lines ?? 100, follow: flags.follow ?? false };
}

async function executeLogs(world: Context, texts: Texts, plan: LogsPlan): Promise<ExitCode> {
  const { config, job, follow } = plan;
  const location = await locateJob(
    world,
    config,
    plan.servers,
    (server) => logsScript(server.remote_dir, job, { lines: plan.lines }, follow),
    (fields) => fields["found"] === "1",
  );
  const target = await onlyJob(world, texts, job, location);
  return await followLog(world, texts, config, job, target, follow);
}

/** `logs`: a job's log, once or until it ends. */
export function logsCommand(texts: Texts): Command<CliContext> {
  return buildCommand<LogsFlags, [string], CliContext>({
    docs: { brief: texts.say("logs.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        server: { ...serverFlag(texts), brief: texts.say("logs.flag.server") },
        lines: {
          kind: "parsed",
          parse: wholeNumberParser(0, 999_999_999),
          brief: texts.say("logs.flag.lines"),
          placeholder: "N",
          optional: true,
        },
        follow: switchFlag(texts.say("logs.flag.follow")),
      },
      aliases: { n: "lines", f: "follow" },
      positional: jobArgument(texts),
    },
    func: action(async ({ world, texts }, flags: LogsFlags, job: string) => {
      const { config } = await openProject(world, flags.config);
      return executeLogs(world, texts, planLogs(flags, job, config));
    }),
  });
}

if (import.meta.main) await main("logs", logsCommand);
