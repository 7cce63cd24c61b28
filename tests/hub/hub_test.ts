import assert from "node:assert/strict";
import fc from "fast-check";
import { defaultEndpoint, hubAccess } from "../../lib/hub/access.ts";
import { compareWithHub, isSame } from "../../lib/hub/compare.ts";
import { askedPause, hubFetch } from "../../lib/hub/http.ts";
import { differenceMessage, receiveMessage, uploadMessage } from "../../lib/hub/messages.ts";
import { checkBeforeUpload } from "../../lib/hub/preflight.ts";
import { hubAccount, listAt, repositoryState } from "../../lib/hub/repository.ts";
import { freePrivateBytes } from "../../lib/hub/storage.ts";
import type { CheckpointFile } from "../../lib/hub/types.ts";
import { UserError } from "../../lib/system/errors.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { FakeHub, type FakeHubOptions } from "../lab/fake_hub.ts";
import { blobId, sha256 } from "../lab/fake_hub_state.ts";

const repo = "hasegawa/checkpoints";
const unset = { HF_ENDPOINT: undefined, HF_TOKEN: undefined, HF_TOKEN_PATH: undefined };
const noFile = (path: string) => Promise.reject(new Deno.errors.NotFound(path));

/** A clock that notes how long it was asked to sleep, and does not. */
function impatientClock() {
  const pauses: number[] = [];
  return {
    pauses,
    now: () => new Date(),
    sleep: (milliseconds: number, signal?: AbortSignal) => {
      // The time limit for the head of an answer is not a pause.
      if (milliseconds === 60_000) {
        return new Promise<void>((resolve) =>
          signal?.addEventListener("abort", () => resolve(), { once: true })
        );
      }
      pauses.push(milliseconds / 1000);
      return Promise.resolve();
    },
  };
}

function open(options: FakeHubOptions = {}) {
  const hub = new FakeHub(options);
  const clock = impatientClock();
  const access = { endpoint: hub.url, token: hub.token };
  return { hub, clock, access, reading: hubFetch({ fetch, clock }, access) };
}

const file = (path: string, text: string): CheckpointFile => {
  const bytes = new TextEncoder().encode(text);
  return { path, size: bytes.length, sha256: sha256(bytes), gitSha1: blobId(bytes) };
};

async function messageOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof UserError) return error.text.id;
    throw error;
  }
  return "no error";
}

Deno.test("hubAccess() takes the token's file first, then the variable, and the Hub's own address", async () => {
  const variables = { ...unset, HF_TOKEN_PATH: "/secret/token", HF_TOKEN: "hf_variable" };
  const read = (path: string) => Promise.resolve(path === "/secret/token" ? " hf_file\n" : "");
  assert.deepEqual(await hubAccess(variables, read), { endpoint: defaultEndpoint, token: "hf_file" });
  assert.equal((await hubAccess({ ...variables, HF_TOKEN_PATH: "" }, read)).token, "hf_variable");
});

Deno.test.each(
  [
    ["https://hub.example.org/", "https://hub.example.org"],
    ["https://hub.example.org/proxy/", "https://hub.example.org/proxy"],
    ["http://127.0.0.1:8080", "http://127.0.0.1:8080"],
    ["http://[::1]:8080/", "http://[::1]:8080"],
    ["http://hub.example.org", undefined],
    ["ftp://hub.example.org", undefined],
    ["hub.example.org", undefined],
  ] as const,
)("hubAccess() with HF_ENDPOINT=%s", async (HF_ENDPOINT, expected) => {
  const access = hubAccess({ ...unset, HF_TOKEN: "hf_x", HF_ENDPOINT }, noFile);
  if (expected === undefined) assert.equal(await messageOf(access), "hub.endpoint_invalid");
  else assert.equal((await access).endpoint, expected);
});

Deno.test("hubAccess() refuses a missing, unreadable or impossible token without showing it", async () => {
  assert.equal(await messageOf(hubAccess(unset, noFile)), "hub.no_token");
  assert.equal(
    await messageOf(hubAccess({ ...unset, HF_TOKEN_PATH: "/none" }, noFile)),
    "hub.token_unreadable",
  );
  for (const token of ["secret", "hf_", "hf_two words", "hf_line\nfeed", "hf_日本"]) {
    const access = hubAccess({ ...unset, HF_TOKEN: token }, noFile);
    await assert.rejects(access, (error: UserError) => !error.message.includes(token.slice(3) || "hf_"));
  }
});

