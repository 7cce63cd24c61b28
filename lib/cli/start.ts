import type { ServerConfig } from "../config/remote.ts";
import type { Candidate } from "../gpu/select.ts";
import { reached, type ServerReport } from "../gpu/survey.ts";
import { readStartOutcome, type StartOutcome, type StartRequest, startScript } from "../job/start.ts";
import { attachCommand } from "../ssh/by_hand.ts";
import { runScript } from "../ssh/connection.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { randomToken } from "../system/token.ts";
import { lastLines, sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { packProject } from "../transfer/pack.ts";
import { pushFault, transferSeconds } from "../transfer/push.ts";
import { pushFaultMessage, type PushList, withProgress } from "./push_view.ts";
import { warn } from "./report.ts";
import type { RunPlan } from "./run_plan.ts";
import { failureText } from "./survey_view.ts";

/** One candidate to be tried. */
export interface Attempt {
  readonly plan: RunPlan;
  readonly candidate: Candidate;
  readonly reports: readonly ServerReport[];
  /** The code to send; undefined with `--no-push`, and when the server has just got it. */
  readonly list: PushList | undefined;
}

/** What became of an attempt. A server that is not reached any more has done nothing; another one may be tried. */
export type AttemptOutcome = StartOutcome | { readonly kind: "not_reached"; readonly fault: UserError };

/**
 * Sends the code and starts the job, in one connection. A GPU that was taken meanwhile is told and returned.
 *
 * @throws {UserError} when the connection breaks in the middle: nobody can tell what happened
 */
export async function attemptStart(world: Context, texts: Texts, attempt: Attempt): Promise<AttemptOutcome> {
  const { plan, candidate, list } = attempt;
  const { config } = plan.project;
  const { job } = plan;
  const server = serverOf(attempt);
  await sayWhatGoes(world, texts, attempt);
  const archive = list === undefined ? undefined : withProgress(
    world,
    texts,
    server.name,
    packProject(list.entries, randomToken(world), world.clock.now()),
  );
  const script = startScript(
    startRequest(attempt, server, randomToken(world)),
    archive && { ...archive, seconds: transferSeconds(archive.bytes) },
  );
  const result = await runScript(world, config, server, script);
  if (!result.ok) {
    const reason = failureText(texts, result.failure);
    const begun = result.failure.kind === "cut" || result.failure.kind === "silent" ||
      result.failure.kind === "interrupted";
    if (!begun) {
      const hint = message(`ssh.hint.${result.failure.kind}`);
      return {
        kind: "not_reached",
        fault: new UserError(message("run.not_reached", { server: server.name, job, reason }), { hint }),
      };
    }
    throw new UserError(message("run.uncertain", { server: server.name, job, reason }), {
      hint: message("run.uncertain.hint"),
      exit: world.interrupted.aborted ? ExitCode.Interrupted : ExitCode.Failed,
    });
  }
  const outcome = readStartOutcome(result.value);
  if (outcome.kind === "taken") {
    const place = { server: server.name, gpu: candidate.gpu.index };
    await warn(
      world,
      texts,
      outcome.why === "process"
        ? texts.say("run.taken.process", {
          ...place,
          user: sanitizeLine(outcome.user || "?"),
          pid: outcome.pid,
        })
        : outcome.why === "job"
        ? texts.say("run.taken.job", { ...place, job: sanitizeLine(outcome.job) })
        : texts.say(`run.taken.${outcome.why}`, place),
    );
  }
  return outcome;
}

async function sayWhatGoes(
  world: Context,
  texts: Texts,
  { candidate, reports, list }: Attempt,
): Promise<void> {
  const { server } = candidate;
  if (list === undefined) {
    await world.err.write(`${texts.say("run.starting", { server })}\n`);
    return;
  }
  const running = reached(reports).find((report) => report.server.name === server)?.jobs
    .filter(({ state }) => state === "running").map(({ name }) => name) ?? [];
  if (running.length > 0) {
    await warn(world, texts, texts.say("push.job_running", { server, jobs: running.join(", ") }));
  }
  await world.err.write(`${texts.say("run.sending", { server, files: list.files, size: list.size })}\n`);
}

function startRequest({ plan, candidate }: Attempt, server: ServerConfig, id: string): StartRequest {
  const { gpu, forced } = candidate;
  return {
    server: server.name,
    job: plan.job,
    id,
    command: plan.command,
    env: plan.env,
    gpu: gpu.index,
    uuid: gpu.uuid ?? "",
    remoteDir: server.remote_dir,
    dataDir: server.data_dir,
    uv: server.uv,
    tmuxSocket: plan.project.config.jobs.tmux_socket,
    known: {
      pids: gpu.processes.map(({ pid }) => pid),
      jobs: gpu.jobs,
      listReadable: gpu.processListReadable,
    },
    force: forced || plan.wish.force,
  };
}

function serverOf({ plan, candidate }: Attempt): ServerConfig {
  const server = plan.project.config.servers.find(({ name }) => name === candidate.server);
  if (server === undefined) throw new Error("Cannot start on a server that is not configured");
  return server;
}

/** Says where the job runs and how to go on, or why it does not run. */
export async function reportStart(
  world: Context,
  texts: Texts,
  attempt: Attempt,
  outcome: Exclude<StartOutcome, { kind: "taken" }>,
): Promise<ExitCode> {
  const { plan, candidate } = attempt;
  const { config } = plan.project;
  const { job } = plan;
  const server = candidate.server;
  const gpu = candidate.gpu.index;
  switch (outcome.kind) {
    case "started": {
      await world.out.write(`${texts.say("run.started", { job, server, gpu })}\n`);
      await world.err.write(`${texts.say("run.next.logs", { command: `tias-remote logs ${job} -f` })}\n`);
      if (outcome.keeper === "tmux") {
        const command = attachCommand(config, serverOf(attempt), config.jobs.tmux_socket, job);
        await world.err.write(`${texts.say("run.next.attach", { command })}\n`);
      }
      return ExitCode.Done;
    }
    case "ended":
      for (const line of lastLines(outcome.lines, 20)) await world.err.write(`  ${line}\n`);
      if (outcome.code === 0) {
        await world.out.write(`${texts.say("run.finished", { job, server, gpu })}\n`);
        return ExitCode.Done;
      }
      throw new UserError(message("run.died", { job, server, gpu, code: outcome.code ?? "?" }), {
        hint: message("run.died.hint", { job }),
      });
    case "push_failed":
      throw new UserError(pushFaultMessage(texts, server, pushFault(outcome.status, outcome.text)), {
        hint: message("push.failed.hint"),
      });
    case "uv_missing":
      throw new UserError(message("run.uv_missing", { server, path: sanitizeLine(outcome.detail) }), {
        hint: message("run.uv_missing.hint"),
      });
    case "unwritable":
      throw new UserError(message("run.unwritable", { server, detail: sanitizeLine(outcome.detail) }), {
        hint: message("run.unwritable.hint"),
      });
    case "lock_busy":
      throw new UserError(message("run.lock_busy", { server, gpu }), { hint: message("run.lock_busy.hint") });
    case "name_taken":
      throw new UserError(message("run.name_taken", { server, job }), {
        hint: message("run.already_running.hint", { job }),
      });
    case "launch_failed":
      throw new UserError(
        message("run.launch_failed", { server, job, detail: sanitizeLine(outcome.detail.trim()) }),
        {
          hint: message("run.launch_failed.hint", { socket: config.jobs.tmux_socket }),
        },
      );
    case "not_started":
      throw new UserError(message("run.not_started", { server, job, detail: sanitizeLine(outcome.detail) }), {
        hint: message("run.not_started.hint"),
      });
  }
}
