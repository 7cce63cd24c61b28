import { dirname, join } from "node:path";
import * as z from "zod";
import type { PodFile } from "./types.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import type { Ledger } from "./ledger.ts";

/** Where a run keeps what it must not forget. */
export interface LedgerStore {
  save(ledger: Ledger): Promise<void>;
  saveList(files: readonly PodFile[]): Promise<void>;
  loadList(): Promise<readonly PodFile[]>;
}

const unixTime = z.number().nonnegative();

// What a hand could have spoilt and a step would stumble over. The rest is ours and came from this program.
const ledgerSchema = z.looseObject({
  version: z.literal(1),
  log: z.string(),
  prefix: z.string(),
  name: z.string().min(1),
  begunAt: unixTime,
  phase: z.enum([
    "renting",
    "starting",
    "preparing",
    "training",
    "saving",
    "deleting",
    "downloading",
    "done",
  ]),
  next: z.looseObject({ do: z.string() }),
  plan: z.looseObject({
    candidates: z.array(z.looseObject({ gpu: z.string(), attempts: z.int(), pauseSec: z.number() })).min(1),
    limitSec: z.number(),
    graceSec: z.number(),
    extensionSec: z.number(),
    hourlyCapUsd: z.number(),
    steps: z.int(),
    expectedCheckpoint: z.int(),
    watchSec: z.number().positive(),
  }),
  pod: z.looseObject({ id: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/), rentedAt: unixTime }).nullable(),
  deadline: unixTime,
  extras: z.array(z.string().regex(/^[A-Za-z0-9_-]{1,64}$/)),
  outcome: z.looseObject({ kind: z.string() }).nullable(),
  receipts: z.array(z.looseObject({ podId: z.string() })),
  timeline: z.array(z.looseObject({ phase: z.string(), at: unixTime })),
});

const listSchema = z.array(z.object({
  path: z.string(),
  size: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  gitSha1: z.string().regex(/^[0-9a-f]{40}$/).optional(),
}));

/** The folder of a run's records below the project. */
export function runFolder(root: string, log: string): string {
  return join(root, "lab", log, "train");
}

function ledgerPath(folder: string): string {
  return join(folder, "lab_pod.json");
}

/**
 * The ledger of a folder, or `undefined` when nothing was rented from there.
 *
 * @throws {UserError} when there is one that makes no sense: it may be the only trace of a Pod
 */
export async function loadLedger(folder: string): Promise<Ledger | undefined> {
  const file = ledgerPath(folder);
  const text = await readIfThere(file);
  if (text === undefined) return undefined;
  try {
    return ledgerSchema.parse(JSON.parse(text)) as unknown as Ledger;
  } catch (cause) {
    throw new UserError(message("rent.ledger.broken", { file }), {
      exit: ExitCode.Failed,
      hint: message("rent.ledger.broken.hint"),
      cause,
    });
  }
}

/** All ledgers below the project, by log. */
export async function allLedgers(root: string): Promise<ReadonlyMap<string, Ledger>> {
  const ledgers = new Map<string, Ledger>();
  try {
    for await (const { name, isDirectory } of Deno.readDir(join(root, "lab"))) {
      const ledger = isDirectory ? await loadLedger(runFolder(root, name)) : undefined;
      if (ledger !== undefined) ledgers.set(name, ledger);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return ledgers;
}

export function fileStore(folder: string): LedgerStore {
  const list = join(folder, "checkpoint_list.json");
  return {
    save: (ledger) => writeDurably(ledgerPath(folder), `${JSON.stringify(ledger, null, 2)}\n`),
    saveList: (files) => writeDurably(list, `${JSON.stringify(files, null, 1)}\n`),
    loadList: async () => listSchema.parse(JSON.parse(await readIfThere(list) ?? "[]")) as readonly PodFile[],
  };
}

/** The whole text or none of it, on the disk itself when the promise is fulfilled. */
export async function writeDurably(file: string, text: string): Promise<void> {
  const folder = dirname(file);
  await Deno.mkdir(folder, { recursive: true });
  const part = `${file}.new`;
  const open = await Deno.open(part, { write: true, create: true, truncate: true, mode: 0o600 });
  try {
    const bytes = new TextEncoder().encode(text);
    for (let at = 0; at < bytes.length;) at += await open.write(bytes.subarray(at));
    await open.sync();
  } finally {
    open.close();
  }
  await Deno.rename(part, file);
  await syncFolder(folder);
}

/** A rename is on the disk only when its folder is. Windows has no such thing, and needs none. */
async function syncFolder(folder: string): Promise<void> {
  if (Deno.build.os === "windows") return;
  using open = await Deno.open(folder, { read: true });
  await open.sync();
}

async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}
