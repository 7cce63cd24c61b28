import { type Candidate, isCandidate, selectGpu } from "../gpu/select.ts";
import type { ServerReport } from "../gpu/survey.ts";
import { reached } from "../gpu/survey.ts";
import type { JudgedGpu } from "../gpu/types.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import { warn } from "./report.ts";
import type { RunPlan } from "./run_plan.ts";
import { failureText, holderNames, reasonText, surveyLines } from "./survey_view.ts";

/**
 * The GPUs that `run` tries, best first.
 *
 * @throws {UserError} when a job of that name runs anywhere, the named GPU cannot be taken, or none is free
 */
export async function chooseCandidates(
  world: Context,
  texts: Texts,
  plan: RunPlan,
  reports: readonly ServerReport[],
): Promise<readonly [Candidate, ...Candidate[]]> {
  await refuseRunningName(world, texts, plan.job, reports);
  const named = reports.find(({ server }) => server.name === plan.wish.server);
  if (named !== undefined && !named.reachable) {
    throw new UserError(
      message("run.server_unreachable", {
        server: named.server.name,
        reason: failureText(texts, named.failure),
      }),
      { hint: message(`ssh.hint.${named.failure.kind}`) },
    );
  }
  const selection = selectGpu(reports, plan.wish);
  if (selection.kind === "candidates") return selection.candidates;
  if (selection.kind === "none") {
    const candidates = reports.filter(({ server }) => isCandidate(server, plan.wish));
    throw new UserError(message("run.no_gpu"), {
      exit: ExitCode.NothingSuitable,
      hint: message("run.no_gpu.hint"),
      details: surveyLines(texts, { ...world.err, isTerminal: false, columns: 80 }, candidates),
    });
  }
  throw refusal(texts, plan, reports, selection.refusal, selection.gpu);
}

async function refuseRunningName(
  world: Context,
  texts: Texts,
  job: string,
  reports: readonly ServerReport[],
) {
  const where = reached(reports).filter(({ jobs }) =>
    jobs.some(({ name, state }) => name === job && state === "running")
  );
  if (where.length > 0) {
    throw new UserError(
      message("run.already_running", { job, servers: where.map(({ server }) => server.name).join(", ") }),
      { hint: message("run.already_running.hint", { job }) },
    );
  }
  for (const report of reports) {
    if (report.reachable) continue;
    const reason = failureText(texts, report.failure);
    await warn(world, texts, texts.say("run.may_run_there", { server: report.server.name, job, reason }));
  }
}

function refusal(
  texts: Texts,
  plan: RunPlan,
  reports: readonly ServerReport[],
  kind: "no_such_gpu" | "not_free" | "no_list",
  gpu: JudgedGpu | undefined,
): UserError {
  const server = plan.wish.server ?? "";
  const report = reached(reports).find((each) => each.server.name === server);
  const index = plan.wish.gpu ?? 0;
  if (kind === "not_free" && gpu !== undefined) {
    return new UserError(
      message("run.not_free", {
        server,
        gpu: index,
        state: texts.say(`gpu.state.${gpu.verdict.state}`),
        reason: reasonText(texts, gpu),
      }),
      { exit: ExitCode.NothingSuitable, hint: message("run.not_free.hint") },
    );
  }
  if (kind === "no_such_gpu") {
    const gpus = report?.gpus.map((each) => each.index).join(", ") ?? "";
    return new UserError(message("run.no_such_gpu", { server, gpu: index, gpus }), {
      exit: ExitCode.Usage,
      hint: message("run.no_such_gpu.hint"),
    });
  }
  const reason = texts.say(`gpu.fault.${report?.fault?.kind ?? "failed"}`);
  return new UserError(message("run.no_list", { server, reason }), { hint: message("gpu.fault.hint") });
}

/** Tells which GPU it is, and whose hands it is in. */
export async function warnOfHolders(world: Context, texts: Texts, candidate: Candidate): Promise<void> {
  const { server, gpu } = candidate;
  const state = texts.say(`gpu.state.${candidate.state}`);
  await world.err.write(`${texts.say("run.chosen", { server, gpu: gpu.index, name: gpu.name, state })}\n`);
  if (candidate.forced) {
    const reason = reasonText(texts, gpu);
    await warn(world, texts, texts.say("run.forced", { server, gpu: gpu.index, state, reason }));
  } else if (candidate.state === "idle_held") {
    await warn(
      world,
      texts,
      texts.say("run.holders", { server, gpu: gpu.index, holders: holderNames(texts, gpu) }),
    );
  }
}
