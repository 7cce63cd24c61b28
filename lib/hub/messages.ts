import { type Message, message } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Differences } from "./compare.ts";
import type { ReceiveOutcome } from "./receive.ts";
import type { HubPlace } from "./types.ts";
import type { UploadOutcome } from "./upload_script.ts";

/** Paths that a sentence names at most. */
const maxPaths = 5;

/** What became of an upload, as a sentence. */
export function uploadMessage(outcome: UploadOutcome, { repo, folder }: HubPlace): Message {
  const place = folder === "" ? repo : `${repo}/${folder}`;
  if ("files" in outcome) {
    return message(`hub.upload.${outcome.kind}`, { place, files: outcome.count });
  }
  const { kind, detail } = outcome;
  const paths = [...outcome.paths.slice(0, maxPaths), ...(outcome.paths.length > maxPaths ? ["…"] : [])].join(
    ", ",
  );
  switch (kind) {
    case "not_private":
      return message("hub.upload.not_private", { repo });
    case "different":
      return message("hub.upload.different", { place, paths });
    case "link":
    case "incomplete":
      return message(`hub.upload.${kind}`, { paths });
    case "refused":
    case "no_library":
    case "failed":
    case "no_result":
      return message(`hub.upload.${kind}`, { detail });
    default:
      return message(`hub.upload.${kind}`);
  }
}

/** What became of the way home: a sentence and, for a failure, what to do. */
export function receiveMessage(outcome: ReceiveOutcome, name: string): { text: Message; hint?: Message } {
  switch (outcome.kind) {
    case "placed":
    case "already_there":
      return { text: message(`hub.receive.${outcome.kind}`, { folder: outcome.folder }) };
    case "beside":
      return {
        text: message("hub.receive.beside", {
          folder: outcome.folder,
          name,
          count: countOf(outcome.differences),
        }),
      };
    case "failed":
      return { text: faultMessage(outcome), hint: message(`hub.receive.${outcome.why}.hint`) };
  }
}

/** That a list of the Hub is not the checkpoint's. */
export function differenceMessage(repo: string, { missing, extra, different }: Differences): Message {
  return message("hub.differs", {
    repo,
    missing: missing.length,
    extra: extra.length,
    different: different.length,
  });
}

function countOf({ missing, extra, different }: Differences): number {
  return missing.length + extra.length + different.length;
}

function faultMessage(outcome: ReceiveOutcome & { kind: "failed" }): Message {
  const path = sanitizeLine(outcome.path);
  const detail = sanitizeLine(outcome.detail);
  return outcome.why === "unreachable" || outcome.why === "disk"
    ? message(`hub.receive.${outcome.why}`, { path, detail })
    : message(`hub.receive.${outcome.why}`, { path });
}
