import { ExitCode, message, UserError } from "../system/errors.ts";
import type { HubAccess } from "./types.ts";

/** The Hub where `HF_ENDPOINT` does not name another. */
export const defaultEndpoint = "https://huggingface.co";

/** What the environment says about the Hub; an empty text counts as unset. */
export interface HubVariables {
  readonly HF_ENDPOINT: string | undefined;
  readonly HF_TOKEN_PATH: string | undefined;
  readonly HF_TOKEN: string | undefined;
}

/**
 * Address and token of the Hub. The file of `HF_TOKEN_PATH` comes before `HF_TOKEN`, because a file is the safer place.
 *
 * @throws {UserError} when there is no token, or it or the address cannot be one
 */
export async function hubAccess(
  variables: HubVariables,
  readTextFile: (path: string) => Promise<string>,
): Promise<HubAccess> {
  return { endpoint: endpointOf(variables.HF_ENDPOINT ?? ""), token: await tokenOf(variables, readTextFile) };
}

function endpointOf(text: string): string {
  if (text === "") return defaultEndpoint;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const loopback = url !== undefined && ["127.0.0.1", "[::1]", "localhost"].includes(url.hostname);
  // The token travels with every request.
  if (url?.protocol === "https:" || (url?.protocol === "http:" && loopback)) {
    return (url.origin + url.pathname).replace(/\/+$/, "");
  }
  throw new UserError(message("hub.endpoint_invalid"), {
    hint: message("hub.endpoint_invalid.hint"),
    exit: ExitCode.Usage,
  });
}

async function tokenOf(
  { HF_TOKEN_PATH: path = "", HF_TOKEN: token = "" }: HubVariables,
  readTextFile: (path: string) => Promise<string>,
): Promise<string> {
  if (path === "" && token === "") {
    throw new UserError(message("hub.no_token"), {
      hint: message("hub.no_token.hint"),
      exit: ExitCode.NotAuthorised,
    });
  }
  const text = path === "" ? token : await readTextFile(path).catch((cause) => {
    throw new UserError(message("hub.token_unreadable", { path }), {
      hint: message("hub.token_unreadable.hint"),
      exit: ExitCode.NotAuthorised,
      cause,
    });
  });
  // A form that no header could carry must not come to an error that shows it.
  if (/^hf_[\x21-\x7e]+$/.test(text.trim())) return text.trim();
  throw new UserError(message("hub.token_invalid"), {
    hint: message("hub.token_invalid.hint"),
    exit: ExitCode.NotAuthorised,
  });
}
