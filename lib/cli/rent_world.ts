import { dirname, isAbsolute, join, relative } from "node:path";
import { localPath, type RecipeFile } from "../config/recipe.ts";
import { hubAccess } from "../hub/access.ts";
import type { HubAccess } from "../hub/types.ts";
import { publicKey, runpodKey } from "../rent/credentials.ts";
import { drive } from "../rent/driver.ts";
import type { Event } from "../rent/event.ts";
import { hubSide } from "../rent/hub_home.ts";
import type { Ledger } from "../rent/ledger.ts";
import { fileStore, runFolder, writeDurably } from "../rent/ledger_file.ts";
import { reportOf } from "../rent/ledger_report.ts";
import { perform, type RentalWorld } from "../rent/perform.ts";
import { PodConnection } from "../rent/pod_connection.ts";
import { readTroubles } from "../rent/progress.ts";
import { reportHtml, timeText } from "../rent/report.ts";
import { resultText } from "../rent/result.ts";
import { RunpodClient } from "../rent/runpod_client.ts";
import { SshPod } from "../rent/ssh_pod.ts";
import type { Context } from "../system/context.ts";
import { message, UserError } from "../system/errors.ts";
import { notify } from "../system/notify.ts";
import type { Texts } from "../text/texts.ts";
import { localTimeZone } from "./rent_outcome.ts";
import { rentalTeller } from "./rent_view.ts";
import { warn } from "./report.ts";

/** The keys and places that a run needs, found and looked at before anything costs money. */
export interface RentalMeans {
  readonly file: RecipeFile;
  readonly key: string;
  readonly identity: string;
  /** Empty where no Pod is to be rented. */
  readonly publicKey: string;
  /** `null` where nothing is to be uploaded. */
  readonly hub: HubAccess | null;
  readonly localDir: string;
}

/** @throws {UserError} for a key, token or file that is missing or cannot be read */
export async function trainingMeans(world: Context, file: RecipeFile): Promise<RentalMeans> {
  const means = await stoppingMeans(world, file);
  const hub = await hubAccess({
    HF_ENDPOINT: world.env("HF_ENDPOINT"),
    HF_TOKEN_PATH: world.env("HF_TOKEN_PATH"),
    HF_TOKEN: world.env("HF_TOKEN"),
  }, (path) => Deno.readTextFile(path));
  return { ...means, publicKey: await publicKey(file.recipe, means.identity), hub };
}

/** What `stop` and `sweep` need. */
export async function stoppingMeans(world: Context, file: RecipeFile): Promise<RentalMeans> {
  return {
    file,
    key: await runpodKey(world),
    identity: localPath(world, file.root, file.recipe.ssh.identity),
    publicKey: "",
    hub: null,
    localDir: localPath(world, file.root, file.recipe.local_dir),
  };
}

export function runpodClient(world: Context, { key, file }: Pick<RentalMeans, "key" | "file">): RunpodClient {
  return new RunpodClient(world, { base: file.recipe.api_url, key });
}

/** The real world of one run. */
export function rentalWorld(world: Context, texts: Texts, means: RentalMeans, ledger: Ledger): RentalWorld {
  const { file, hub, localDir } = means;
  const { recipe, root } = file;
  const folder = runFolder(root, ledger.log);
  const connection = new PodConnection(world, { recipe, folder, identity: means.identity });
  const access = hub ?? { endpoint: "", token: "" };
  return {
    clock: world.clock,
    recipe,
    publicKey: means.publicKey,
    api: runpodClient(world, means),
    pod: new SshPod(world, texts, connection, { recipe, root, folder, localDir, hub: access }),
    hub: hubSide(world, texts, { recipe, access, localDir, by: ledger.name }),
    store: fileStore(folder),
    finish: (ended) => finish(world, texts, means, folder, ended),
  };
}

/** Goes through the run to its end in the real world, and keeps its keys out of everything that is written. */
export async function runRental(
  world: Context,
  texts: Texts,
  means: RentalMeans,
  ledger: Ledger,
  first: Event | undefined,
): Promise<Ledger> {
  const rental = rentalWorld(world, texts, means, ledger);
  const secrets = [means.key, means.hub?.token ?? ""].filter((secret) => secret !== "");
  return await drive(
    {
      clock: world.clock,
      onSignal: world.onSignal,
      store: rental.store,
      perform: (state, effect, signal) => perform(rental, state, effect, signal),
      tell: rentalTeller(world, texts, means.file.recipe),
      conceal: (text) => secrets.reduce((safe, secret) => safe.replaceAll(secret, "***"), text),
      unwritten: (fault) =>
        warn(
          world,
          texts,
          texts.say("rent.unwritten", { problem: fault instanceof Error ? fault.message : "?" }),
        ),
    },
    ledger,
    first,
  );
}

/** Writes result and report, and shows a notification. None of it may keep a run from ending. */
async function finish(
  world: Context,
  texts: Texts,
  means: RentalMeans,
  folder: string,
  ledger: Ledger,
): Promise<void> {
  const { recipe } = means.file;
  const ended = world.clock.now();
  const timeZone = localTimeZone();
  const trainLog = await textOf(join(folder, "train.log"));
  const told = reportOf(texts, ledger, {
    hubPlace: `${recipe.hub.repository} (${ledger.plan.expectedCheckpoint})`,
    trainLog,
    gpuCsv: await textOf(join(folder, "gpu_train.csv")),
    style: recipe.train.progress,
    now: ended,
    timeZone,
  });
  const left = ledger.unproved ? [texts.say("rent.left", { detail: ledger.trouble ?? "" })] : [];
  const note = recipe.notification
    ? await notify(world, `tias-remote: ${ledger.log}`, left[0] ?? told.outcome.text)
    : undefined;
  const said = ledger.outcome?.kind === "training_failed" ? readTroubles(trainLog, 5) : [];
  const notes = [...left, ...told.notes, ...said, ...(note === undefined ? [] : [texts.sentence(note)])];
  const time = timeText(ended, timeZone).replace(" ", "_").replaceAll(":", "-");
  const file = join(folder, `result_${time}.txt`);
  try {
    await writeDurably(file, resultText(texts, { ...told, notes }));
    await writeDurably(join(folder, `report_${time}.html`), reportHtml(texts, { ...told, notes }));
    await world.err.write(`${texts.say("rent.result", { file })}\n`);
  } catch (fault) {
    await warn(world, texts, texts.say("rent.unwritten", { problem: (fault as Error).message }));
  }
}

async function textOf(file: string): Promise<string> {
  return await Deno.readTextFile(file).catch(() => "");
}

/**
 * Makes sure that the checkpoint can be placed: the folder inside the project is made, one outside must be there.
 *
 * @throws {UserError} when it cannot be written; the hint names the one place where an outside folder is declared
 */
export async function requireLocalDir(root: string, folder: string): Promise<void> {
  const inside = !relative(root, folder).startsWith("..") && !isAbsolute(relative(root, folder));
  try {
    if (inside) await Deno.mkdir(folder, { recursive: true });
    const probe = await Deno.makeTempDir({ dir: folder, prefix: ".incoming_check_" });
    await Deno.remove(probe);
  } catch (cause) {
    const hint = cause instanceof Deno.errors.NotCapable
      ? message("rent.outside.hint", { folder: inside ? dirname(folder) : folder })
      : message("rent.local.missing.hint");
    throw new UserError(message("rent.local.missing", { folder, problem: (cause as Error).message }), {
      hint,
      cause,
    });
  }
}
