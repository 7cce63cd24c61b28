import { commonJump, type Draft, type DraftField, type DraftServer, faultOfField } from "../config/draft.ts";
import { destinationOf, type Route } from "../ssh/local.ts";
import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";

/** A server as `--server NAME=USER@HOST` names it. */
export interface InitServer {
  readonly name: string;
  readonly address: string;
  /** `undefined`: whom ssh's own configuration names. */
  readonly user: string | undefined;
  readonly dataReady: boolean;
}

/** @throws {UserError} for a value that is none, or a name that comes twice or is unknown */
export function readServerFlags(
  texts: Texts,
  values: readonly string[],
  ready: readonly string[],
): InitServer[] {
  const servers = values.map((value): InitServer => {
    const [, name, user, address] = /^([^=]+)=(?:([^@]*)@)?([^@]+)$/.exec(value) ?? [];
    if (name === undefined || address === undefined) {
      throw usage(
        message("init.server_flag", { value: sanitizeLine(value) }),
        message("init.server_flag.hint"),
      );
    }
    requireField(texts, "--server", "name", name);
    requireField(texts, "--server", "address", address);
    if (user !== undefined) requireField(texts, "--server", "user", user);
    return { name, address, user, dataReady: ready.includes(name) };
  });
  const names = servers.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) throw usage(message("init.twice", { name: twice }), message("init.refused.hint"));
  const unknown = ready.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    throw usage(message("init.unknown_ready", { name: sanitizeLine(unknown) }), message("init.refused.hint"));
  }
  return servers;
}

/** Completes what the flags leave open by what ssh itself makes of each host. @throws {UserError} */
export async function draftOfFlags(
  texts: Texts,
  plan: Omit<Draft, "servers" | "jump"> & { servers: readonly InitServer[]; jump: string | undefined },
  findRoute: (host: string) => Promise<Route | undefined>,
): Promise<Draft> {
  requireField(texts, "--remote-dir", "remote_dir", plan.remoteDir);
  requireField(texts, "--data-dir", "data_dir", plan.dataDir);
  requireField(texts, "--uv", "uv", plan.uv);
  if (plan.jump !== undefined && plan.jump !== "") requireField(texts, "--jump", "jump_host", plan.jump);
  const jumps = new Set<string | null>();
  const servers = await Promise.all(plan.servers.map(async (server): Promise<DraftServer> => {
    const { name, address, dataReady } = server;
    const route = await findRoute(server.user === undefined ? address : `${server.user}@${address}`);
    jumps.add(route?.jump ?? null);
    const user = server.user ?? route?.user;
    if (user === undefined) {
      throw usage(
        message("init.no_user", { host: address }),
        message("init.no_user.hint", { name, host: address }),
      );
    }
    return { name, address, user, dataReady, goesTo: destinationOf(address, route) };
  }));
  const { sshConfig, remoteDir, dataDir, uv } = plan;
  const jump = plan.jump === undefined ? commonJump(jumps) : plan.jump === "" ? null : plan.jump;
  return { jump, sshConfig, servers, remoteDir, dataDir, uv };
}

function requireField(texts: Texts, flag: string, field: DraftField, value: string): void {
  const fault = faultOfField(field, value);
  if (fault === undefined) return;
  throw usage(
    message("init.refused", { flag, value: sanitizeLine(value), allowed: texts.sentence(fault) }),
    message("init.refused.hint"),
  );
}

function usage(text: Message, hint: Message): UserError {
  return new UserError(text, { exit: ExitCode.Usage, hint });
}
