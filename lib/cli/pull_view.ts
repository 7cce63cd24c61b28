import { join } from "node:path";
import type { Context } from "../system/context.ts";
import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sizeText } from "../text/size.ts";
import { width } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";
import type { PullOutcome, PullRequest } from "../transfer/pull.ts";
import type { SendPlan } from "../transfer/sent.ts";
import { failureText } from "./survey_view.ts";

/** What a person reads about a pull. None of it ever names a member. */

/** What a failed pull tells the user. `verbose` allows a masked name. */
export function pullError(
  texts: Texts,
  outcome: Exclude<PullOutcome, { kind: "done" | "planned" }>,
  request: Pick<PullRequest, "server" | "runId" | "runs">,
  verbose: boolean,
): UserError {
  const server = request.server.name;
  const run = request.runId;
  const failed = (text: Message, hint: Message, details: string[] = []) =>
    new UserError(text, { hint, details, exit: ExitCode.Failed });
  switch (outcome.kind) {
    case "problem":
      return outcome.problem === "no_run"
        ? failed(message("pull.not_found_on", { server, run }), message("pull.not_found.hint"))
        : failed(
          message(`pull.problem.${outcome.problem}`, { server }),
          message(`pull.problem.${outcome.problem}.hint`),
        );
    case "refused": {
      const { rule, maskedName } = outcome.refusal;
      const shown = verbose && maskedName !== undefined && maskedName !== "";
      return failed(
        message("pull.refused", { server, reason: texts.say(`pull.rule.${rule}`) }),
        message("pull.refused.hint"),
        shown ? [texts.say("pull.refused.member", { name: maskedName })] : [],
      );
    }
    case "tar_failed":
      return failed(
        message("pull.tar_failed", { server, status: outcome.status }),
        message("pull.tar_failed.hint"),
      );
    case "connection": {
      const { kind } = outcome.failure;
      const reason = failureText(texts, outcome.failure);
      return kind === "cut" || kind === "silent"
        ? failed(message("pull.cut", { server, reason }), message("pull.cut.hint"))
        : failed(message("pull.unreachable", { server, reason }), message(`ssh.hint.${kind}`));
    }
    case "stalled":
      return failed(
        message("pull.stalled", { server, minutes: outcome.minutes }),
        message("pull.stalled.hint"),
      );
    case "not_understood":
      return failed(message("pull.not_understood", { server }), message("pull.not_understood.hint"));
    case "obstacle":
      return failed(message(`pull.obstacle.${outcome.obstacle}`, { run }), message("pull.obstacle.hint"));
    case "placing":
      return failed(
        message("pull.placing_failed", { run, problem: outcome.problem }),
        message("pull.placing_failed.hint"),
      );
    case "disk":
      switch (outcome.fault) {
        case "full":
          return failed(message("pull.disk_full"), message("pull.disk_full.hint"));
        case "not_permitted":
          return new UserError(message("pull.not_permitted", { folder: request.runs }), {
            hint: message("pull.not_permitted.hint"),
            exit: ExitCode.Usage,
          });
        case "not_writable":
          return failed(
            message("pull.not_writable", { problem: outcome.problem }),
            message("pull.not_writable.hint"),
          );
      }
  }
}

/** What a progress line shows. */
export interface PullProgress {
  /** Bytes that have come. */
  readonly done: number;
  /** Bytes that are expected; an estimate, because of headers. */
  readonly total: number;
  /** Since the first byte. */
  readonly seconds: number;
}

/** One line of at most `columns`: a bar where there is room, percent, bytes, rate, and the rest of the time. */
export function progressLine(texts: Texts, progress: PullProgress, columns: number): string {
  const { total, seconds } = progress;
  const done = Math.min(progress.done, total);
  const share = total === 0 ? 1 : done / total;
  const rate = seconds > 0 ? done / seconds : 0;
  const numbers = texts.say("pull.progress", {
    percent: String(Math.floor(share * 100)).padStart(3),
    done: sizeText(done),
    total: sizeText(total),
    rate: sizeText(Math.round(rate)),
  });
  // In the first moments a rate says nothing about the rest.
  const left = rate > 0 && seconds >= 1
    ? "  " + texts.say("pull.progress.left", { time: texts.duration(Math.ceil((total - done) / rate)) })
    : "";
  const line = numbers + left;
  const room = Math.min(30, columns - width(line) - 5);
  if (room < 8) return line;
  const filled = Math.floor(share * room);
  return `[${"#".repeat(filled)}${"-".repeat(room - filled)}] ${line}`;
}

/** Keeps a progress line on a terminal until it is ended; elsewhere nothing. */
export function showProgress(
  world: Pick<Context, "err" | "clock">,
  texts: Texts,
): { expect(bytes: number): void; received(bytes: number): void; end(): Promise<void> } {
  if (!world.err.isTerminal) return { expect() {}, received() {}, end: () => Promise.resolve() };
  const over = new AbortController();
  let began: number | undefined;
  let total = 0;
  let done = 0;
  const drawing = (async () => {
    while (!over.signal.aborted) {
      if (began !== undefined) {
        const seconds = (world.clock.now().getTime() - began) / 1000;
        const line = progressLine(texts, { done, total, seconds }, world.err.columns);
        await world.err.write(`\r\x1b[K${line}`);
      }
      await world.clock.sleep(250, over.signal);
    }
    if (began !== undefined) await world.err.write("\r\x1b[K");
  })();
  return {
    expect(bytes) {
      total = bytes;
      began = world.clock.now().getTime();
    },
    received: (bytes) => void (done = bytes),
    async end() {
      over.abort();
      await drawing;
    },
  };
}

/** What came and what did not, for standard output. */
export function pullLines(
  texts: Texts,
  { server: { name: server }, runId: run, runs, onlyPlan }: PullRequest,
  { files, bytes, left }: SendPlan,
): string[] {
  if (files === 0) return [];
  const params = { server, run, files, size: sizeText(bytes), folder: join(runs, run) };
  return onlyPlan
    ? [texts.say("pull.would", params), texts.say("pull.would.left", { count: left, server })]
    : [texts.say("pull.done", params), texts.say("pull.left", { count: left, server })];
}
