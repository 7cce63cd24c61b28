import { join } from "node:path";
import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags, jsonFlag, serverFlag, switchFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { pullJson } from "../lib/cli/pull_json.ts";
import { pullError, pullLines, showProgress } from "../lib/cli/pull_view.ts";
import { warn } from "../lib/cli/report.ts";
import { chooseRunServer } from "../lib/cli/run_search.ts";
import { serversNamed } from "../lib/cli/servers.ts";
import { openProject, type Project } from "../lib/config/project.ts";
import type { RemoteConfig, ServerConfig } from "../lib/config/remote.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { sizeText } from "../lib/text/size.ts";
import type { Texts } from "../lib/text/texts.ts";
import { type Disk, realDisk } from "../lib/transfer/disk.ts";
import { type PullOutcome, type PullRequest, pullRun } from "../lib/transfer/pull.ts";
import { faultOfRunId } from "../lib/transfer/run_id.ts";
import type { SendPlan } from "../lib/transfer/sent.ts";
import { parsePattern } from "../lib/transfer/whitelist.ts";

interface PullFlags extends CommonFlags {
  readonly server?: string;
  readonly withCheckpoints?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

interface PullPlan extends Omit<PullRequest, "server"> {
  readonly config: RemoteConfig;
  /** The server to pull from; `undefined` when it has to be found. */
  readonly server: ServerConfig | undefined;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** @throws {UserError} for a run id or a server name that cannot be */
function planPull(texts: Texts, flags: PullFlags, runId: string, { root, config }: Project): PullPlan {
  const fault = faultOfRunId(runId);
  if (fault !== undefined) {
    throw new UserError(message("pull.run_id", { reason: texts.say(`pull.run_id.${fault}`) }), {
      exit: ExitCode.Usage,
      hint: message("pull.run_id.hint"),
    });
  }
  const { whitelist, checkpoints, max_members, max_gib } = config.pull;
  return {
    config,
    server: flags.server === undefined ? undefined : serversNamed(config, flags.server)[0],
    runId,
    patterns: [...whitelist, ...(flags.withCheckpoints ? checkpoints : [])].map(parsePattern),
    limits: { maxMembers: max_members, maxBytes: max_gib * 2 ** 30 },
    runs: join(root, "runs"),
    onlyPlan: flags.dryRun ?? false,
    json: flags.json ?? false,
    verbose: flags.verbose ?? false,
  };
}

async function executePull(world: Context, disk: Disk, texts: Texts, plan: PullPlan): Promise<ExitCode> {
  const server = plan.server ?? await chooseRunServer(world, texts, plan.config, plan.runId);
  const request = { ...plan, server };
  const outcome = await pullWithProgress(world, disk, texts, plan.config, request);
  if (outcome.kind !== "done" && outcome.kind !== "planned") {
    throw pullError(texts, outcome, request, plan.verbose);
  }
  await world.out.write(
    plan.json
      ? `${JSON.stringify(pullJson(request, outcome.plan), null, 2)}\n`
      : pullLines(texts, request, outcome.plan).map((line) => `${line}\n`).join(""),
  );
  const { files, left, unportable, whole } = outcome.plan;
  if (unportable > 0) {
    await warn(world, texts, texts.say("pull.unportable", { count: unportable, server: server.name }));
  }
  if (!whole) await warn(world, texts, texts.say("pull.not_whole", { server: server.name }));
  if (files > 0) return ExitCode.Done;
  throw new UserError(message("pull.nothing", { run: plan.runId, server: server.name, left }), {
    hint: message("pull.nothing.hint"),
  });
}

async function pullWithProgress(
  world: Context,
  disk: Disk,
  texts: Texts,
  config: RemoteConfig,
  request: PullRequest,
): Promise<PullOutcome> {
  const progress = showProgress(world, texts);
  const say = (sentence: string) => void world.err.write(`${sentence}\n`);
  try {
    return await pullRun({ ...world, disk }, config, request, {
      plan({ files, bytes }: SendPlan) {
        const { runId: run, server } = request;
        say(texts.say("pull.starting", { run, server: server.name, files, size: sizeText(bytes) }));
        // Each file has a header and is filled up to a whole block.
        progress.expect(bytes + files * 768);
      },
      waiting: () => say(texts.say("pull.waiting")),
      received: progress.received,
    });
  } finally {
    await progress.end();
  }
}

/** `pull`: a run's results, by the whitelist. */
export function pullCommand(texts: Texts): Command<CliContext> {
  return buildCommand<PullFlags, [string], CliContext>({
    docs: { brief: texts.say("pull.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        server: serverFlag(texts),
        withCheckpoints: switchFlag(texts.say("pull.flag.with_checkpoints")),
        dryRun: switchFlag(texts.say("pull.flag.dry_run")),
        json: jsonFlag(texts),
        verbose: switchFlag(texts.say("pull.flag.verbose")),
      },
      positional: {
        kind: "tuple",
        parameters: [{ brief: texts.say("pull.argument"), parse: asText, placeholder: "RUN_ID" }],
      },
    },
    func: action(async ({ world, texts }, flags: PullFlags, runId: string) => {
      const project = await openProject(world, flags.config);
      return executePull(world, realDisk, texts, planPull(texts, flags, runId, project));
    }),
  });
}

if (import.meta.main) await main("pull", pullCommand);
