import type { TrainConfig } from "../config/train.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";

type Env = Pick<Context, "env">;

/**
 * The account's key: `RUNPOD_API_KEY`, or the content of the file that `RUNPOD_API_KEY_FILE` names.
 *
 * @throws {UserError} exit code 4 when there is none, or it cannot be one; its text is never shown
 */
export async function runpodKey(deps: Env): Promise<string> {
  const file = deps.env("RUNPOD_API_KEY_FILE") ?? "";
  const given = deps.env("RUNPOD_API_KEY") ?? "";
  if (given === "" && file === "") throw refused("rent.key.missing", "rent.key.missing.hint");
  let text = given;
  if (text === "") {
    try {
      text = await Deno.readTextFile(file);
    } catch (cause) {
      throw new UserError(message("rent.key.unreadable", { file, problem: problemOf(cause) }), {
        exit: ExitCode.NotAuthorised,
        hint: readHint(cause, file),
        cause,
      });
    }
  }
  // What no header can carry must not come to an error that shows it.
  if (!/^[\x21-\x7e]{8,512}$/.test(text.trim())) throw refused("rent.key.invalid", "rent.key.missing.hint");
  return text.trim();
}

function refused(text: "rent.key.missing" | "rent.key.invalid", hint: "rent.key.missing.hint"): UserError {
  return new UserError(message(text), { exit: ExitCode.NotAuthorised, hint: message(hint) });
}

/**
 * The public half of the ssh identity, one line.
 *
 * @throws {UserError} when it cannot be read or is none
 */
export async function publicKey(recipe: Pick<TrainConfig, "ssh">, identity: string): Promise<string> {
  if (recipe.ssh.public_key !== undefined) return recipe.ssh.public_key.trim();
  const file = `${identity}.pub`;
  try {
    const text = (await Deno.readTextFile(file)).trim();
    if (/^(ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/=]+( .*)?$/.test(text)) return text;
  } catch (cause) {
    throw new UserError(message("rent.identity.unreadable", { file, problem: problemOf(cause) }), {
      exit: ExitCode.Usage,
      hint: message("rent.identity.hint", { file }),
      cause,
    });
  }
  throw new UserError(message("rent.identity.invalid", { file }), {
    exit: ExitCode.Usage,
    hint: message("rent.identity.hint", { file }),
  });
}

/** How to let the program read a file that the sandbox keeps from it, or how to correct its name. */
function readHint(cause: unknown, file: string) {
  return cause instanceof Deno.errors.NotCapable
    ? message("rent.file.not_permitted.hint", { file })
    : message("rent.key.missing.hint");
}

function problemOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