Deno.test("repositoryState() tells private, public and missing apart", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  assert.deepEqual(await repositoryState(access, reading, repo), { kind: "missing" });
  const there = hub.repo(repo);
  assert.deepEqual(await repositoryState(access, reading, repo), { kind: "private", commit: there.head.oid });
  there.private = false;
  assert.equal((await repositoryState(access, reading, repo)).kind, "public");
});

Deno.test("repositoryState() takes a repository for public when its privacy is not told", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  hub.repo(repo);
  hub.fault({ path: /revision/, answer: { status: 200, body: { _id: "1", id: repo, sha: "a".repeat(40) } } });
  assert.equal((await repositoryState(access, reading, repo)).kind, "public");
});

Deno.test("repositoryState() does not take an unknown token for a missing repository", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  hub.repo(repo);
  const state = repositoryState({ ...access, token: "hf_unknown" }, reading, repo);
  assert.equal(await messageOf(state), "hub.unauthorised");
});

Deno.test.each(
  [
    [403, "hub.forbidden"],
    [404, "hub.failed"],
    [500, "hub.failed"],
  ] as const,
)("hubAccount() says what HTTP %i means, without the token", async (status, id) => {
  const { hub, access, reading } = open();
  await using _ = hub;
  hub.fault({ path: /whoami/, answer: { status, body: { error: `no, ${hub.token}\u001b[31m` } } });
  await assert.rejects(hubAccount(access, reading), (error: UserError) => {
    assert.equal(error.text.id, id);
    const said = textsIn("en").sentence(error.text);
    return !said.includes(hub.token) && !said.includes("\u001b");
  });
});

Deno.test("hubAccount() says that the Hub cannot be reached", async () => {
  const hub = new FakeHub();
  const access = { endpoint: hub.url, token: hub.token };
  await hub[Symbol.asyncDispose]();
  const clock = impatientClock();
  assert.equal(await messageOf(hubAccount(access, hubFetch({ fetch, clock }, access))), "hub.unreachable");
  assert.deepEqual(clock.pauses, [1, 2, 4, 8]);
});

Deno.test("hubAccount() knows a token that may only read", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  assert.deepEqual(await hubAccount(access, reading), { name: "hasegawa", isPro: false, mayWrite: true });
  const auth = { type: "access_token", accessToken: { displayName: "t", role: "read" } };
  hub.fault({
    path: /whoami/,
    answer: { status: 200, body: { type: "user", name: "hasegawa", isPro: true, auth } },
  });
  assert.deepEqual(await hubAccount(access, reading), { name: "hasegawa", isPro: true, mayWrite: false });
});

Deno.test("listAt() lists a folder at one commit, page by page, large and small files", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  const there = hub.repo(repo);
  const checkpoint = [
    file("a b/日本 #1", "x".repeat(2000)),
    file("m", "{}"),
    file("n/o/p", "p"),
    file("q", ""),
  ];
  for (const { path, size } of checkpoint) {
    const text = path === "m" ? "{}" : path === "n/o/p" ? "p" : "x".repeat(size);
    there.put(`run 1/1499/${path}`, text, size > 1000);
  }
  there.put("run 1/14990/other", "x");
  const { oid } = there.head;
  there.put("run 1/1499/later", "x");
  const place = { repo, folder: "run 1/1499" };
  const listed = await listAt(access, reading, place, oid);
  assert(isSame(compareWithHub(checkpoint, listed)));
  assert(hub.count("GET", /tree.*cursor/) >= 2);
  assert.deepEqual(compareWithHub(checkpoint, await listAt(access, reading, place, there.head.oid)), {
    missing: [],
    extra: ["later"],
    different: [],
  });
  assert.deepEqual(await listAt(access, reading, { repo, folder: "run 2" }, oid), []);
});

