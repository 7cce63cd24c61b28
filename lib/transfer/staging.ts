import { join } from "node:path";
import type { Disk, DiskFile } from "./disk.ts";

/**
 * A private folder beside the runs, in which files wait until they are placed. It is on the same file system as they
 * will be, so that a rename is enough. Its `lock` is held as long as its process lives: one that is not held belongs
 * to a pull that was killed.
 */
export class Staging {
  readonly #disk: Disk;
  readonly #runs: string;
  readonly #folder: string;
  readonly #madeRuns: boolean;
  readonly #lock: DiskFile;

  /** @param runs the project's `runs` folder, made if it is missing */
  constructor(disk: Disk, runs: string, random: (length: number) => Uint8Array) {
    this.#disk = disk;
    this.#runs = runs;
    this.#madeRuns = disk.kind(runs) === undefined;
    if (this.#madeRuns) disk.makeDirectory(runs, 0o777);
    const name = Array.from(random(8), (byte) => byte.toString(16).padStart(2, "0")).join("");
    this.#folder = join(runs, folderPrefix + name);
    try {
      disk.makeDirectory(this.#folder, 0o700);
      this.#lock = disk.create(join(this.#folder, lockName), 0o666);
      tryLocking(() => this.#lock.lockNew());
    } catch (error) {
      this.#sweep();
      throw error;
    }
  }

  /** The permission bits that the user's umask takes away. Asking for it directly needs a permission of its own. */
  get umask(): number {
    const mode = this.#lock.mode();
    return mode === null ? 0 : 0o666 & ~mode;
  }

  /** Where the tree of an archive is made. */
  get tree(): string {
    return join(this.#folder, "tree");
  }

  /** Removes the folder and what is left in it, and `runs` if it was made for it and nothing came into it. */
  remove(): void {
    this.#lock.close();
    this.#sweep();
  }

  #sweep(): void {
    // A folder that cannot be removed now is removed by the next pull.
    attempt(() => this.#disk.removeTree(this.#folder));
    if (this.#madeRuns) attempt(() => this.#disk.remove(this.#runs));
  }
}

const folderPrefix = ".tias-remote-pull-";
const folderName = /^\.tias-remote-pull-[0-9a-f]{16}$/;
const lockName = "lock";

/**
 * Removes what killed pulls left in `runs`. Waits for one that is still at work, so that two pulls never place files
 * of one run at the same time.
 */
export async function removeLeftovers(disk: Disk, runs: string): Promise<void> {
  // `runs` itself may be a link to a larger disk: that is the user's own arrangement.
  if (disk.kind(runs) === undefined) return;
  for (const name of disk.list(runs)) {
    const folder = join(runs, name);
    if (!folderName.test(name) || disk.kind(folder) !== "directory") continue;
    await waitForOwner(disk, join(folder, lockName));
    attempt(() => disk.removeTree(folder));
  }
}

async function waitForOwner(disk: Disk, lock: string): Promise<void> {
  // A link in its place would have something else opened.
  if (disk.kind(lock) !== "file") return;
  let file: DiskFile;
  try {
    file = disk.open(lock);
  } catch {
    // Its owner has just finished.
    return;
  }
  try {
    await file.lock();
  } catch {
    // A file system without locks; then there is no telling, and pulls at the same time are rare.
  } finally {
    file.close();
  }
}

function tryLocking(lock: () => void): void {
  // A network file system may have no locks. Without one, another pull could take this one for dead; nothing worse.
  attempt(lock);
}

function attempt(action: () => void): void {
  try {
    action();
  } catch {
    // See the callers for why this may be passed over.
  }
}
