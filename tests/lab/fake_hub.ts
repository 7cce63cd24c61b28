/**
 * A Hugging Face Hub on loopback that both `@huggingface/hub` and Python's `huggingface_hub` talk to: what they need of
 * its API, with paging, large files on a second origin (the "CDN"), and the faults of the real one.
 */

import { FakeCdn } from "./fake_hub_cdn.ts";
import { type HubFault, json, slice, spoil } from "./fake_hub_faults.ts";
import { blobId, FakeRepo, sha256, type StoredFile, treeEntries } from "./fake_hub_state.ts";

export type { HubFault } from "./fake_hub_faults.ts";

export interface HubRequest {
  readonly origin: "hub" | "cdn";
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly authorization: string | null;
  readonly range: string | null;
}

export interface FakeHubOptions {
  readonly token?: string;
  readonly user?: string;
  /** Bytes of private large files that the account may have. */
  readonly privateLimit?: number;
  readonly isPro?: boolean;
  /** Entries on one page of a list. */
  readonly pageSize?: number;
  /** Files from this size on are large files; smaller ones when their name ends in `.bin`. */
  readonly lfsFrom?: number;
  /** Large files from this size on are uploaded in parts of this size. */
  readonly multipartSize?: number;
}

export class FakeHub implements AsyncDisposable {
  readonly repos = new Map<string, FakeRepo>();
  readonly requests: HubRequest[] = [];
  readonly token: string;
  readonly #options: Required<FakeHubOptions>;
  readonly #cdn = new FakeCdn();
  readonly #faults: { fault: HubFault; left: number }[] = [];
  readonly #servers: Deno.HttpServer<Deno.NetAddr>[];
  readonly #stalls = new AbortController();

