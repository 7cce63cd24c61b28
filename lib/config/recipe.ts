import { dirname, isAbsolute, join, resolve } from "node:path";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { parseConfig } from "./document.ts";
import { type TrainConfig, trainSchema } from "./train.ts";

/** A recipe and the project that it lies in. */
export interface RecipeFile {
  readonly root: string;
  readonly configFile: string;
  readonly recipe: TrainConfig;
}

/**
 * Reads `configs/train.yaml`: the file that `--config` names, else that of the nearest folder above the current one.
 *
 * @throws {UserError} exit code 2 when there is none, it cannot be read, or it is invalid
 */
export async function openRecipe(deps: Pick<Context, "cwd">, flag: string | undefined): Promise<RecipeFile> {
  const configFile = flag === undefined ? await nearest(deps.cwd()) : resolve(deps.cwd(), flag);
  const source = await read(configFile);
  if (source === undefined) throw notFound(dirname(configFile));
  return {
    root: dirname(dirname(configFile)),
    configFile,
    recipe: parseConfig(source, configFile, trainSchema),
  };
}

async function nearest(start: string): Promise<string> {
  for (let folder = start;; folder = dirname(folder)) {
    const file = join(folder, "configs", "train.yaml");
    if (await read(file) !== undefined) return file;
    if (dirname(folder) === folder) throw notFound(start);
  }
}

async function read(file: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (cause) {
    if (cause instanceof Deno.errors.NotFound || cause instanceof Deno.errors.NotADirectory) return undefined;
    const outOfReach = cause instanceof Deno.errors.NotCapable;
    throw new UserError(
      outOfReach
        ? message("config.out_of_reach", { file })
        : message("config.unreadable", { file, problem: (cause as Error).message }),
      {
        exit: ExitCode.Usage,
        hint: message(outOfReach ? "config.out_of_reach.hint" : "rent.config.missing.hint"),
        cause,
      },
    );
  }
}

function notFound(folder: string): UserError {
  return new UserError(message("rent.config.missing", { folder }), {
    exit: ExitCode.Usage,
    hint: message("rent.config.missing.hint"),
  });
}

/** A path of the recipe on this machine: `~/` is the home folder, relative ones lie below the project. */
export function localPath(deps: Pick<Context, "env">, root: string, path: string): string {
  if (path === "~" || path.startsWith("~/")) {
    const home = deps.env("HOME") ?? deps.env("USERPROFILE");
    if (home === undefined) {
      throw new UserError(message("rent.home.unknown", { path }), {
        exit: ExitCode.Usage,
        hint: message("rent.home.unknown.hint"),
      });
    }
    return join(home, path.slice(1));
  }
  return isAbsolute(path) ? path : join(root, path);
}
