import { dirname, join, resolve } from "node:path";
import { localPath, openRecipe, type RecipeFile } from "../config/recipe.ts";
import { hubAccess } from "../hub/access.ts";
import { hubFetch } from "../hub/http.ts";
import { hubAccount, repositoryState } from "../hub/repository.ts";
import { freePrivateBytes } from "../hub/storage.ts";
import { publicKey, runpodKey } from "../rent/credentials.ts";
import type { Ledger } from "../rent/ledger.ts";
import { allLedgers } from "../rent/ledger_file.ts";
import { answerOf, listAllPods, requireRightClock } from "../rent/preflight.ts";
import { RunpodClient } from "../rent/runpod_client.ts";
import type { Context } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";
import { faultFinding } from "./here_findings.ts";
import { orFault } from "./or_fault.ts";
import { type HubLook, type IdentityLook, type RunpodLook, trainFindings } from "./train_findings.ts";
import type { Group } from "./types.ts";

/** Looks at what `train` needs and rents nothing; no group for a project without `configs/train.yaml`. */
export async function examineTrain(world: Context, configFlag: string | undefined): Promise<Group[]> {
  const configFile = await recipeBeside(world.cwd(), configFlag);
  if (configFile === undefined) return [];
  const file = await orFault(() => openRecipe(world, configFile));
  if (file instanceof UserError) {
    const finding = faultFinding("configuration", file, message("doctor.train.why"));
    return [{ place: "train", name: null, findings: [finding] }];
  }
  const [runpod, hub, identity, runs] = await Promise.all([
    orFault(() => lookAtRunpod(world, file)),
    orFault(() => lookAtHub(world, file)),
    orFault(() => lookAtIdentity(world, file)),
    orFault(() => recordedRuns(file.root)),
  ]);
  return [{ place: "train", name: null, findings: trainFindings({ file, runpod, hub, identity, runs }) }];
}

/** The `train.yaml` beside the project's `remote.yaml`. Where the sandbox lets nobody look, there is none. */
async function recipeBeside(cwd: string, flag: string | undefined): Promise<string | undefined> {
  if (flag !== undefined) {
    const file = join(dirname(resolve(cwd, flag)), "train.yaml");
    return await isThere(file) ? file : undefined;
  }
  for (let folder = cwd;; folder = dirname(folder)) {
    const file = join(folder, "configs", "train.yaml");
    const there = await isThere(file);
    if (there) return file;
    const isEnd = there === undefined || dirname(folder) === folder;
    if (isEnd || await isThere(join(folder, "configs", "remote.yaml"))) return undefined;
  }
}

async function lookAtRunpod(world: Context, { recipe }: RecipeFile): Promise<RunpodLook> {
  const api = new RunpodClient(world, { base: recipe.api_url, key: await runpodKey(world) });
  const { host } = new URL(recipe.api_url);
  const list = await listAllPods(api, host);
  const clock = await orFault(() => requireRightClock(world.clock, list));
  const offers = await orFault(() => answerOf(() => api.listGpus(recipe.cloud), host));
  return { pods: list.pods, clock: clock ?? null, offers };
}

async function lookAtHub(world: Context, { recipe }: RecipeFile): Promise<HubLook> {
  const access = await hubAccess({
    HF_ENDPOINT: world.env("HF_ENDPOINT"),
    HF_TOKEN_PATH: world.env("HF_TOKEN_PATH"),
    HF_TOKEN: world.env("HF_TOKEN"),
  }, (path) => Deno.readTextFile(path));
  const fetch = hubFetch(world, access, { tries: 3, headSeconds: 30 });
  const account = await hubAccount(access, fetch);
  const { repository } = recipe.hub;
  const [state, freeBytes] = await Promise.all([
    orFault(() => repositoryState(access, fetch, repository)),
    freePrivateBytes(access, fetch, account, repository),
  ]);
  return { account, repository: state instanceof UserError ? state : state.kind, freeBytes };
}

async function lookAtIdentity(world: Context, { recipe, root }: RecipeFile): Promise<IdentityLook> {
  const file = localPath(world, root, recipe.ssh.identity);
  const half = await orFault(() => publicKey(recipe, file));
  return { file, there: await isThere(file), publicHalf: half instanceof UserError ? half : null };
}

async function recordedRuns(root: string): Promise<ReadonlyMap<string, Ledger>> {
  try {
    return await allLedgers(root);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    const file = join(root, "lab");
    throw cause instanceof Deno.errors.NotCapable
      ? new UserError(message("config.out_of_reach", { file }), {
        hint: message("rent.file.not_permitted.hint", { file }),
        cause,
      })
      : new UserError(message("config.unreadable", { file, problem: (cause as Error).message }), { cause });
  }
}

/** `undefined` where we may not look. */
async function isThere(file: string): Promise<boolean | undefined> {
  try {
    return (await Deno.stat(file)).isFile;
  } catch (error) {
    const { NotFound, NotADirectory } = Deno.errors;
    return error instanceof NotFound || error instanceof NotADirectory ? false : undefined;
  }
}