Deno.test("compareWithHub() sees every kind of difference, and large and small files each by their own hash", () => {
  const checkpoint = [file("large", "1"), file("small", "2"), file("gone", "3")];
  const large = { path: "large", size: 1, sha256: sha256(new TextEncoder().encode("1")), oid: "pointer" };
  const small = { path: "small", size: 1, sha256: null, oid: blobId(new TextEncoder().encode("2")) };
  const gone = { ...small, path: "gone", oid: blobId(new TextEncoder().encode("3")) };
  assert(isSame(compareWithHub(checkpoint, [large, small, gone])));
  assert.deepEqual(
    compareWithHub(checkpoint, [{ ...large, sha256: "0" }, { ...small, size: 2 }, { ...gone, path: "new" }]),
    {
      missing: ["gone"],
      extra: ["new"],
      different: ["large", "small"],
    },
  );
  assert.deepEqual(compareWithHub(checkpoint, [large, { ...small, oid: "0" }, gone]).different, ["small"]);
});

Deno.test("freePrivateBytes() counts the private repositories of the account against its plan", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  for (const name of ["a", "b", "c"]) hub.repo(`hasegawa/${name}`).put("x", "x".repeat(1000), true);
  hub.repo("hasegawa/open", { private: false }).put("x", "x".repeat(5000), true);
  const account = await hubAccount(access, reading);
  assert.equal(await freePrivateBytes(access, reading, account, repo), 100e9 - 3000);
  assert.equal(await freePrivateBytes(access, reading, { ...account, isPro: true }, repo), 1e12 - 3000);
});

Deno.test("freePrivateBytes() is null where the service does not tell", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  const account = await hubAccount(access, reading);
  assert.equal(await freePrivateBytes(access, reading, account, "some-organisation/repo"), null);
  hub.fault({ path: /settings/, times: 1, answer: { status: 403 } });
  assert.equal(await freePrivateBytes(access, reading, account, repo), null);
  hub.fault({ path: /settings/, times: 1, answer: { status: 200, body: { strange: true } } });
  assert.equal(await freePrivateBytes(access, reading, account, repo), null);
});

Deno.test("checkBeforeUpload() finds before the first dollar whatever makes an upload impossible", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  const check = (needed: number | null) => checkBeforeUpload(access, reading, repo, needed);
  assert.deepEqual(await check(null), [{ id: "hub.room", params: { free: "93.1 GiB" } }]);
  hub.repo(repo).put("x", "x".repeat(2000), true);
  assert.equal(await messageOf(check(100e9)), "hub.no_room");
  hub.fault({ path: /settings/, times: 1, answer: { status: 404 } });
  assert.deepEqual(await check(100e9), [{ id: "hub.room_unknown", params: {} }]);
  hub.repo(repo).private = false;
  assert.equal(await messageOf(check(1)), "hub.not_private");
  const auth = { type: "access_token", accessToken: { displayName: "t", role: "read" } };
  hub.fault({ path: /whoami/, times: 1, answer: { status: 200, body: { type: "user", name: "h", auth } } });
  assert.equal(await messageOf(check(1)), "hub.read_only");
  assert.equal(
    await messageOf(checkBeforeUpload({ ...access, token: "hf_unknown" }, reading, repo, 1)),
    "hub.unauthorised",
  );
  assert(hub.requests.every(({ method }) => method === "GET"));
});

Deno.test("hubFetch() waits as long as the Hub asks, at most five minutes, and gives the last answer back", async () => {
  const { hub, access, clock, reading } = open();
  await using _ = hub;
  hub.fault({ path: /whoami/, times: 1, answer: { status: 429, headers: { "retry-after": "7" } } });
  hub.fault({ path: /whoami/, times: 1, answer: { status: 429, headers: { ratelimit: '"api";r=0;t=55' } } });
  hub.fault({ path: /whoami/, times: 1, answer: { status: 503, headers: { "retry-after": "99999" } } });
  hub.fault({ path: /whoami/, times: 9, answer: { status: 500 } });
  const response = await reading(`${access.endpoint}/api/whoami-v2`);
  await response.body?.cancel();
  assert.equal(response.status, 500);
  assert.deepEqual(clock.pauses, [7, 55, 300, 8]);
});

