import { basename, isAbsolute, join } from "node:path";
import type { TrainConfig } from "../config/train.ts";
import { message, UserError } from "../system/errors.ts";
import type { PushEntry } from "../transfer/selection.ts";

/** One step between the first login and the training. */
export type PreparationStep =
  | { readonly kind: "task"; readonly name: string; readonly command: string }
  | {
    readonly kind: "send";
    readonly from: string;
    readonly to: string;
    readonly exclude: readonly string[];
  };

/** The recipe's setup commands, what it sends, and its prepare command, in this order. */
export function preparationSteps(recipe: Pick<TrainConfig, "setup" | "send" | "prepare">): PreparationStep[] {
  return [
    ...recipe.setup.map((command, index) => ({ kind: "task", name: `setup-${index + 1}`, command } as const)),
    ...recipe.send.map((entry) => ({ kind: "send", ...entry } as const)),
    ...(recipe.prepare === undefined
      ? []
      : [{ kind: "task", name: "prepare", command: recipe.prepare } as const]),
  ];
}

/**
 * Everything below a folder (or one file) that is to be sent. Names in `exclude` are left out at any depth; links travel
 * as links; sockets, pipes and devices stay.
 *
 * @throws {UserError} when it is not there or cannot be read
 */
export async function listForSending(
  root: string,
  { from, exclude }: { readonly from: string; readonly exclude: readonly string[] },
): Promise<PushEntry[]> {
  const start = isAbsolute(from) ? from : join(root, from);
  try {
    const { isDirectory, isFile, size, mode } = await Deno.stat(start);
    if (isFile) return [fileEntry(basename(start), start, size, mode)];
    return isDirectory ? await below(start, "", new Set(exclude)) : [];
  } catch (cause) {
    const notPermitted = cause instanceof Deno.errors.NotCapable;
    throw new UserError(message("rent.send.unreadable", { path: start, problem: (cause as Error).message }), {
      hint: notPermitted
        ? message("rent.outside.hint", { folder: start })
        : message("rent.send.unreadable.hint"),
      cause,
    });
  }
}

async function below(folder: string, path: string, exclude: ReadonlySet<string>): Promise<PushEntry[]> {
  const entries: PushEntry[] = [];
  const names = [];
  for await (const { name } of Deno.readDir(folder)) if (!exclude.has(name)) names.push(name);
  for (const name of names.sort()) {
    const source = join(folder, name);
    const inner = path === "" ? name : `${path}/${name}`;
    const info = await Deno.lstat(source);
    if (info.isDirectory) {
      entries.push({ path: inner, kind: "directory", size: 0, executable: false, source });
      entries.push(...await below(source, inner, exclude));
    } else if (info.isSymlink) {
      const target = await Deno.readLink(source);
      entries.push({ path: inner, kind: "link", size: 0, executable: false, source, target });
    } else if (info.isFile) entries.push(fileEntry(inner, source, info.size, info.mode));
  }
  return entries;
}

function fileEntry(path: string, source: string, size: number, mode: number | null): PushEntry {
  return { path, kind: "file", size, executable: ((mode ?? 0) & 0o111) !== 0, source };
}
