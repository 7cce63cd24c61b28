/** Runpod without money: REST v2 and the little of GraphQL that a watchdog needs, with every misfortune on order. */

import {
  capacityText,
  type CreatePodRequest,
  type FakePodStatus,
  problem,
  violations,
} from "./runpod_contract.ts";

/** A Pod of the fake. */
export interface FakePod {
  readonly id: string;
  readonly request: CreatePodRequest;
  /** Runpod gives each Pod a key for itself. */
  readonly key: string;
  readonly cost: number;
  readonly createdAt: number;
  status: FakePodStatus;
  /** When its container was started last; `null` until then. */
  containerAt: number | null;
  /** Where its sshd is; `null` until the container runs. */
  direct: { host: string; port: number } | null;
  endedAt: number | null;
  /** Polls that still show it as TERMINATED. */
  shown: number;
  /** Lists that do not have it yet. */
  hidden: number;
}

/** What befalls one request. */
export type Misfortune =
  /** The connection breaks: before the request has any effect, or after it. */
  | { readonly kind: "drop"; readonly when: "before" | "after" }
  /** No answer ever comes. */
  | { readonly kind: "hang"; readonly when: "before" | "after" }
  /** Another answer than the true one. */
  | { readonly kind: "answer"; readonly when: "before" | "after"; readonly response: () => Response };

export interface ApiCall {
  readonly number: number;
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly userAgent: string | null;
  /** Whose key it was. */
  readonly by: "account" | "pod" | "nobody";
}

export interface FakeRunpodOptions {
  readonly accountKey: string;
  /** Milliseconds since 1970. */
  now(): number;
  /** Changes at will what a request meets. */
  misfortune?: (call: ApiCall) => Misfortune | undefined;
  /** A refusal of a create request that keeps the contract. */
  refuse?: (body: CreatePodRequest, count: number) => Response | undefined;
  /** False: an account that does not know `entrypoint` and `cmd` yet. */
  readonly execForm?: boolean;
  /** US dollars an hour. */
  readonly cost?: number;
  /** Lists that a new Pod is missing from. */
  readonly listLag?: number;
  /** Polls that show a deleted Pod as TERMINATED. */
  readonly terminatedPolls?: number;
  /** What the catalog offers on the secure cloud, at `cost` unless it says otherwise; the community's is cheaper. */
  readonly offers?: readonly { readonly id: string; readonly stock: string; readonly usd?: number }[];
  /** Pods a page; default 1000. */
  readonly pageSize?: number;
  /** The container of a Pod is to be started. */
  onStart?: (pod: FakePod) => void;
  /** The Pod is gone, and all in it. */
  onEnd?: (pod: FakePod) => void;
}

export class FakeRunpod {
  readonly pods: FakePod[] = [];
  readonly calls: ApiCall[] = [];
  readonly options: FakeRunpodOptions;
  /** The most Pods that there were at one time. */
  mostAlive = 0;

  constructor(options: FakeRunpodOptions) {
    this.options = options;
  }

  alive(): FakePod[] {
    return this.pods.filter(({ status }) => status !== "TERMINATED");
  }

  /** As a server would. */
  async handle(request: Request): Promise<Response> {
    const { response, misfortune } = this.meet(request, await request.text());
    if (misfortune === undefined || misfortune.kind === "answer") return response;
    if (misfortune.kind === "hang") return await new Promise(() => {});
    // The head of an answer, and then nothing: the nearest that a server can do to breaking the connection.
    const broken = new ReadableStream({ start: (controller) => controller.error(new Error("dropped")) });
    return new Response(broken, { status: 200 });
  }

