import assert from "node:assert/strict";
import { RunpodClient } from "../../lib/rent/runpod_client.ts";
import { balanceText, capacityText, problem } from "../lab/runpod_contract.ts";
import { VirtualClock } from "./virtual_clock.ts";

const key = "rpa_SECRET0123456789";
const pod = { id: "abc123", name: "tias-train-x-00000000", status: "RUNNING" };

interface Sent {
  readonly url: string;
  readonly init: RequestInit;
}

/** A client whose requests meet these answers, one after another; the last one stays. */
function client(...answers: (() => Response | Promise<Response>)[]) {
  const sent: Sent[] = [];
  const clock = new VirtualClock(new Date("2026-11-30T22:00:00Z"));
  const fetch = (input: string | URL | Request, init: RequestInit = {}) => {
    sent.push({ url: String(input), init });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return Promise.resolve(answer?.() ?? new Response());
  };
  return { sent, clock, api: new RunpodClient({ clock, fetch }, { base: "https://api.test/v2", key }) };
}

const json = (value: unknown, status = 200) => () => Response.json(value, { status });

Deno.test("createPod() sends one request with key, agent and without following redirects", async () => {
  const { api, sent } = client(json(pod, 201));
  const result = await api.createPod({ name: pod.name });
  assert.equal(result.ok && result.value.id, "abc123");
  assert.equal(sent.length, 1);
  const headers = new Headers(sent[0]?.init.headers);
  assert.equal(sent[0]?.url, "https://api.test/v2/pods");
  assert.equal(headers.get("authorization"), `Bearer ${key}`);
  assert.match(headers.get("user-agent") ?? "", /^tias-remote\//);
  assert.equal(sent[0]?.init.redirect, "error");
});

const unclear: readonly (readonly [string, () => Response | Promise<Response>, string])[] = [
  ["a 500", () => new Response("oops", { status: 500 }), "server"],
  ["a 502 in HTML", () => new Response("<html>bad gateway</html>", { status: 502 }), "server"],
  [
    "a 500 that speaks of capacity",
    json({ error: "create pod: There are no instances currently available" }, 500),
    "server",
  ],
  ["a success without an id", json({ error: "no instances", status: 500 }), "answer"],
  ["a success that is no JSON", () => new Response("ok"), "answer"],
  ["a broken connection", () => Promise.reject(new TypeError("connection reset")), "network"],
  ["no answer at all", () => new Promise<Response>(() => {}), "timeout"],
];
for (const [what, answer, reason] of unclear) {
  Deno.test(`createPod() cannot tell after ${what}, and does not try again`, async () => {
    const never = what === "no answer at all";
    const { sent, clock } = client(answer);
    const fetch: typeof globalThis.fetch = (input, init) => {
      sent.push({ url: String(input), init: init ?? {} });
      if (!never) return Promise.resolve(answer());
      return new Promise((_, reject) =>
        init?.signal?.addEventListener("abort", () => reject(new Error("aborted")))
      );
    };
    const api = new RunpodClient({ clock, fetch }, { base: "https://api.test/v2", key });
    const result = await api.createPod({});
    assert.ok(!result.ok && result.fault.kind === "unclear");
    assert.equal(result.fault.reason, reason);
    assert.equal(sent.length, 1);
  });
}

const refusals: readonly (readonly [string, () => Response, number, boolean])[] = [
  ["no capacity", () => problem(400, "Bad Request", capacityText), 400, true],
  ["another 400", () => problem(400, "Bad Request", "Unknown GPU type: NVIDIA A41"), 400, false],
  ["an empty balance", () => problem(402, "Payment Required", balanceText), 402, false],
  ["no right", () => problem(403, "Forbidden", "access denied"), 403, false],
  ["the retired API", json({ error: "Gone", status: 410 }, 410), 410, false],
  [
    "a violation",
    () => problem(422, "Unprocessable Entity", "no", ["$: additional properties 'x' not allowed"]),
    422,
    false,
  ],
];
for (const [what, answer, status, capacity] of refusals) {
  Deno.test(`createPod() knows that nothing was made after ${what}`, async () => {
    const result = await client(answer).api.createPod({});
    assert.ok(!result.ok && result.fault.kind === "refused");
    assert.equal(result.fault.status, status);
    assert.equal(result.fault.capacity, capacity);
    if (status === 422) assert.match(result.fault.detail, /additional properties 'x'/);
  });
}

Deno.test("createPod() tells a 403 of the edge from one of the key", async () => {
  const result = await client(() => new Response("error code: 1010", { status: 403 })).api.createPod({});
  assert.ok(!result.ok && result.fault.kind === "edge");
});

Deno.test("no fault shows the key, even when the service repeats it", async () => {
  for (const status of [400, 403, 500]) {
    for (const body of [JSON.stringify({ detail: `bad key ${key}` }), `bad key ${key}`]) {
      const result = await client(() => new Response(body, { status })).api.createPod({});
      assert.ok(!JSON.stringify(result).includes(key));
    }
  }
  const broken = await client(() => Promise.reject(new TypeError(`cannot send ${key}`))).api.createPod({});
  assert.ok(!JSON.stringify(broken).includes(key));
});

Deno.test("listPods() tries again after a 429, as long as Retry-After says, and after a 500", async () => {
  const { api, clock, sent } = client(
    () => new Response("{}", { status: 429, headers: { "retry-after": "17" } }),
    () => new Response("", { status: 500 }),
    json({ pods: [pod] }),
  );
  const start = clock.now().getTime();
  const list = await api.listPods();
  assert.equal(list.ok && list.value.pods.length, 1);
  assert.equal(sent.length, 3);
  assert.equal((clock.now().getTime() - start) / 1000, 17 + 4);
});

Deno.test("listPods() understands Retry-After as a date", async () => {
  const { api, clock } = client(
    () => new Response("{}", { status: 429, headers: { "retry-after": "Mon, 30 Nov 2026 22:00:30 GMT" } }),
    json({ pods: [] }),
  );
  const start = clock.now().getTime();
  assert.ok((await api.listPods()).ok);
  assert.equal((clock.now().getTime() - start) / 1000, 30);
});

Deno.test("listPods() reads all pages, and takes a list that does not end for none", async () => {
  const page = (id: string, next: string | null) =>
    json({ pods: [{ ...pod, id }], pagination: { nextCursor: next, hasNextPage: next !== null } });
  const whole = await client(page("a", "1"), page("b", null)).api.listPods();
  assert.deepEqual(whole.ok && whole.value.pods.map(({ id }) => id), ["a", "b"]);
  const endless = await client(page("a", "1")).api.listPods();
  assert.ok(!endless.ok && endless.fault.kind === "unclear");
});

Deno.test("listPods() takes a list with a Pod that makes no sense for none", async () => {
  const list = await client(json({ pods: [pod, { name: "x" }] })).api.listPods();
  assert.ok(!list.ok && list.fault.kind === "unclear");
});

Deno.test("getPod() finds ssh by its direct address, by its mapped port, or not at all", async () => {
  const of = async (value: unknown) => {
    const result = await client(json({ ...pod, ...value as object })).api.getPod("abc123");
    return result.ok ? result.value?.ssh : "failed";
  };
  const http = { ip: "100.65.0.1", private: 22, public: 60022, type: "http" };
  const tcp = { ip: "203.0.113.7", private: 22, public: 10341, type: "tcp" };
  assert.deepEqual(await of({ ssh: { direct: { host: "203.0.113.7", port: 10341 } } }), {
    host: "203.0.113.7",
    port: 10341,
  });
  assert.deepEqual(await of({ ssh: { direct: null }, runtime: { ports: [http, tcp] } }), {
    host: "203.0.113.7",
    port: 10341,
  });
  assert.equal(await of({ ssh: { direct: null }, runtime: null }), null);
  assert.equal(await of({ ssh: null, cost: "0.74", env: [1] }), null);
  // A host that would become another line of an ssh configuration.
  assert.equal(await of({ ssh: { direct: { host: "x\n ProxyCommand evil", port: 22 } } }), null);
});

Deno.test("getPod() and deletePod() know an absent Pod", async () => {
  const absent = () => problem(404, "Not Found", "pod not found");
  assert.deepEqual(await client(absent).api.getPod("abc123"), { ok: true, value: null });
  assert.deepEqual(await client(absent).api.deletePod("abc123"), { ok: true, value: "absent" });
  const deleted = await client(() => new Response(null, { status: 204 })).api.deletePod("abc123");
  assert.deepEqual(deleted, { ok: true, value: "deleted" });
});

Deno.test("listGpus() asks for one cloud's stock and takes that cloud's price, whatever else is missing", async () => {
  const gpus = [
    { id: "NVIDIA A40", price: { secure: 0.44, community: 0.31 }, availability: "LOW" },
    { id: "NVIDIA L40S", price: { secure: 0 }, availability: "PLENTY" },
    { id: "NVIDIA B200" },
  ];
  const { api, sent } = client(json({ gpus }));
  const rest = [
    { id: "NVIDIA L40S", hourlyUsd: null, stock: null },
    { id: "NVIDIA B200", hourlyUsd: null, stock: null },
  ];
  for (const [cloud, hourlyUsd] of [["SECURE", 0.44], ["COMMUNITY", 0.31]] as const) {
    const result = await api.listGpus(cloud);
    assert.deepEqual(result.ok && result.value, [{ id: "NVIDIA A40", hourlyUsd, stock: "LOW" }, ...rest]);
    assert.match(
      sent.at(-1)?.url ?? "",
      new RegExp(`/catalog/gpus\\?include=AVAILABILITY&product=POD&count=1&cloud=${cloud}$`),
    );
  }
});

Deno.test("listGpus() cannot tell when the answer is no catalog", async () => {
  const { api } = client(json({ types: [] }));
  const result = await api.listGpus("SECURE");
  assert.ok(!result.ok && result.fault.kind === "unclear");
});
