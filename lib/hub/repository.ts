import { HubApiError, listFiles, modelInfo, whoAmI } from "@huggingface/hub";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { HubAccess, HubFile, HubPlace } from "./types.ts";

/** A repository as the token sees it. The Hub does not tell a missing one from one that the token may not see. */
export type RepositoryState =
  | { readonly kind: "missing" }
  | { readonly kind: "private" | "public"; readonly commit: string };

/** Whether the repository is there and private, and its newest commit. */
export async function repositoryState(
  access: HubAccess,
  fetch: typeof globalThis.fetch,
  repo: string,
): Promise<RepositoryState> {
  try {
    const info = await modelInfo({ ...library(access, fetch), name: repo, additionalFields: ["sha"] });
    // Anything but a clear yes is no.
    return { kind: info.private === true ? "private" : "public", commit: info.sha };
  } catch (error) {
    if (
      error instanceof HubApiError && [401, 404].includes(error.statusCode) && await isKnown(access, fetch)
    ) {
      return { kind: "missing" };
    }
    throw hubError(access, error);
  }
}

/** Who the token belongs to, and whether it may write. */
export interface HubAccount {
  readonly name: string;
  readonly isPro: boolean;
  /** False only when the service says that the token can read alone. */
  readonly mayWrite: boolean;
}

/** @throws {UserError} when the Hub does not know the token or cannot be reached */
export async function hubAccount(access: HubAccess, fetch: typeof globalThis.fetch): Promise<HubAccount> {
  try {
    const account = await whoAmI({ ...library(access, fetch) });
    return {
      name: account.name,
      isPro: account.type === "user" && account.isPro === true,
      mayWrite: account.auth?.accessToken?.role !== "read",
    };
  } catch (error) {
    throw hubError(access, error);
  }
}

/** All files of a repository's folder at one commit, relative to the folder; none when there is no such folder. */
export async function listAt(
  access: HubAccess,
  fetch: typeof globalThis.fetch,
  { repo, folder }: HubPlace,
  commit: string,
): Promise<HubFile[]> {
  const files: HubFile[] = [];
  try {
    const path = folder.split("/").map(encodeURIComponent).join("/");
    const entries = listFiles({ ...library(access, fetch), repo, path, recursive: true, revision: commit });
    for await (const { type, path, size, oid, lfs } of entries) {
      if (type === "directory" || !path.startsWith(`${folder}/`)) continue;
      files.push({
        path: path.slice(folder.length + 1),
        size: lfs?.size ?? size,
        sha256: lfs?.oid ?? null,
        oid: oid ?? "",
      });
    }
  } catch (error) {
    // The folder is not there; a missing repository or commit has another code, which the library drops.
    if (error instanceof HubApiError && error.statusCode === 404) return [];
    throw hubError(access, error);
  }
  return files;
}

/** A fault of the Hub as a sentence. Its own text is shown without control characters; it never holds the token. */
export function hubError(access: HubAccess, error: unknown): UserError {
  if (error instanceof UserError) return error;
  const host = new URL(access.endpoint).host;
  const detail = sanitizeLine(error instanceof Error ? error.message : String(error))
    .replaceAll(access.token, "***").slice(0, 300);
  const status = error instanceof HubApiError ? error.statusCode : 0;
  if (status === 401) {
    return new UserError(message("hub.unauthorised", { host }), {
      hint: message("hub.unauthorised.hint"),
      exit: ExitCode.NotAuthorised,
      cause: error,
    });
  }
  if (status === 402 || status === 403) {
    return new UserError(message("hub.forbidden", { host, detail }), {
      hint: message("hub.forbidden.hint"),
      exit: ExitCode.NotAuthorised,
      cause: error,
    });
  }
  if (status !== 0) {
    return new UserError(message("hub.failed", { host, status, detail }), {
      hint: message("hub.failed.hint"),
      cause: error,
    });
  }
  return new UserError(message("hub.unreachable", { host, detail }), {
    hint: message("hub.unreachable.hint"),
    cause: error,
  });
}

// A token that nobody knows and a repository that nobody may see both give 401.
async function isKnown(access: HubAccess, fetch: typeof globalThis.fetch): Promise<boolean> {
  await hubAccount(access, fetch);
  return true;
}

function library({ endpoint, token }: HubAccess, fetch: typeof globalThis.fetch) {
  return { hubUrl: endpoint, accessToken: token, fetch };
}