Deno.test("hubFetch() gives a request up whose answer does not begin in time", async () => {
  const asked: (AbortSignal | null | undefined)[] = [];
  const never: typeof fetch = (_, init) => {
    asked.push(init?.signal);
    return new Promise((_, reject) =>
      init?.signal?.addEventListener("abort", () => reject(new Error("aborted")))
    );
  };
  const clock = { now: () => new Date(), sleep: () => Promise.resolve() };
  const reading = hubFetch({ fetch: never, clock }, { endpoint: "http://127.0.0.1:1" }, {
    tries: 2,
    headSeconds: 1,
  });
  await assert.rejects(reading("http://127.0.0.1:1/x"), /aborted/);
  assert.equal(asked.length, 2);
});

Deno.test("hubFetch() keeps the token from another origin, also when a list's next page lies there", async () => {
  const { hub, access, reading } = open();
  await using _ = hub;
  const headers = { authorization: `Bearer ${hub.token}` };
  for (const url of [`${hub.cdnUrl}/object/none`, `${hub.url}/${repo}/resolve/main/x`]) {
    hub.repo(repo).put("x", "x", true);
    await (await reading(url, { headers })).body?.cancel();
  }
  assert.equal(access.endpoint, hub.url);
  const there = hub.requests.filter(({ origin }) => origin === "cdn");
  assert.equal(there.length, 2);
  assert(there.every(({ authorization }) => authorization === null));
});

Deno.test("hubFetch() follows redirects, but not for ever", async () => {
  const { hub, reading, clock } = open();
  await using _ = hub;
  hub.fault({ path: /loop/, answer: { status: 307, headers: { location: `${hub.url}/loop` } } });
  await assert.rejects(reading(`${hub.url}/loop`), /too many redirects/);
  assert.equal(clock.pauses.length, 4);
});

Deno.test("askedPause() answers for any header", () => {
  assert.equal(askedPause(new Headers({ "retry-after": "Wed, 21 Oct 2026 07:28:00 GMT" })), undefined);
  const text = fc.stringMatching(/^[ -~]*$/);
  fc.assert(fc.property(text, text, (after, limit) => {
    const pause = askedPause(new Headers({ "retry-after": after, ratelimit: limit }));
    assert(pause === undefined || pause >= 0);
  }));
});

Deno.test("uploadMessage() and receiveMessage() say every outcome in both languages", () => {
  const place = { repo, folder: "1499" };
  const paths = ["a", "b", "c", "d", "e", "f"];
  const said = (["en", "ja"] as const).flatMap((language) => {
    const texts = textsIn(language);
    const uploads = [
      { kind: "uploaded", commit: "", count: 5, files: [] },
      ...([
        "not_private",
        "different",
        "storage_full",
        "refused",
        "no_token",
        "no_library",
        "link",
        "empty",
        "incomplete",
        "failed",
        "no_result",
      ] as const).map((kind) => ({ kind, detail: "why", paths })),
    ] as const;
    const differences = { missing: ["a"], extra: [], different: ["b"] };
    const faults = [
      "no_folder",
      "unreachable",
      "other_content",
      "corrupt",
      "disk",
      "unexpected",
      "interrupted",
    ] as const;
    const ways = [
      { kind: "placed", folder: "/home/1499" },
      { kind: "beside", folder: "/home/.incoming", differences },
      ...faults.map((why) => ({ kind: "failed", why, path: "params/\u001bd", detail: "ENOSPC" }) as const),
    ] as const;
    return [
      ...uploads.map((outcome) => texts.sentence(uploadMessage(outcome, place))),
      ...ways.flatMap((outcome) => {
        const { text, hint } = receiveMessage(outcome, "1499");
        return [texts.sentence(text), ...(hint === undefined ? [] : [texts.sentence(hint)])];
      }),
      texts.sentence(differenceMessage(repo, differences)),
    ];
  });
  for (const sentence of said) assert(!sentence.includes("{") && !sentence.includes("\u001b"), sentence);
  assert(
    said.includes(
      "hasegawa/checkpoints/1499 on the Hub holds other content already, so nothing was overwritten: a, b, c, d, e, …",
    ),
  );
  assert(
    said.includes(
      "すでにあった 1499 の中身が違うため（2 件），それには触れず，チェックポイントを /home/.incoming に保存しました",
    ),
  );
});
