import { foldName } from "./member_name.ts";
import type { RefusalRule } from "./refusal.ts";

/** The names of an archive so far: finds those that would meet on some file system. */
export class MemberNames {
  /** Folded path → the path as it was spelled first. */
  readonly #files = new Map<string, string>();
  readonly #directories = new Map<string, string>();

  /** Takes a file's path in; a rule when it cannot stand beside the others. */
  addFile(path: string): RefusalRule | undefined {
    const key = foldName(path);
    const same = this.#files.get(key);
    if (same !== undefined) return same === path ? "duplicate" : "collision";
    if (this.#directories.has(key)) return "file_as_directory";
    const parent = path.lastIndexOf("/");
    const rule = parent === -1 ? undefined : this.addDirectory(path.slice(0, parent));
    if (rule === undefined) this.#files.set(key, path);
    return rule;
  }

  /** Takes a directory and those above it in; the same one may come again. */
  addDirectory(path: string): RefusalRule | undefined {
    for (let end = path.length; end !== -1; end = path.lastIndexOf("/", end - 1)) {
      const directory = path.slice(0, end);
      const key = foldName(directory);
      const same = this.#directories.get(key);
      // With it, all above it are known already.
      if (same === directory) return undefined;
      if (same !== undefined) return "collision";
      if (this.#files.has(key)) return "file_as_directory";
      this.#directories.set(key, directory);
    }
    return undefined;
  }
}
