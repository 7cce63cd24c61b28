import * as z from "zod";
import type { HubAccount } from "./repository.ts";
import type { HubAccess } from "./types.ts";

/** Bytes of private storage that an account has: https://huggingface.co/docs/hub/storage-limits */
const freeAccountBytes = 100e9;
const proAccountBytes = 1e12;
/** Pages of the list that are read at most. */
const maxPages = 100;

const repositories = z.array(z.looseObject({ visibility: z.string(), storage: z.number() }));

/**
 * Bytes of private storage that are still free for the owner of a repository, or `null` when the service does not tell:
 * an organisation's limit depends on its plan, and a narrow token may not see the list. Only a hint: the upload itself
 * is what shows whether there is room.
 */
export async function freePrivateBytes(
  access: HubAccess,
  fetch: typeof globalThis.fetch,
  account: HubAccount,
  repo: string,
): Promise<number | null> {
  if (repo.split("/")[0] !== account.name) return null;
  let used = 0;
  let url = `${access.endpoint}/api/settings/repositories`;
  for (let page = 0; page < maxPages; page++) {
    const items = await readPage(access, fetch, url);
    if (items === null) return null;
    for (const { visibility, storage } of items.repositories) used += visibility === "private" ? storage : 0;
    if (items.next === null) return Math.max(0, (account.isPro ? proAccountBytes : freeAccountBytes) - used);
    url = items.next;
  }
  return null;
}

async function readPage(access: HubAccess, fetch: typeof globalThis.fetch, url: string) {
  try {
    const response = await fetch(url, { headers: { authorization: `Bearer ${access.token}` } });
    if (!response.ok) {
      await response.body?.cancel();
      return null;
    }
    const [, next = null] = /<([^>]+)>\s*;\s*rel="next"/.exec(response.headers.get("link") ?? "") ?? [];
    return { repositories: repositories.parse(await response.json()), next };
  } catch {
    return null;
  }
}
