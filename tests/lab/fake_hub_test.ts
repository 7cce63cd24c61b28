import assert from "node:assert/strict";
import { createRepo, downloadFile, HubApiError, listFiles, uploadFiles } from "@huggingface/hub";
import { FakeHub } from "./fake_hub.ts";
import { sha256 } from "./fake_hub_state.ts";

const repo = "hasegawa/checkpoints";

Deno.test("FakeHub serves the JavaScript library: create, upload, list, download", async () => {
  await using hub = new FakeHub();
  const access = { repo, accessToken: hub.token, hubUrl: hub.url, fetch: readToTheEnd };
  await createRepo({ ...access, private: true });
  assert.equal(hub.repo(repo).private, true);
  const large = "x".repeat(5000);
  const { commit } = await uploadFiles({
    ...access,
    useXet: false,
    files: [
      { path: "a/large", content: new Blob([large]) },
      { path: "a/small", content: new Blob(["s"]) },
      { path: "b", content: new Blob(["b"]) },
    ],
  }) ?? {};
  assert.equal(commit?.oid, hub.repo(repo).head.oid);
  const listed = await Array.fromAsync(listFiles({ ...access, recursive: true }));
  const files = listed.filter(({ type }) => type === "file");
  assert.deepEqual(files.map(({ path }) => path).sort(), [".gitattributes", "a/large", "a/small", "b"]);
  assert.equal(
    files.find(({ path }) => path === "a/large")?.lfs?.oid,
    sha256(new TextEncoder().encode(large)),
  );
  const small = await downloadFile({ ...access, path: "a/small", xet: false });
  assert.equal(await small?.text(), "s");
  assert.equal(await downloadFile({ ...access, path: "none", xet: false }), null);
});

// The library leaves bodies unread; a test must not.
const readToTheEnd: typeof fetch = async (input, init) => {
  const response = await fetch(input, init);
  return new Response(await response.arrayBuffer(), { status: response.status, headers: response.headers });
};

Deno.test("FakeHub answers as the Hub does to who may not, or comes twice", async () => {
  await using hub = new FakeHub();
  const access = { repo, accessToken: hub.token, hubUrl: hub.url };
  const status = async (work: Promise<unknown>) => {
    try {
      await work;
      return 200;
    } catch (error) {
      if (error instanceof HubApiError) return error.statusCode;
      throw error;
    }
  };
  const list = (accessToken: string) => Array.fromAsync(listFiles({ ...access, accessToken }));
  assert.equal(await status(list(hub.token)), 401);
  assert.equal(await status(createRepo({ ...access, private: true })), 200);
  assert.equal(await status(createRepo({ ...access, private: true })), 409);
  assert.equal(await status(list(hub.token)), 200);
  assert.equal(await status(list("hf_stranger")), 401);
  hub.repo(repo).private = false;
  assert.equal(await status(list("hf_stranger")), 200);
});

Deno.test("FakeHub's second origin refuses a token, as signed addresses do", async () => {
  await using hub = new FakeHub();
  const response = await fetch(`${hub.cdnUrl}/object/x`, { headers: { authorization: "Bearer hf_x" } });
  await response.body?.cancel();
  assert.equal(response.status, 400);
});