  constructor(options: FakeHubOptions = {}) {
    this.#options = {
      token: "hf_fakeTokenForTests",
      user: "hasegawa",
      privateLimit: Infinity,
      isPro: false,
      pageSize: 2,
      lfsFrom: 1000,
      multipartSize: Infinity,
      ...options,
    };
    this.token = this.#options.token;
    const serve = (origin: "hub" | "cdn") =>
      Deno.serve(
        { hostname: "127.0.0.1", port: 0, onListen: () => {} },
        (request) => this.#answer(origin, request),
      );
    this.#servers = [serve("hub"), serve("cdn")];
  }

  /** For `HF_ENDPOINT`. */
  get url(): string {
    return this.#origin(0);
  }

  /** Where large files come from and go to. */
  get cdnUrl(): string {
    return this.#origin(1);
  }

  fault(fault: HubFault): void {
    this.#faults.push({ fault, left: fault.times ?? Infinity });
  }

  repo(id: string, options: { private?: boolean } = {}): FakeRepo {
    const repo = this.repos.get(id) ?? new FakeRepo(options.private ?? true);
    this.repos.set(id, repo);
    return repo;
  }

  count(method: string, path: RegExp): number {
    return this.requests.filter((request) => request.method === method && path.test(request.path)).length;
  }

  async [Symbol.asyncDispose]() {
    this.#stalls.abort();
    await Promise.all(this.#servers.map((server) => server.shutdown()));
  }

  #origin(place: number): string {
    return `http://127.0.0.1:${this.#servers[place]?.addr.port}`;
  }

  async #answer(origin: "hub" | "cdn", request: Request): Promise<Response> {
    const url = new URL(request.url);
    const path = url.pathname + url.search;
    const { method, headers } = request;
    this.requests.push({
      origin,
      method,
      path,
      authorization: headers.get("authorization"),
      range: headers.get("range"),
    });
    const found = this.#faults.find(({ fault, left }) =>
      left > 0 && fault.path.test(path) && (fault.method ?? method) === method
    );
    if (found !== undefined) found.left -= 1;
    const fault = found?.fault;
    fault?.meanwhile?.();
    if (fault?.answer !== undefined) {
      await request.body?.cancel();
      const { status, body, headers } = fault.answer;
      return typeof body === "string"
        ? new Response(body, { status, headers: { "content-type": "text/html", ...headers } })
        : json(status, body ?? {}, headers);
    }
    const ranged = fault?.ignoreRange === true ? new Headers() : headers;
    const response = origin === "hub"
      ? await this.#hub(request, url, ranged)
      : await this.#cdn.answer(request, url, ranged);
    return fault === undefined ? response : await spoil(response, fault, this.#stalls.signal);
  }

  async #hub(request: Request, url: URL, headers: Headers): Promise<Response> {
    const path = decodeURIComponent(url.pathname);
    const authorised = headers.get("authorization") === `Bearer ${this.token}` ||
      request.headers.get("authorization") === `Bearer ${this.token}`;
    if (path === "/api/whoami-v2") return authorised ? json(200, this.#whoAmI()) : unauthorised();
    if (/^\/api\/(organizations\/[^/]+\/)?settings\/repositories$/.test(path)) {
      return authorised ? this.#page(url, this.#repositories()) : unauthorised();
    }
    if (path === "/api/repos/create") return authorised ? this.#create(await request.json()) : unauthorised();
    const [, id = "", verb = "", rest = ""] =
      /^\/(?:api\/models\/)?([^/]+\/[^/]+?)(?:\/(tree|revision|preupload|commit|resolve)\/(.*)|\.git\/info\/lfs\/(?:objects\/batch|verify))?$/
        .exec(path) ?? [];
    const repo = this.repos.get(id);
    if (repo === undefined || (repo.private && !authorised)) {
      await request.body?.cancel();
      return json(401, { error: "Repository not found" }, { "x-error-code": "RepoNotFound" });
    }
    const [revision = "main", ...folders] = rest.split("/");
    const commit = repo.at(revision);
    if (path.endsWith("/lfs/objects/batch")) return this.#batch(id, repo, await request.json());
    if (path.endsWith("/lfs/verify")) {
      const { oid } = await request.json();
      return this.#cdn.objects.has(oid) ? json(200, {}) : json(404, { error: "not there" });
    }
    if (verb === "" || verb === "revision") return this.#info(id, repo, commit);
    if (commit === undefined) {
      return json(404, { error: "Invalid rev" }, { "x-error-code": "RevisionNotFound" });
    }
    switch (verb) {
      case "tree": {
        const folder = folders.join("/");
        const entries = treeEntries(commit.files, folder);
        return entries.length === 0
          ? json(404, { error: `${folder} does not exist` }, { "x-error-code": "EntryNotFound" })
          : this.#page(url, entries);
      }
      case "preupload":
        return this.#preupload(repo, await request.json());
      case "commit":
        return this.#commit(id, repo, await request.text());
      default:
        return this.#resolve(id, commit.files.get(folders.join("/")), headers);
    }
  }

  #whoAmI(): unknown {
    const { user, isPro } = this.#options;
    return {
      type: "user",
      id: "1",
      name: user,
      isPro,
      orgs: [],
      auth: {
        type: "access_token",
        accessToken: { displayName: "t", role: "write", createdAt: "2026-01-01" },
      },
    };
  }

  #repositories(): unknown[] {
    return [...this.repos].map(([id, repo]) => ({
      id,
      type: "model",
      updatedAt: "2026-11-30T00:00:00.000Z",
      visibility: repo.private ? "private" : "public",
      storage: repo.storage,
      storagePercent: 0,
    }));
  }

  #page(url: URL, items: unknown[]): Response {
    const from = Number(url.searchParams.get("cursor") ?? 0);
    const to = from + this.#options.pageSize;
    const next = new URL(url);
    next.searchParams.set("cursor", String(to));
    return json(200, items.slice(from, to), to < items.length ? { link: `<${next}>; rel="next"` } : {});
  }

  #create(body: { name: string; organization?: string; private?: boolean; visibility?: string }): Response {
    const id = `${body.organization ?? this.#options.user}/${body.name}`;
    const url = `${this.url}/${id}`;
    if (this.repos.has(id)) return json(409, { error: "You already created this model repo", url });
    this.repo(id, { private: body.private === true || body.visibility === "private" });
    return json(200, { url, id, name: id });
  }

  #info(id: string, repo: FakeRepo, commit = repo.head): Response {
    return json(200, {
      _id: "64",
      id,
      modelId: id,
      private: repo.private,
      sha: commit.oid,
      lastModified: "2026-11-30T00:00:00.000Z",
      tags: [],
      downloads: 0,
      likes: 0,
      gated: false,
      siblings: [...commit.files.keys()].map((rfilename) => ({ rfilename })),
    });
  }

  #preupload(repo: FakeRepo, { files }: { files: { path: string; size: number }[] }): Response {
    const answers = files.map(({ path, size }) => {
      const there = repo.head.files.get(path);
      return {
        path,
        uploadMode: size >= this.#options.lfsFrom || path.endsWith(".bin") ? "lfs" : "regular",
        shouldIgnore: false,
        ...(there === undefined ? {} : { oid: there.lfs ? sha256(there.bytes) : blobId(there.bytes) }),
      };
    });
    return json(200, { files: answers });
  }

  #batch(id: string, repo: FakeRepo, { objects }: { objects: { oid: string; size: number }[] }): Response {
    const used = [...this.repos.values()].reduce((sum, each) => sum + (each.private ? each.storage : 0), 0);
    const asked = objects.reduce((sum, { size }) => sum + size, 0);
    if (repo.private && used + asked > this.#options.privateLimit) return storageFull(403);
    const { multipartSize } = this.#options;
    return json(200, {
      transfer: "basic",
      objects: objects.map(({ oid, size }) => {
        if (this.#cdn.objects.has(oid)) return { oid, size };
        const verify = { href: `${this.url}/${id}.git/info/lfs/verify` };
        const parts = Math.ceil(size / multipartSize);
        const upload = size < multipartSize ? { href: `${this.cdnUrl}/upload/${oid}` } : {
          href: `${this.cdnUrl}/complete/${oid}`,
          header: {
            chunk_size: String(multipartSize),
            ...Object.fromEntries(
              Array.from({ length: parts }, (_, part) => [
                String(part + 1).padStart(5, "0"),
                `${this.cdnUrl}/part/${oid}/${part + 1}`,
              ]),
            ),
          },
        };
        return { oid, size, authenticated: true, actions: { upload, verify } };
      }),
    }, { "content-type": "application/vnd.git-lfs+json" });
  }

  #commit(id: string, repo: FakeRepo, text: string): Response {
    const files = new Map(repo.head.files);
    for (const line of text.split("\n").filter((each) => each !== "")) {
      const { key, value } = JSON.parse(line);
      if (key === "header" && value.parentCommit !== undefined && value.parentCommit !== repo.head.oid) {
        return json(412, { error: "A commit has happened since. Please refresh and try again." });
      }
      if (key === "file") {
        const bytes = Uint8Array.from(atob(value.content), (character) => character.charCodeAt(0));
        files.set(value.path, { bytes, lfs: false });
      }
      if (key === "lfsFile") {
        const bytes = this.#cdn.objects.get(value.oid);
        if (bytes === undefined) return json(400, { error: "LFS object was not uploaded" });
        files.set(value.path, { bytes, lfs: true });
      }
    }
    const { oid } = repo.commit(files);
    return json(200, { success: true, commitOid: oid, commitUrl: `${this.url}/${id}/commit/${oid}` });
  }

  #resolve(id: string, file: StoredFile | undefined, headers: Headers): Response {
    if (file === undefined) {
      return json(404, { error: "Entry not found" }, { "x-error-code": "EntryNotFound" });
    }
    if (!file.lfs) return slice(file.bytes, headers, { etag: `"${blobId(file.bytes)}"` });
    const oid = sha256(file.bytes);
    this.#cdn.objects.set(oid, file.bytes);
    return new Response(null, {
      status: 302,
      headers: {
        location: `${this.cdnUrl}/object/${oid}?repo=${encodeURIComponent(id)}`,
        "x-linked-size": String(file.bytes.length),
        "x-linked-etag": `"${oid}"`,
      },
    });
  }
}

/** The answer of an account whose private storage is full. */
export function storageFull(status: 400 | 403): Response {
  const error =
    "Private repository storage limit reached, please upgrade your plan to increase your private storage limit";
  return json(status, { error }, { "x-error-message": error });
}

function unauthorised(): Response {
  return json(401, { error: "Invalid username or password." });
}
