import { join } from "node:path";
import type { Disk } from "./disk.ts";
import type { StagedFile } from "./spool.ts";

/** Something of another kind is where a file or its directory should be. */
export class Obstacle extends Error {
  override readonly name = "Obstacle";
  /** What is there: a link (a Windows junction too), a file instead of a directory, or the reverse. */
  readonly kind: "link" | "file" | "directory" | "other";

  constructor(kind: Obstacle["kind"]) {
    super(`Cannot place the files: a ${kind} is in the way`);
    this.kind = kind;
  }
}

/** Placing stopped on its way: every file is either the new one or the old one, none is partial. */
export class PlacingFailed extends Error {
  override readonly name = "PlacingFailed";
  /** Number of files that are the new ones. */
  readonly placed: number;
  /** Number of all files. */
  readonly files: number;

  constructor(placed: number, files: number, cause: unknown) {
    super(`Cannot place more than ${placed} of ${files} files`, { cause });
    this.placed = placed;
    this.files = files;
  }
}

/**
 * Gives staged files their final names below `destination`, replacing files of the same names. Each rename goes into
 * a directory that was found to be one just before, link by link of its path, and itself replaces a link rather than
 * follow it; so nothing outside is ever written.
 *
 * @param destination the run's folder, made if it is missing; the folder above it exists
 * @throws {Obstacle} before the first file is placed
 * @throws {PlacingFailed} when something goes wrong after that
 */
export function placeFiles(
  disk: Disk,
  files: readonly StagedFile[],
  destination: string,
  umask: number,
): void {
  for (const directory of directoriesOf(files, destination)) refuseObstacle(disk, directory, "directory");
  for (const { member } of files) refuseObstacle(disk, join(destination, member.path), "file");

  const made: string[] = [];
  let placed = 0;
  try {
    for (const { member, path, isPrivate } of files) {
      for (const directory of parentsOf(member.path, destination)) {
        if (refuseObstacle(disk, directory, "directory") === undefined) {
          disk.makeDirectory(directory, 0o777);
          made.push(directory);
        }
      }
      const target = join(destination, member.path);
      refuseObstacle(disk, target, "file");
      if (isPrivate) disk.setMode(path, (member.executable ? 0o755 : 0o644) & ~umask);
      disk.rename(path, target);
      placed++;
    }
  } catch (cause) {
    for (const directory of made.reverse()) removeIfEmpty(disk, directory);
    if (placed === 0 && cause instanceof Obstacle) throw cause;
    throw new PlacingFailed(placed, files.length, cause);
  }
}

/** What is at `path`. @throws {Obstacle} when it is neither nothing nor the kind that is `wanted` */
export function refuseObstacle(
  disk: Disk,
  path: string,
  wanted: "file" | "directory",
): typeof wanted | undefined {
  const kind = disk.kind(path);
  if (kind !== undefined && kind !== wanted) throw new Obstacle(kind);
  return kind;
}

function directoriesOf(files: readonly StagedFile[], destination: string): Set<string> {
  return new Set(files.flatMap(({ member }) => parentsOf(member.path, destination)));
}

/** The directories on the way to a member, the destination first. */
function parentsOf(path: string, destination: string): string[] {
  const names = path.split("/").slice(0, -1);
  return [destination, ...names.map((_, index) => join(destination, ...names.slice(0, index + 1)))];
}

function removeIfEmpty(disk: Disk, directory: string): void {
  try {
    disk.remove(directory);
  } catch {
    // Something is in it, placed or put there by someone else.
  }
}
