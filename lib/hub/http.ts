import type { Clock } from "../system/context.ts";
import type { HubAccess } from "./types.ts";

export interface HubWorld {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
}

export interface HubPatience {
  /** Tries of one request in all. */
  readonly tries: number;
  /** Seconds until the head of an answer must have come. */
  readonly headSeconds: number;
}

export const hubPatience: HubPatience = { tries: 5, headSeconds: 60 };

/** Longest pause between two tries, in seconds, whatever the Hub asks for. */
const maxPause = 300;
const maxRedirects = 5;

/**
 * A `fetch` for reading from the Hub, ours and the library's. The token goes to the Hub's own origin alone, whatever a
 * redirect or a `Link` header says. Network faults, 429 and server errors are tried again, after the pause that the Hub
 * asks for or a growing one.
 */
export function hubFetch(
  world: HubWorld,
  access: Pick<HubAccess, "endpoint">,
  patience: HubPatience = hubPatience,
): typeof fetch {
  return async (input, init) => {
    const signal = init?.signal ?? undefined;
    for (let attempt = 1;; attempt++) {
      const last = attempt >= patience.tries;
      const pause = Math.min(60, 2 ** (attempt - 1));
      try {
        const response = await followed(
          world,
          access,
          new URL(String(input)),
          init ?? {},
          patience.headSeconds,
        );
        if (last || (response.status !== 429 && response.status < 500)) return response;
        await response.body?.cancel();
        await world.clock.sleep(1000 * Math.min(maxPause, askedPause(response.headers) ?? pause), signal);
      } catch (error) {
        if (last || signal?.aborted || error instanceof Deno.errors.NotCapable) throw error;
        await world.clock.sleep(1000 * pause, signal);
      }
      signal?.throwIfAborted();
    }
  };
}

// Redirects are followed here, so that nothing depends on what the runtime forwards to another origin.
async function followed(
  world: HubWorld,
  access: Pick<HubAccess, "endpoint">,
  url: URL,
  init: RequestInit,
  headSeconds: number,
): Promise<Response> {
  const origin = new URL(access.endpoint).origin;
  for (let redirects = 0;; redirects++) {
    const headers = new Headers(init.headers);
    if (url.origin !== origin) headers.delete("authorization");
    const response = await timed(world, url, { ...init, headers, redirect: "manual" }, headSeconds);
    const location = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || location === null) return response;
    await response.body?.cancel();
    if (redirects === maxRedirects) throw new TypeError("Cannot follow the Hub: too many redirects");
    url = new URL(location, url);
  }
}

async function timed(world: HubWorld, url: URL, init: RequestInit, seconds: number): Promise<Response> {
  const late = new AbortController();
  const done = new AbortController();
  world.clock.sleep(seconds * 1000, done.signal).then(() => done.signal.aborted || late.abort());
  const signals = [late.signal, ...(init.signal ? [init.signal] : [])];
  try {
    return await world.fetch(url, { ...init, signal: AbortSignal.any(signals) });
  } finally {
    done.abort();
  }
}

/** Seconds that the Hub asks to wait: `Retry-After`, or the `t` of `RateLimit: "api";r=0;t=55`. */
export function askedPause(headers: Headers): number | undefined {
  const after = headers.get("retry-after")?.trim() ?? "";
  if (/^\d{1,6}$/.test(after)) return Number(after);
  const [, seconds] = /;\s*t=(\d{1,6})\b/.exec(headers.get("ratelimit") ?? "") ?? [];
  return seconds === undefined ? undefined : Number(seconds);
}
