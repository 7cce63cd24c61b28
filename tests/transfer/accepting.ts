/** The client's half of a pull without a connection: judge, spool, place. */

import type { Disk } from "../../lib/transfer/disk.ts";
import { Backlog } from "../../lib/transfer/backlog.ts";
import { placeTree } from "../../lib/transfer/place.ts";
import { Spool } from "../../lib/transfer/spool.ts";
import { TarReader } from "../../lib/transfer/tar_reader.ts";
import type { Pattern } from "../../lib/transfer/whitelist.ts";
import { anything, wide } from "./reading.ts";

export interface Accepting {
  readonly patterns?: readonly Pattern[];
  /** Bytes held in memory; few, so that the files of the spool are used as well. */
  readonly memory?: number;
  readonly runs?: string;
  readonly run?: string;
  readonly chunk?: number;
}

let staged = 0;

/** Does to `archive` what a pull does to it. Whatever is thrown, the staging folder is gone. */
export function accept(disk: Disk, archive: Uint8Array, options: Accepting = {}): void {
  const { patterns = anything, memory = 300, runs = "/runs", run = "r", chunk = 4096 } = options;
  const random = () => Uint8Array.from({ length: 8 }, (_, index) => (++staged >> index) & 255);
  const spool = new Spool({ disk, runs, random });
  try {
    const reader = new TarReader(patterns, wide, spool);
    const backlog = new Backlog(reader, () => spool.useFiles(), memory);
    // As from a connection: a piece is good for the length of the call only.
    const piece = new Uint8Array(chunk);
    for (let at = 0; at < archive.length; at += chunk) {
      const part = archive.subarray(at, at + chunk);
      piece.set(part);
      backlog.push(piece.subarray(0, part.length));
      piece.fill(0xee);
    }
    backlog.finish();
    reader.finish();
    placeTree(disk, spool.stage(), `${runs}/${run}`);
  } finally {
    spool.remove();
  }
}
