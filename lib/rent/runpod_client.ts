import type { Context } from "../system/context.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import {
  type GpuOffer,
  listSchema,
  type Pod,
  problemSchema,
  readOffers,
  readPod,
  toPod,
} from "./runpod_schema.ts";

/** Why a request did not do what it should. */
export type ApiFault =
  /** The service said no; nothing was done. `status` 410 is the retired API. */
  | { readonly kind: "refused"; readonly status: number; readonly detail: string; readonly capacity: boolean }
  /** A 403 that does not speak JSON: the edge in front of the service, not the key. */
  | { readonly kind: "edge"; readonly detail: string }
  /** Too many requests; nothing was done. */
  | { readonly kind: "limited"; readonly waitSec: number }
  /** Whether anything was done cannot be told. */
  | {
    readonly kind: "unclear";
    readonly reason: "timeout" | "network" | "server" | "answer" | "interrupted";
    readonly detail: string;
  };

export type ApiResult<T> = { readonly ok: true; readonly value: T } | {
  readonly ok: false;
  readonly fault: ApiFault;
};

export interface PodList {
  readonly pods: readonly Pod[];
  /** The service's clock, when it tells. */
  readonly serverTime: Date | null;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly date: string | null;
}

/** Without one, the edge refuses some clients (`error code: 1010`). */
const userAgent = "tias-remote/0.1 (+https://docs.runpod.io/api-reference-v2)";
/** v2 has no code of its own for it, only these words. */
const capacityText =
  /no longer any instances available|no instances currently available|does not have the resources|no available datacenter|could not find any pods with required/i;
const readAttempts = 3;

/** Runpod's REST v2, as far as a rented training needs it. No method throws for what the network or the service does. */
export class RunpodClient {
  readonly #deps: Pick<Context, "fetch" | "clock">;
  readonly #base: string;
  readonly #key: string;

  constructor(
    deps: Pick<Context, "fetch" | "clock">,
    access: { readonly base: string; readonly key: string },
  ) {
    this.#deps = deps;
    this.#base = access.base;
    this.#key = access.key;
  }

