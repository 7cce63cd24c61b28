import { posix } from "node:path";
import { type GuardFault, guardFault, type GuardRules } from "./guard.ts";

/** One thing that `push` sends. `path` is relative to the project, with `/`, in NFC. */
export interface PushEntry {
  readonly path: string;
  readonly kind: "file" | "directory" | "link";
  /** Bytes; 0 for directories and links. */
  readonly size: number;
  readonly executable: boolean;
  /** Where it lies on this machine. */
  readonly source: string;
  /** Target of a link, as it is written in it. */
  readonly target?: string;
}

export interface PushProblem {
  readonly path: string;
  readonly fault: GuardFault | "link_leaves" | "name_collision" | "control_character" | "unreadable";
}

export interface PushSelection {
  readonly entries: readonly PushEntry[];
  /** What stops the push: nothing is sent while there is one. */
  readonly problems: readonly PushProblem[];
}

/** Names left out at any depth; in a worktree or submodule `.git` is a file. */
const excludedEverywhere = [".git", ".venv", "__pycache__", ".pytest_cache", ".ruff_cache", ".claude"];
/** Names left out at the root only: `src/data/` is code. */
const excludedAtRoot = ["data", "runs"];
/** What macOS leaves behind; a `._name` is the AppleDouble twin of `name`. */
const macLitter = /^(\._.*|\.DS_Store)$/;

/** Whether `push` leaves `path` out. `extra` are the patterns of `push.exclude`: `cache/`, or `/scratch/` at the root. */
export function isExcluded(path: string, extra: readonly string[]): boolean {
  const segments = path.split("/");
  const name = segments.at(-1) ?? "";
  const atRoot = segments.length === 1;
  return excludedEverywhere.includes(name) || macLitter.test(name) ||
    (atRoot && excludedAtRoot.includes(name)) ||
    name.startsWith(".tias-remote-incoming.") ||
    extra.some((pattern) =>
      pattern.startsWith("/") ? atRoot && pattern === `/${name}/` : pattern === `${name}/`
    );
}

/** Where a link points, seen from the project's root; `undefined` when it leads out of the project. */
export function linkTarget(path: string, target: string): string | undefined {
  if (posix.isAbsolute(target) || /^[A-Za-z]:|\\/.test(target)) return undefined;
  const inside = posix.join(posix.dirname(path), target);
  return inside === ".." || inside.startsWith("../") ? undefined : inside;
}

/**
 * Everything in the project that `push` sends, in the order of names, and everything that forbids sending.
 * Nothing that a link points to is read. Sockets, pipes and devices are no code and stay here.
 */
export async function selectForPush(
  root: string,
  rules: GuardRules & { readonly exclude: readonly string[] },
): Promise<PushSelection> {
  const entries: PushEntry[] = [];
  const problems: PushProblem[] = [];

  const visit = async (folder: string, prefix: string): Promise<void> => {
    const names: string[] = [];
    try {
      for await (const { name } of Deno.readDir(folder)) names.push(name);
    } catch {
      problems.push({ path: prefix, fault: "unreadable" });
      return;
    }
    for (const name of names.sort()) {
      const path = (prefix === "" ? name : `${prefix}/${name}`).normalize("NFC");
      if (isExcluded(path, rules.exclude)) continue;
      const source = `${folder}/${name}`;
      try {
        await visitEntry(path, source);
      } catch {
        problems.push({ path, fault: "unreadable" });
      }
    }
  };

  const visitEntry = async (path: string, source: string): Promise<void> => {
    const info = await Deno.lstat(source);
    // deno-lint-ignore no-control-regex
    if (/[\u0000-\u001f\u007f]/.test(path)) problems.push({ path, fault: "control_character" });
    if (info.isSymlink) {
      const target = (await Deno.readLink(source)).replaceAll("\\", "/");
      if (linkTarget(path, target) === undefined) problems.push({ path, fault: "link_leaves" });
      else entries.push({ path, kind: "link", size: 0, executable: false, source, target });
    } else if (info.isDirectory) {
      entries.push({ path, kind: "directory", size: 0, executable: true, source });
      await visit(source, path);
    } else if (info.isFile) {
      const fault = guardFault(path, info.size, rules);
      if (fault !== undefined) problems.push({ path, fault });
      const executable = info.mode === null || Deno.build.os === "windows"
        ? await startsWithShebang(source)
        : (info.mode & 0o100) !== 0;
      entries.push({ path, kind: "file", size: info.size, executable, source });
    }
  };

  await visit(root, "");
  const seen = new Set<string>();
  for (const { path } of entries) {
    if (seen.has(path)) problems.push({ path, fault: "name_collision" });
    seen.add(path);
  }
  return { entries, problems };
}

/** Windows keeps no executable bit; there a `#!` first line tells that a file is a program. */
async function startsWithShebang(file: string): Promise<boolean> {
  using handle = await Deno.open(file);
  const start = new Uint8Array(2);
  return await handle.read(start) === 2 && start[0] === 0x23 && start[1] === 0x21;
}