  /** The request's effect, at once, and what is to come of it; `text` is its body. */
  meet(request: Request, text: string): { response: Response; misfortune: Misfortune | undefined } {
    const url = new URL(request.url);
    const bearer = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1];
    const owner = this.pods.find(({ key }) => key === bearer);
    const call: ApiCall = {
      number: this.calls.length,
      method: request.method,
      path: `${url.pathname}${url.search}`,
      body: text === "" ? undefined : JSON.parse(text),
      userAgent: request.headers.get("user-agent"),
      by: bearer === this.options.accountKey ? "account" : owner === undefined ? "nobody" : "pod",
    };
    this.calls.push(call);
    const misfortune = this.options.misfortune?.(call);
    if (misfortune?.when === "before") {
      const response = misfortune.kind === "answer" ? misfortune.response() : new Response();
      return { response, misfortune };
    }
    const answer = this.#answer(call, url, owner);
    const response = misfortune?.kind === "answer" ? misfortune.response() : answer;
    return { response: dated(response, this.options.now()), misfortune };
  }

  #answer(call: ApiCall, url: URL, owner: FakePod | undefined): Response {
    if (url.pathname.startsWith("/v1")) {
      // The body is a guess; that v1 answers 410 is known.
      return Response.json({ error: "Gone", status: 410 }, { status: 410 });
    }
    if (call.userAgent === null || /^python-urllib/i.test(call.userAgent)) {
      return new Response("error code: 1010", { status: 403 });
    }
    if (call.by === "nobody") return problem(401, "Unauthorized", "missing bearer token");
    if (url.pathname === "/graphql") return this.#graphql(call, owner);
    const [, id, action] = /^\/v2\/pods(?:\/([^/]+))?(\/action)?$/.exec(url.pathname) ?? [];
    if (url.pathname === "/v2/catalog/gpus" && owner === undefined) return this.#catalog(url);
    if (!url.pathname.startsWith("/v2/pods")) return problem(404, "Not Found", "no such path");
    if (owner !== undefined && owner.id !== id) return problem(403, "Forbidden", "access denied");
    if (id === undefined) return call.method === "POST" ? this.#create(call.body) : this.#list(url);
    const pod = this.pods.find((each) => each.id === id);
    if (pod === undefined || (pod.status === "TERMINATED" && pod.shown <= 0)) {
      return problem(404, "Not Found", "pod not found");
    }
    if (action !== undefined) return this.#act(pod, call.body);
    if (call.method === "DELETE") {
      if (pod.status === "TERMINATED") return problem(404, "Not Found", "pod not found");
      this.end(pod);
      return new Response(null, { status: 204 });
    }
    if (pod.status === "TERMINATED") pod.shown--;
    return Response.json(this.#show(pod));
  }

  #create(body: unknown): Response {
    const errors = violations(body, { execForm: this.options.execForm ?? true });
    if (errors.length > 0) return problem(422, "Unprocessable Entity", "Request validation failed.", errors);
    const request = body as CreatePodRequest;
    const count = this.calls.filter(({ method, path }) => method === "POST" && path === "/v2/pods").length;
    const refusal = this.options.refuse?.(request, count);
    if (refusal !== undefined) return refusal;
    const number = this.pods.length + 1;
    const pod: FakePod = {
      id: `pod${number}${"abcdefghij"[number % 10]}`,
      request,
      key: `rpa_POD${String(number).padStart(4, "0")}${"K".repeat(24)}`,
      cost: this.options.cost ?? 0.44,
      createdAt: this.options.now(),
      status: "PROVISIONING",
      containerAt: null,
      direct: null,
      endedAt: null,
      shown: this.options.terminatedPolls ?? 0,
      hidden: this.options.listLag ?? 0,
    };
    this.pods.push(pod);
    this.mostAlive = Math.max(this.mostAlive, this.alive().length);
    const shown = this.#show(pod);
    this.options.onStart?.(pod);
    return Response.json(shown, { status: 201 });
  }

  #list(url: URL): Response {
    const listed = this.pods.filter((pod) => {
      if (pod.hidden > 0) {
        pod.hidden--;
        return false;
      }
      return pod.status !== "TERMINATED" || pod.shown > 0;
    });
    const size = this.options.pageSize ?? 1000;
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const next = from + size < listed.length ? String(from + size) : null;
    return Response.json({
      pods: listed.slice(from, from + size).map((pod) => this.#show(pod)),
      pagination: { nextCursor: next, hasNextPage: next !== null },
    });
  }

  #catalog({ searchParams }: URL): Response {
    const [include, product] = ["include", "product"].map((name) => searchParams.get(name));
    if ((include === null) !== (product === null)) {
      return problem(400, "Bad Request", "include and product need each other");
    }
    const { cost = 0.44, offers = ["NVIDIA A40", "NVIDIA L40S"].map((id) => ({ id, stock: "HIGH" })) } =
      this.options;
    return Response.json({
      gpus: offers.map(({ id, stock, usd = cost }: { id: string; stock: string; usd?: number }) => ({
        id,
        name: id.replace("NVIDIA ", ""),
        pool: null,
        manufacturer: "NVIDIA",
        memory: 48,
        secure: true,
        community: true,
        price: { secure: usd, community: usd / 2 },
        maxCount: { secure: 8, community: 4 },
        ...(include === "AVAILABILITY" ? { availability: stock, dataCenters: [] } : {}),
      })),
    });
  }

  #act(pod: FakePod, body: unknown): Response {
    const action = (body as { action?: string } | undefined)?.action;
    if (action === "terminate") {
      this.end(pod);
      return new Response(null, { status: 204 });
    }
    if (action === "stop") {
      pod.status = "EXITED";
      this.options.onEnd?.(pod);
      return Response.json(this.#show(pod));
    }
    return problem(422, "Unprocessable Entity", "bad action");
  }

  #graphql({ body }: ApiCall, owner: FakePod | undefined): Response {
    const query = (body as { query?: string } | undefined)?.query ?? "";
    const id = /podTerminate\(input: ?\{ ?podId: ?"([^"]+)"/.exec(query)?.[1];
    const pod = this.alive().find((each) => each.id === id);
    if (pod === undefined || (owner !== undefined && owner !== pod)) {
      return Response.json({ errors: [{ message: "pod not found to terminate" }] });
    }
    this.end(pod);
    return Response.json({ data: { podTerminate: null } });
  }

  /** The Pod and everything in it are gone. */
  end(pod: FakePod): void {
    if (pod.status === "TERMINATED") return;
    pod.status = "TERMINATED";
    pod.endedAt = this.options.now();
    pod.direct = null;
    this.options.onEnd?.(pod);
  }

  #show(pod: FakePod): Record<string, unknown> {
    const { request } = pod;
    return {
      id: pod.id,
      name: request.name,
      status: pod.status,
      actions: ["terminate"],
      image: request.image,
      args: request.args ?? "",
      disk: request.disk ?? 20,
      mounts: request.mounts ?? {},
      ports: request.ports ?? [],
      env: request.env ?? {},
      registry: null,
      gpu: { id: request.gpu?.id, count: request.gpu?.count ?? 1, vcpuCount: 8, memory: 50 },
      cloud: request.cloud ?? "SECURE",
      dataCenterId: null,
      cudaVersion: null,
      ssh: {
        proxy: null,
        direct: pod.direct === null ? null : { ...pod.direct, username: "root", command: "" },
      },
      template: null,
      cost: ["EXITED", "TERMINATED"].includes(pod.status) ? 0 : pod.cost,
      locked: false,
      globalNetworking: { enabled: false },
      // The service says RUNNING for a while before it has anything to tell of the container.
      runtime: pod.containerAt === null
        ? null
        : { uptime: Math.floor((this.options.now() - pod.containerAt) / 1000), ports: [] },
      createdAt: new Date(pod.createdAt).toISOString(),
      startedAt: null,
    };
  }
}

function dated(response: Response, now: number): Response {
  const headers = new Headers(response.headers);
  headers.set("date", new Date(now).toUTCString());
  headers.set("ratelimit-policy", '"minute";q=180;w=60');
  return new Response(response.body, { status: response.status, headers });
}

/** The refusal for want of GPUs. */
export function noCapacity(): Response {
  return problem(400, "Bad Request", capacityText);
}
