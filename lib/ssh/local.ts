import type { SshSettings } from "./arguments.ts";
import { type SshDeps, startSsh } from "./connection.ts";

/** What this machine's ssh answers without connecting anywhere. */
export interface LocalAnswer {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Where ssh would go, by its own configuration. */
export interface Route {
  readonly host: string;
  readonly user: string;
  readonly port: number;
  /** The jump host that ssh's configuration itself names. */
  readonly jump: string | null;
}

type Deps = Pick<SshDeps, "env" | "os" | "start" | "clock">;

/** Seconds for a question that ssh answers from its files; `Match exec` in them may run a program. */
const limitSeconds = 10;

/** @throws {UserError} when there is no ssh program, or the sandbox does not allow it */
export async function askSsh(deps: Deps, args: readonly string[]): Promise<LocalAnswer> {
  const process = startSsh(deps, [...args]);
  const over = new AbortController();
  deps.clock.sleep(limitSeconds * 1000, over.signal).then(() => over.signal.aborted || process.kill());
  const [out, err, { code }] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.status,
    process.stdin.close().catch(() => {}),
  ]);
  over.abort();
  return { code, out, err };
}

/** The answer of `ssh -G`: what ssh's own configuration makes of a host. `undefined` when ssh could not tell. */
export async function findRoute(
  deps: Deps,
  settings: Pick<SshSettings, "ssh_config">,
  host: string,
): Promise<Route | undefined> {
  const config = settings.ssh_config === undefined ? [] : ["-F", settings.ssh_config];
  const { code, out } = await askSsh(deps, [...config, "-G", host]);
  return code === 0 ? readRoute(out) : undefined;
}

/** Reads the `key value` lines of `ssh -G`. */
export function readRoute(text: string): Route | undefined {
  const value = (key: string) => new RegExp(`^${key} (.+?)\\r?$`, "m").exec(text)?.[1];
  const host = value("hostname");
  const user = value("user");
  const port = Number(value("port"));
  if (host === undefined || user === undefined || !Number.isInteger(port)) return undefined;
  const jump = value("proxyjump");
  return { host, user, port, jump: jump === undefined || jump === "none" ? null : jump };
}

/** `host:port`, and the jump host if ssh itself takes one. */
export function describeRoute({ host, port, jump }: Route): string {
  return `${host}:${port}${jump === null ? "" : ` (ProxyJump ${jump})`}`;
}

/** The same, where it says more than the address that was typed. */
export function destinationOf(address: string, route: Route | undefined): string | null {
  if (route === undefined) return null;
  return route.host === address && route.port === 22 && route.jump === null ? null : describeRoute(route);
}
