import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import type { LocatedJob } from "../job/locate.ts";
import { logsScript } from "../job/logs.ts";
import { type JobEvent, JobStream } from "../job/stream.ts";
import type { ConnectionFailure, FailureKind } from "../ssh/failure.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { TerminalFilter } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { failureText } from "./survey_view.ts";

/** Seconds before each further try; the last one repeats. */
const pauses = [1, 2, 4, 8, 15, 30];
/** Trying again cannot help with these. */
const hopeless: readonly FailureKind[] = [
  "authentication",
  "host_key_unknown",
  "host_key_changed",
  "host_key_unsaved",
  "ssh_config",
  "ssh_too_old",
  "proxy_jump_broken",
  "slurm",
  "password_expired",
  "login_refused",
];

/** The next try after a failure, in seconds; `undefined` when there is no use in one. */
export function pauseBefore(attempt: number, failure: ConnectionFailure): number | undefined {
  if (hopeless.includes(failure.kind)) return undefined;
  // Every further try lengthens such a block, for all who come from the same address.
  if (failure.kind === "blocked") return 60;
  return pauses[Math.min(attempt, pauses.length - 1)];
}

/**
 * Writes a job's log from a connection that already stands. When following, a lost connection is replaced and the log
 * continues at the byte where it stopped.
 */
export async function followLog(
  world: Context,
  texts: Texts,
  config: RemoteConfig,
  job: string,
  target: LocatedJob,
  follow: boolean,
): Promise<ExitCode> {
  const printer = new LogPrinter(world, texts);
  let { stream, events } = target as { stream: JobStream; events: AsyncGenerator<JobEvent> };
  for (let attempt = 0;;) {
    const before = printer.position;
    const end = await printer.print(events);
    if (world.out.isClosed) {
      await stream.close();
      return ExitCode.Done;
    }
    if (end !== undefined) {
      await stream.close();
      await printer.finish();
      return follow ? await reportEnd(world, texts, job, target.server, end) : ExitCode.Done;
    }
    const failure = await stream.failure();
    if (world.interrupted.aborted) {
      await printer.finish();
      if (follow) {
        const command = `tias-remote logs ${job} -f`;
        await world.err.write(`\n${texts.say("logs.detached", { command })}\n`);
      }
      return ExitCode.Interrupted;
    }
    if (printer.position !== before) attempt = 0;
    const reason = failureText(texts, failure);
    const seconds = pauseBefore(attempt++, failure);
    if (!follow || seconds === undefined) {
      await printer.finish();
      throw new UserError(message("logs.gave_up", { job, reason }), { hint: message("logs.gave_up.hint") });
    }
    await world.err.write(
      `${texts.say("logs.reconnecting", { server: target.server.name, reason, seconds })}\n`,
    );
    await world.clock.sleep(seconds * 1000, world.interrupted);
    const start = printer.position === undefined ? { lines: 100 } : { offset: printer.position };
    stream = new JobStream(
      world,
      config,
      target.server,
      logsScript(target.server.remote_dir, job, start, true),
    );
    events = stream.events();
  }
}

/** Writes log bytes and remembers where the next one stands. */
class LogPrinter {
  readonly #world: Context;
  readonly #texts: Texts;
  readonly #filter = new TerminalFilter();
  /** Offset of the first byte not yet written; `undefined` before the first one. */
  position: number | undefined;

  constructor(world: Context, texts: Texts) {
    this.#world = world;
    this.#texts = texts;
  }

  /** Writes until the job's end is told (its fields), or the connection ends or nobody reads any more (`undefined`). */
  async print(events: AsyncGenerator<JobEvent>): Promise<Readonly<Record<string, string>> | undefined> {
    const { out, err } = this.#world;
    for await (const event of events) {
      if (event.kind === "data") {
        this.position = event.offset + event.bytes.length;
        // A file or a pipe gets the bytes as they are.
        await out.write(out.isTerminal ? this.#filter.push(event.bytes) : event.bytes);
        if (out.isClosed) return undefined;
      } else if (event.kind === "truncated") {
        await err.write(`${this.#texts.say("logs.truncated")}\n`);
      } else if (event.kind === "section" && event.name === "ended") {
        return event.fields;
      }
    }
    return undefined;
  }

  async finish(): Promise<void> {
    if (this.#world.out.isTerminal) await this.#world.out.write(this.#filter.end());
  }
}

async function reportEnd(
  world: Context,
  texts: Texts,
  job: string,
  server: ServerConfig,
  fields: Readonly<Record<string, string>>,
): Promise<ExitCode> {
  if (fields["state"] === "lost") {
    throw new UserError(message("logs.lost", { job, server: server.name }));
  }
  const code = fields["code"];
  if (fields["state"] === "ended" && code !== undefined) {
    await world.err.write(`${texts.say("logs.ended", { job, server: server.name, code })}\n`);
    return code === "0" ? ExitCode.Done : ExitCode.Failed;
  }
  return ExitCode.Done;
}
