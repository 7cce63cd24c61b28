/** Answers of the fake Hub, and what can go wrong with them. */

/** What goes wrong at the requests that match, `times` times (default: always). */
export interface HubFault {
  readonly method?: string;
  readonly path: RegExp;
  readonly times?: number;
  /** An answer instead of the real one. */
  readonly answer?: {
    readonly status: number;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
  };
  /** The request takes effect, but its answer never comes whole. */
  readonly loseAnswer?: boolean;
  /** Only so many bytes of the body come, then the connection breaks. */
  readonly cutAfter?: number;
  /** After so many bytes the body comes to a standstill. */
  readonly stallAfter?: number;
  /** Bytes of the body are altered. */
  readonly corrupt?: boolean;
  /** `Range` is ignored: 200 with everything. */
  readonly ignoreRange?: boolean;
  /** Runs before the request is served: somebody else does something at this moment. */
  readonly meanwhile?: () => void;
}

/** The answer as the fault lets it come. A body that stands still does so until `over` aborts. */
export async function spoil(response: Response, fault: HubFault, over: AbortSignal): Promise<Response> {
  const cut = fault.loseAnswer === true ? 0 : fault.cutAfter ?? fault.stallAfter;
  if (cut === undefined && fault.corrupt !== true) return response;
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (fault.corrupt === true) bytes.fill(63, 0, Math.min(3, bytes.length));
  const { status, headers } = response;
  if (cut === undefined) return new Response(bytes, { status, headers });
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, cut));
      await new Promise((resolve) => {
        if (fault.stallAfter !== undefined) over.addEventListener("abort", resolve, { once: true });
        // Let the client have what was promised before the connection breaks.
        else setTimeout(resolve, 20);
      });
      // Fewer bytes than announced: the server breaks the connection.
      controller.close();
    },
  });
  headers.set("content-length", String(bytes.length));
  return new Response(body, { status, headers });
}

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", ...headers },
  });
}

export function slice(bytes: Uint8Array, headers: Headers, extra: Record<string, string>): Response {
  const [, from, to = ""] = /^bytes=(\d+)-(\d*)$/.exec(headers.get("range") ?? "") ?? [];
  const shared = { "accept-ranges": "bytes", "content-type": "application/octet-stream", ...extra };
  if (from === undefined) return new Response(bytes.slice(), { status: 200, headers: shared });
  if (Number(from) >= bytes.length) {
    return new Response(null, {
      status: 416,
      headers: { ...shared, "content-range": `bytes */${bytes.length}` },
    });
  }
  const end = to === "" ? bytes.length : Math.min(Number(to) + 1, bytes.length);
  return new Response(bytes.slice(Number(from), end), {
    status: 206,
    headers: { ...shared, "content-range": `bytes ${from}-${end - 1}/${bytes.length}` },
  });
}
