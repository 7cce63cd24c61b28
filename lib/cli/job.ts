import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import { isJobName } from "../job/list.ts";
import type { LocatedJob, Location } from "../job/locate.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { asText } from "./flags.ts";
import { proposeJobs } from "./proposals.ts";
import { warn } from "./report.ts";
import { serversNamed } from "./servers.ts";
import { failureText } from "./survey_view.ts";

/** The one positional argument of `logs` and `kill`. */
export function jobArgument(texts: Texts) {
  return {
    kind: "tuple",
    parameters: [{
      brief: texts.say("job.name.argument"),
      parse: asText,
      placeholder: "NAME",
      proposeCompletions: proposeJobs,
    }],
  } as const;
}

/** @throws {UserError} for a name that no job can have */
export function requireJobName(name: string): string {
  if (isJobName(name)) return name;
  throw new UserError(message("job.name.invalid", { name: sanitizeLine(name) }), { exit: ExitCode.Usage });
}

export function planJob(config: RemoteConfig, job: string, server: string | undefined): {
  readonly config: RemoteConfig;
  readonly job: string;
  readonly servers: readonly ServerConfig[];
} {
  return { config, job: requireJobName(job), servers: serversNamed(config, server) };
}

/**
 * The one server that knows the job. Servers that could not be asked are warned of; connections that are not returned
 * are closed.
 *
 * @throws {UserError} when none has it, or when several have it: all are named
 */
export async function onlyJob(
  world: Context,
  texts: Texts,
  job: string,
  location: Location,
): Promise<LocatedJob> {
  world.interrupted.throwIfAborted();
  const { found, unreachable } = location;
  const [first, ...others] = found;
  if (first !== undefined && others.length === 0) {
    for (const { server, failure } of unreachable) {
      const reason = failureText(texts, failure);
      await warn(world, texts, texts.say("job.asked_in_vain", { server: server.name, reason }));
    }
    return first;
  }
  for (const { stream } of found) await stream.close();
  if (first !== undefined) {
    const servers = found.map(({ server }) => server.name).join(", ");
    throw new UserError(message("job.ambiguous", { job, servers }), {
      exit: ExitCode.Usage,
      hint: message("job.ambiguous.hint"),
    });
  }
  if (unreachable.length === 0) {
    throw new UserError(message("job.not_found", { job }), { hint: message("job.not_found.hint") });
  }
  throw new UserError(
    message("job.not_found.unreachable", {
      job,
      servers: unreachable.map(({ server }) => server.name).join(", "),
    }),
    {
      hint: message(`ssh.hint.${unreachable[0]?.failure.kind ?? "unknown"}`),
      details: unreachable.map(({ server, failure }) => `${server.name}: ${failureText(texts, failure)}`),
    },
  );
}
