import { join } from "node:path";
import type { Disk } from "./disk.ts";

type Kind = NonNullable<ReturnType<Disk["kind"]>>;

/** Something of another kind is where a file or its directory should be. */
export class Obstacle extends Error {
  override readonly name = "Obstacle";
  /** What is there: a link (a Windows junction too), a file instead of a directory, or the reverse. */
  readonly kind: Kind;

  constructor(kind: Kind) {
    super(`Cannot place the files: a ${kind} is in the way`);
    this.kind = kind;
  }
}

/** Placing stopped on its way: every file is either the new one or the old one, none is partial. */
export class PlacingFailed extends Error {
  override readonly name = "PlacingFailed";
  /** Whether something was placed already. */
  readonly begun: boolean;

  constructor(begun: boolean, cause: unknown) {
    super("Cannot place all files", { cause });
    this.begun = begun;
  }
}

/**
 * Gives the staged tree its final place. A run that is new here becomes visible as a whole, by one rename; into one
 * that exists, each file goes by a rename of its own, over the file of the same name. Before each rename everything
 * on the way from `destination` down is looked at and has to be a real directory; the rename itself replaces a link
 * rather than follow it. So nothing outside is ever written, and a kill leaves only whole files. (Deno has no rename
 * relative to an open directory, which would close the moment between the look and the rename as well.)
 *
 * @param tree the staged directory
 * @param destination the run's folder; the folder above it exists
 * @throws {Obstacle} before anything is placed
 * @throws {PlacingFailed} when something goes wrong after that
 */
export function placeTree(disk: Disk, tree: string, destination: string): void {
  const moves = Array.from(movesOf(disk, tree, destination, []));
  let begun = false;
  try {
    for (const { from, to, above } of moves) {
      for (const directory of above) {
        if (refuseObstacle(disk, directory, "directory") === undefined) throw new Deno.errors.NotFound();
      }
      disk.rename(from, to);
      begun = true;
    }
  } catch (cause) {
    throw new PlacingFailed(begun, cause);
  }
}

interface Move {
  readonly from: string;
  readonly to: string;
  /** The directories that lead to `to`, from the destination on. */
  readonly above: readonly string[];
}

/** The fewest renames that bring a staged directory to its place: whole directories where there are none yet. */
function* movesOf(disk: Disk, from: string, to: string, above: readonly string[]): Generator<Move> {
  if (refuseObstacle(disk, to, "directory") === undefined) {
    yield { from, to, above };
    return;
  }
  const inside = [...above, to];
  for (const name of disk.list(from)) {
    const source = join(from, name);
    const target = join(to, name);
    if (disk.kind(source) === "directory") {
      yield* movesOf(disk, source, target, inside);
    } else {
      refuseObstacle(disk, target, "file");
      yield { from: source, to: target, above: inside };
    }
  }
}

/** What is at `path`. @throws {Obstacle} when it is neither nothing nor the kind that is `wanted` */
export function refuseObstacle(
  disk: Disk,
  path: string,
  wanted: "file" | "directory",
): "file" | "directory" | undefined {
  const kind = disk.kind(path);
  if (kind !== undefined && kind !== wanted) throw new Obstacle(kind);
  return kind;
}
