import { dirname } from "node:path";
import { ExitCode, message, UserError } from "../system/errors.ts";

/** @throws {UserError} when the file is there: a configuration is never overwritten */
export async function refuseExisting(file: string): Promise<void> {
  try {
    await Deno.lstat(file);
  } catch (fault) {
    if (fault instanceof Deno.errors.NotFound) return;
    throw unwritable(file, fault);
  }
  throw existing(file);
}

/** Writes a new file, making its folder. @throws {UserError} when it is there by now, or cannot be written */
export async function createConfig(file: string, text: string): Promise<void> {
  try {
    await Deno.mkdir(dirname(file), { recursive: true });
  } catch (fault) {
    throw unwritable(file, fault);
  }
  try {
    await Deno.writeTextFile(file, text, { createNew: true });
  } catch (fault) {
    throw fault instanceof Deno.errors.AlreadyExists ? existing(file) : unwritable(file, fault);
  }
}

function existing(file: string): UserError {
  return new UserError(message("init.exists", { file }), {
    exit: ExitCode.Usage,
    hint: message("init.exists.hint"),
  });
}

function unwritable(file: string, cause: unknown): UserError {
  if (cause instanceof Deno.errors.NotCapable) {
    return new UserError(message("init.not_permitted", { file }), {
      exit: ExitCode.Usage,
      hint: message("init.not_permitted.hint"),
      cause,
    });
  }
  return new UserError(message("init.not_writable", { file, problem: (cause as Error).message }), {
    hint: message("init.not_writable.hint"),
    cause,
  });
}
