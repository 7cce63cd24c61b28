import { type Project, requireReadable } from "../config/project.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { sizeText } from "../text/size.ts";
import type { Texts } from "../text/texts.ts";
import type { PushArchive } from "../transfer/pack.ts";
import type { PushFailure } from "../transfer/push.ts";
import { type PushEntry, type PushProblem, selectForPush } from "../transfer/selection.ts";
import { failureText } from "./survey_view.ts";

/** At most this many names of a list are shown. */
const shownProblems = 20;

/** What `push` and `run` send: chosen and guarded before any server is asked. */
export interface PushList {
  readonly entries: readonly PushEntry[];
  readonly files: number;
  readonly size: string;
}

/** @throws {UserError} when the project cannot be read, or something in it must not leave this machine: with a list */
export async function listForPush(texts: Texts, project: Project): Promise<PushList> {
  await requireReadable(project);
  const { root, config } = project;
  const { entries, problems } = await selectForPush(root, config.push);
  if (problems.length > 0) throw refusal(texts, problems, config.push.max_file_mib);
  if (entries.length === 0) {
    throw new UserError(message("push.empty", { folder: root }), {
      exit: ExitCode.Usage,
      hint: message("push.empty.hint"),
    });
  }
  return {
    entries,
    files: entries.filter(({ kind }) => kind !== "directory").length,
    size: sizeText(entries.reduce((sum, { size }) => sum + size, 0)),
  };
}

function refusal(texts: Texts, problems: readonly PushProblem[], limit: number): UserError {
  const details = problems.slice(0, shownProblems).map(({ path, fault }) =>
    `${sanitizeLine(path || ".")}: ${
      fault === "too_large" ? texts.say("push.fault.too_large", { limit }) : texts.say(`push.fault.${fault}`)
    }`
  );
  const more = problems.length - details.length;
  if (more > 0) details.push(texts.say("push.more", { count: more }));
  return new UserError(message("push.refused", { count: problems.length }), {
    hint: message("push.refused.hint"),
    details,
  });
}

/** Why a server does not have the code. */
export function pushFaultMessage(texts: Texts, server: string, fault: PushFailure): Message {
  switch (fault.kind) {
    case "unreachable":
      return message("survey.failure", { server, reason: failureText(texts, fault.failure) });
    case "cut":
      return message("push.failed.cut", { server, reason: failureText(texts, fault.failure) });
    case "unwritable":
      return message("push.failed.unwritable", { server, detail: fault.detail });
    default:
      return message(`push.failed.${fault.kind}`, { server });
  }
}

/** The archive, with a line on a terminal that tells how much of it is on its way. */
export function withProgress(
  world: Pick<Context, "err">,
  texts: Texts,
  server: string,
  archive: PushArchive,
): PushArchive {
  if (!world.err.isTerminal || archive.bytes === 0) return archive;
  let sent = 0;
  let shown = -1;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    async transform(chunk, controller) {
      sent += chunk.length;
      const percent = Math.min(100, Math.floor(sent * 100 / archive.bytes));
      if (percent !== shown) {
        shown = percent;
        await world.err.write(`\r\x1b[K${texts.say("push.progress", { server, percent })}`);
      }
      controller.enqueue(chunk);
    },
    flush: () => world.err.write("\r\x1b[K"),
  });
  return { ...archive, stream: archive.stream.pipeThrough(counter) };
}
