/** Reading archives in tests: what was accepted, or the rule that was broken. */

import { createHash } from "node:crypto";
import { Refusal, type RefusalRule } from "../../lib/transfer/refusal.ts";
import { type TarLimits, TarReader } from "../../lib/transfer/tar_reader.ts";
import { parsePattern, type Pattern } from "../../lib/transfer/whitelist.ts";

export interface ReadFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
  readonly executable: boolean;
}

export type Reading = { readonly files: readonly ReadFile[] } | { readonly rule: RefusalRule };

/** A whitelist that lets every name through to the other rules. */
export const anything: readonly Pattern[] = Array.from(
  { length: 200 },
  (_, depth) => parsePattern(Array<string>(depth + 1).fill("*").join("/")),
);

export const wide: TarLimits = { maxMembers: 100_000, maxBytes: 200 * 2 ** 30 };

/** Reads `archive` in chunks of `chunk` bytes. Anything thrown that is no refusal goes on. */
export function read(
  archive: Uint8Array,
  { patterns = anything, limits = wide, chunk = 1000 }: {
    patterns?: readonly Pattern[];
    limits?: TarLimits;
    chunk?: number;
  } = {},
): Reading {
  const files: { path: string; size: number; executable: boolean; parts: Uint8Array[] }[] = [];
  const reader = new TarReader(patterns, limits, {
    member: (member) => void files.push({ ...member, parts: [] }),
    body: (bytes) => void files.at(-1)?.parts.push(bytes.slice()),
  });
  try {
    for (let at = 0; at < archive.length; at += chunk) reader.push(archive.subarray(at, at + chunk));
    reader.finish();
  } catch (error) {
    if (error instanceof Refusal) return { rule: error.rule };
    throw error;
  }
  return {
    files: files.map(({ parts, ...file }) => {
      const hash = createHash("sha256");
      for (const part of parts) hash.update(part);
      return { ...file, sha256: hash.digest("hex") };
    }),
  };
}

/** `accepted: a.txt b.txt` or the rule. */
export function verdict(archive: Uint8Array, options?: Parameters<typeof read>[1]): string {
  const reading = read(archive, options);
  return "rule" in reading
    ? reading.rule
    : `accepted: ${reading.files.map(({ path }) => path).join(" ")}`.trim();
}
