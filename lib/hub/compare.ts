import type { CheckpointFile, HubFile } from "./types.ts";

/** How what is there differs from the checkpoint; paths, sorted. */
export interface Differences {
  readonly missing: readonly string[];
  /** There, but not of the checkpoint. */
  readonly extra: readonly string[];
  /** Another size or another content. */
  readonly different: readonly string[];
}

export function isSame({ missing, extra, different }: Differences): boolean {
  return missing.length + extra.length + different.length === 0;
}

/** The checkpoint against a list of the Hub: large files by SHA-256, the others by git's name for their content. */
export function compareWithHub(
  checkpoint: readonly CheckpointFile[],
  there: readonly HubFile[],
): Differences {
  return compareFiles(
    checkpoint,
    there,
    (file, { size, sha256, oid }) =>
      size === file.size && (sha256 === null ? oid === file.gitSha1 : sha256 === file.sha256),
  );
}

/** The checkpoint against any list of files with paths. */
export function compareFiles<There extends { readonly path: string }>(
  checkpoint: readonly CheckpointFile[],
  there: readonly There[],
  same: (file: CheckpointFile, there: There) => boolean,
): Differences {
  const found = new Map(there.map((file) => [file.path, file]));
  const wanted = new Set(checkpoint.map(({ path }) => path));
  const paths = (files: readonly { readonly path: string }[]) => files.map(({ path }) => path).sort();
  return {
    missing: paths(checkpoint.filter(({ path }) => !found.has(path))),
    extra: paths(there.filter(({ path }) => !wanted.has(path))),
    different: paths(checkpoint.filter((file) => {
      const other = found.get(file.path);
      return other !== undefined && !same(file, other);
    })),
  };
}
