import { fileDownloadInfo } from "@huggingface/hub";
import type { FileSource } from "./receive.ts";
import { hubError } from "./repository.ts";
import type { HubAccess, HubPlace } from "./types.ts";

/** The files of a checkpoint on the Hub at one commit, each from any byte on. `fetch` is `hubFetch`'s. */
export function hubSource(
  access: HubAccess,
  fetch: typeof globalThis.fetch,
  { repo, folder }: HubPlace,
  commit: string,
): FileSource {
  return async (file, offset, signal) => {
    // The library puts the path into the address as it is, and an empty file has no first byte to ask for.
    const path = `${folder}/${file.path}`.split("/").map(encodeURIComponent).join("/");
    const url = `${access.endpoint}/${repo}/resolve/${commit}/${path}`;
    try {
      const info = await fileDownloadInfo({
        repo,
        path,
        revision: commit,
        hubUrl: access.endpoint,
        accessToken: access.token,
        fetch: headOf(fetch, signal),
      });
      if (info === null || info.size !== file.size) return { kind: "other_content" };
      const response = await fetch(url, {
        headers: {
          authorization: `Bearer ${access.token}`,
          ...(offset > 0 ? { range: `bytes=${offset}-` } : {}),
        },
        signal,
      });
      if (response.body === null || (response.status !== 200 && response.status !== 206)) {
        await response.body?.cancel();
        return { kind: "fault", detail: `HTTP ${response.status}` };
      }
      return { kind: "stream", offset: startOf(response), body: response.body };
    } catch (error) {
      return { kind: "fault", detail: detailOf(hubError(access, error)) };
    }
  };
}

// The library asks for one byte and then leaves the body lying, which is the whole file where `Range` was ignored; its
// size is told by another header there.
function headOf(fetch: typeof globalThis.fetch, signal: AbortSignal): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, { ...init, signal });
    if (!response.ok) return response;
    await response.body?.cancel();
    const headers = new Headers(response.headers);
    const length = headers.get("content-length");
    if (response.status === 200 && length !== null) headers.set("content-range", `bytes 0-0/${length}`);
    return new Response(null, { status: response.status, headers });
  };
}

/** The byte that an answer begins with: a server may ignore `Range` and send everything (200). */
function startOf(response: Response): number {
  if (response.status === 200) return 0;
  const [, start] = /^bytes (\d+)-/.exec(response.headers.get("content-range") ?? "") ?? [];
  return start === undefined ? Number.NaN : Number(start);
}

function detailOf({ text }: { readonly text: { readonly id: string; readonly params: object } }): string {
  const { detail, status } = text.params as { detail?: string; status?: number };
  return detail ?? (status === undefined ? text.id : `HTTP ${status}`);
}
