import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import { findRun, serversWith } from "../transfer/find_run.ts";
import { warn } from "./report.ts";
import { failureText } from "./survey_view.ts";

/**
 * The one server that has the run. All are asked at once; those that could not be asked are warned of.
 *
 * @throws {UserError} when none has it, several have it, or none could be asked
 */
export async function chooseRunServer(
  world: Context,
  texts: Texts,
  config: RemoteConfig,
  run: string,
): Promise<ServerConfig> {
  await world.err.write(`${texts.say("pull.searching", { count: config.servers.length })}\n`);
  const sightings = await findRun(world, config, run);
  world.interrupted.throwIfAborted();
  const unasked = sightings.flatMap((sighting) => sighting.reachable ? [] : [sighting]);
  const kind = unasked[0]?.failure.kind;
  if (unasked.length === sightings.length && kind !== undefined) {
    throw new UserError(message("survey.all_unreachable"), {
      details: unasked.map(({ server, failure }) => `${server.name}: ${failureText(texts, failure)}`),
      hint: message(`ssh.hint.${kind}`),
    });
  }
  for (const { server, failure } of unasked) {
    const reason = failureText(texts, failure);
    await warn(world, texts, texts.say("pull.unsearched", { server: server.name, reason }));
  }
  const [server, ...others] = serversWith(sightings);
  if (server === undefined) {
    throw new UserError(message("pull.not_found", { run }), { hint: message("pull.not_found.hint") });
  }
  if (others.length > 0) {
    const servers = [server, ...others].map(({ name }) => name).join(", ");
    throw new UserError(message("pull.several", { run, servers }), {
      exit: ExitCode.Usage,
      hint: message("pull.several.hint"),
    });
  }
  return server;
}