  /** One request, never repeated: after "unclear" a Pod may exist, and only a list can tell. */
  async createPod(body: Readonly<Record<string, unknown>>): Promise<ApiResult<Pod>> {
    return read(await this.#send("POST", "/pods", { body, seconds: 90 }), (answer) => readPod(answer.body));
  }

  /** All Pods of the account, whatever they are for. */
  async listPods(signal?: AbortSignal): Promise<ApiResult<PodList>> {
    const pods: Pod[] = [];
    const seen = new Set<string>();
    let cursor: string | undefined;
    for (;;) {
      const query = cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const page = read(await this.#ask(`/pods?limit=1000${query}`, signal), (answer) => ({
        ...listSchema.parse(answer.body),
        date: answer.date,
      }));
      if (!page.ok) return page;
      const fresh = page.value.pods.filter(({ id }) => !seen.has(id));
      for (const pod of fresh) {
        seen.add(pod.id);
        pods.push(toPod(pod));
      }
      const next = page.value.pagination?.hasNextPage ? page.value.pagination.nextCursor : undefined;
      if (next === undefined || next === null) {
        const time = new Date(page.value.date ?? NaN);
        return { ok: true, value: { pods, serverTime: Number.isNaN(time.getTime()) ? null : time } };
      }
      // A page that brings nothing new would be asked for again and again, and half a list proves no absence.
      if (fresh.length === 0) return unclear("answer", "the list of Pods does not end");
      cursor = next;
    }
  }

  /** Price and stock of every type of GPU that a Pod of this cloud can have. */
  async listGpus(cloud: "SECURE" | "COMMUNITY"): Promise<ApiResult<GpuOffer[]>> {
    const query = `include=AVAILABILITY&product=POD&count=1&cloud=${cloud}`;
    return read(await this.#ask(`/catalog/gpus?${query}`), ({ body }) => readOffers(body, cloud));
  }

  /** The Pod, or `null` when there is none of that id. */
  async getPod(id: string, signal?: AbortSignal): Promise<ApiResult<Pod | null>> {
    return absentAs(null, read(await this.#ask(`/pods/${id}`, signal), (answer) => readPod(answer.body)));
  }

  /** One DELETE; that it is really gone, only reading back tells. */
  async deletePod(id: string): Promise<ApiResult<"deleted" | "absent">> {
    return absentAs(
      "absent",
      read(await this.#send("DELETE", `/pods/${id}`, { seconds: 60 }), () => "deleted"),
    );
  }

  /** A read may be repeated. */
  async #ask(path: string, signal?: AbortSignal): Promise<ApiResult<Answer>> {
    for (let attempt = 1;; attempt++) {
      const result = await this.#send("GET", path, {
        seconds: 30,
        ...(signal === undefined ? {} : { signal }),
      });
      if (result.ok || attempt === readAttempts || signal?.aborted) return result;
      if (result.fault.kind !== "limited" && result.fault.kind !== "unclear") return result;
      const wait = result.fault.kind === "limited" ? Math.min(result.fault.waitSec, 60) : 2 ** attempt;
      await this.#deps.clock.sleep(wait * 1000, signal);
    }
  }

  async #send(
    method: "GET" | "POST" | "DELETE",
    path: string,
    options: { body?: unknown; seconds: number; signal?: AbortSignal },
  ): Promise<ApiResult<Answer>> {
    const over = new AbortController();
    const late = new AbortController();
    this.#deps.clock.sleep(options.seconds * 1000, over.signal).then(() =>
      over.signal.aborted || late.abort()
    );
    const signal = options.signal === undefined
      ? late.signal
      : AbortSignal.any([late.signal, options.signal]);
    try {
      const response = await this.#deps.fetch(`${this.#base}${path}`, {
        method,
        // A redirect would carry the key to wherever it points.
        redirect: "error",
        headers: {
          authorization: `Bearer ${this.#key}`,
          accept: "application/json",
          "user-agent": userAgent,
          ...(options.body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(options.body === undefined ? {} : { body: JSON.stringify(options.body) }),
        signal,
      });
      return this.#judge(response, await response.text());
    } catch (error) {
      if (options.signal?.aborted) return unclear("interrupted", "");
      if (late.signal.aborted) return unclear("timeout", `${options.seconds} s`);
      if (error instanceof Deno.errors.NotCapable) throw error;
      return unclear("network", this.#safe(innermost(error)));
    } finally {
      over.abort();
    }
  }

  #judge(response: Response, text: string): ApiResult<Answer> {
    const { status } = response;
    const body = parseJson(text);
    const problem = problemSchema.safeParse(body);
    const said = problem.success
      ? problem.data.detail ?? problem.data.error ?? problem.data.message ?? problem.data.title ?? ""
      : text.slice(0, 200);
    const detail = this.#safe([said, ...(problem.success ? problem.data.errors ?? [] : [])].join(" · "));
    if (status >= 200 && status < 300) {
      return { ok: true, value: { status, body, date: response.headers.get("date") } };
    }
    if (status === 429) {
      return { ok: false, fault: { kind: "limited", waitSec: retryAfter(response, this.#deps.clock.now()) } };
    }
    if (status === 403 && body === undefined) return { ok: false, fault: { kind: "edge", detail } };
    if (status >= 400 && status < 500 && status !== 408) {
      const capacity = status === 400 && capacityText.test(said);
      return { ok: false, fault: { kind: "refused", status, detail, capacity } };
    }
    return unclear("server", `${status} ${detail}`.trim());
  }

  /** One line to show, in which the key never stands, even if the service should repeat it. */
  #safe(text: string): string {
    return sanitizeLine(text.replaceAll(this.#key, "***")).slice(0, 500);
  }
}

function read<T>(result: ApiResult<Answer>, take: (answer: Answer) => T): ApiResult<T> {
  if (!result.ok) return result;
  try {
    return { ok: true, value: take(result.value) };
  } catch {
    // A success without an id once came for a Pod that was not created, and once for one that was.
    return unclear("answer", `${result.value.status}`);
  }
}

function absentAs<T, Absent>(absent: Absent, result: ApiResult<T>): ApiResult<T | Absent> {
  const gone = !result.ok && result.fault.kind === "refused" && result.fault.status === 404;
  return gone ? { ok: true, value: absent } : result;
}

function unclear(reason: (ApiFault & { kind: "unclear" })["reason"], detail: string) {
  return { ok: false, fault: { kind: "unclear", reason, detail } } as const;
}

/** Seconds; the header holds seconds or a date. */
function retryAfter(response: Response, now: Date): number {
  const header = response.headers.get("retry-after") ?? "";
  if (/^\d{1,6}$/.test(header)) return Number(header);
  const until = new Date(header).getTime();
  return Number.isNaN(until) ? 10 : Math.max(1, Math.ceil((until - now.getTime()) / 1000));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function innermost(error: unknown): string {
  for (let inner = error;;) {
    const cause: unknown = inner instanceof Error ? inner.cause : undefined;
    if (cause === undefined) return inner instanceof Error ? inner.message : String(inner);
    inner = cause;
  }
}
