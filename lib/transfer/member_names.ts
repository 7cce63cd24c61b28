import { foldName } from "./member_name.ts";
import type { RefusalRule } from "./refusal.ts";

/** The names of an archive so far: finds those that would meet on some file system. */
export class MemberNames {
  /** Folded path → the path as it was spelled first. */
  readonly #files = new Map<string, string>();
  /** Folded. */
  readonly #directories = new Set<string>();
  /** The directories as they were spelled: most files are in one that is known. */
  readonly #spelled = new Set<string>();

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
      // With it, all above it are known already.
      if (this.#spelled.has(directory)) return undefined;
      const key = foldName(directory);
      if (this.#directories.has(key)) return "collision";
      if (this.#files.has(key)) return "file_as_directory";
      this.#directories.add(key);
      this.#spelled.add(directory);
    }
    return undefined;
  }
}
