import type { RemoteConfig, ServerConfig } from "../config/remote.ts";
import type { RemoteScript, SshDeps } from "../ssh/connection.ts";
import type { ConnectionFailure } from "../ssh/failure.ts";
import { type JobEvent, JobStream } from "./stream.ts";

/** A server that knows the job, with its connection still open behind the answer. */
export interface LocatedJob {
  readonly server: ServerConfig;
  readonly stream: JobStream;
  readonly events: AsyncGenerator<JobEvent>;
  /** The section `job`: `found`, `state` and the rest of the job's state. */
  readonly fields: Readonly<Record<string, string>>;
}

export interface Location {
  readonly found: readonly LocatedJob[];
  readonly unreachable: readonly { readonly server: ServerConfig; readonly failure: ConnectionFailure }[];
}

/**
 * Asks all servers at once for a job, one connection each, and keeps those open whose answer `matches`. The script
 * must print a section `job` first.
 */
export async function locateJob(
  deps: SshDeps,
  config: RemoteConfig,
  servers: readonly ServerConfig[],
  script: (server: ServerConfig) => RemoteScript,
  matches: (fields: Readonly<Record<string, string>>) => boolean,
): Promise<Location> {
  const answers = await Promise.all(servers.map(async (server) => {
    const stream = new JobStream(deps, config, server, script(server));
    const events = stream.events();
    for (;;) {
      const { done, value } = await events.next();
      if (done) return { server, failure: await stream.failure() };
      if (value.kind !== "section" || value.name !== "job") continue;
      if (matches(value.fields)) return { server, stream, events, fields: value.fields };
      await stream.close();
      return { server };
    }
  }));
  return {
    found: answers.filter((answer): answer is LocatedJob => "stream" in answer),
    unreachable: answers.filter((answer): answer is { server: ServerConfig; failure: ConnectionFailure } =>
      "failure" in answer
    ),
  };
}
