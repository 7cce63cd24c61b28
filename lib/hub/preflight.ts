import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sizeText } from "../text/size.ts";
import { hubAccount, repositoryState } from "./repository.ts";
import { freePrivateBytes } from "./storage.ts";
import type { HubAccess } from "./types.ts";

/**
 * What can be known of an upload before it costs anything: the Hub knows the token, the token may write, the
 * repository is private or not there yet, and there is room for `neededBytes` (`null`: not known).
 *
 * @returns what the user should know: how much room there is, or that the service does not tell
 * @throws {UserError} when the upload cannot succeed
 */
export async function checkBeforeUpload(
  access: HubAccess,
  fetch: typeof globalThis.fetch,
  repo: string,
  neededBytes: number | null,
): Promise<Message[]> {
  const account = await hubAccount(access, fetch);
  if (!account.mayWrite) {
    throw new UserError(message("hub.read_only", { name: account.name }), {
      hint: message("hub.read_only.hint"),
      exit: ExitCode.NotAuthorised,
    });
  }
  if ((await repositoryState(access, fetch, repo)).kind === "public") {
    throw new UserError(message("hub.not_private", { repo }), { hint: message("hub.not_private.hint") });
  }
  const free = await freePrivateBytes(access, fetch, account, repo);
  if (free === null) return [message("hub.room_unknown")];
  if (free < (neededBytes ?? 1)) {
    throw new UserError(
      message("hub.no_room", { repo, size: sizeText(neededBytes ?? 1), free: sizeText(free) }),
      { hint: message("hub.no_room.hint") },
    );
  }
  return [message("hub.room", { free: sizeText(free) })];
}
