import type { RecipeFile } from "../config/recipe.ts";
import type { TrainConfig } from "../config/train.ts";
import { type RunWishes, timeLimits, worstCost } from "../rent/begin.ts";
import { dollars, longestHours } from "../rent/cost.ts";
import { createRequest, watchdogOf } from "../rent/create_request.ts";
import { drive } from "../rent/driver.ts";
import type { Ledger } from "../rent/ledger.ts";
import { outcomeMessage } from "../rent/outcome_message.ts";
import { perform } from "../rent/perform.ts";
import { listForSending } from "../rent/preparation.ts";
import { rehearsal } from "../rent/rehearsal.ts";
import type { Context } from "../system/context.ts";
import { ExitCode, message, UserError } from "../system/errors.ts";
import { sizeText } from "../text/size.ts";
import type { Texts } from "../text/texts.ts";
import { exitOf } from "./rent_outcome.ts";
import { phaseLine, rentalTeller } from "./rent_view.ts";

/** What will be rented, what it can cost at most, and what will travel; unless `counted`, no local folder is read. */
export async function showPlan(
  world: Pick<Context, "err">,
  texts: Texts,
  { root, recipe }: RecipeFile,
  ledger: Ledger,
  wishes: RunWishes,
  counted = true,
): Promise<void> {
  const { say } = texts;
  const { plan, name } = ledger;
  const lines = [
    say("rent.plan.pod", {
      name,
      gpus: plan.candidates.map(({ gpu, attempts }) => `${gpu} ×${attempts}`).join(", "),
    }),
    say("rent.plan.cost", {
      cost: dollars(worstCost(recipe, wishes)),
      hours: longestHours(timeLimits(recipe, wishes)).toFixed(1),
      price: dollars(plan.hourlyCapUsd),
    }),
  ];
  for (const entry of recipe.send) lines.push(await sendLine(texts, root, entry, counted));
  lines.push(phaseLine(texts, ledger));
  await world.err.write(`${lines.join("\n")}\n`);
}

async function sendLine(
  texts: Texts,
  root: string,
  entry: TrainConfig["send"][number],
  counted: boolean,
): Promise<string> {
  if (!counted) return texts.say("rent.plan.to_send", { path: entry.from, to: entry.to });
  const files = (await listForSending(root, entry)).filter(({ kind }) => kind !== "directory");
  const size = sizeText(files.reduce((sum, file) => sum + file.size, 0));
  return texts.say("rent.plan.send", { path: entry.from, files: files.length, size });
}

/** `--dry-run`: the plan with everything in it, then every step against built-in fakes. */
export async function rehearse(
  world: Context,
  texts: Texts,
  file: RecipeFile,
  ledger: Ledger,
  wishes: RunWishes,
): Promise<ExitCode> {
  const { recipe } = file;
  const publicKey = recipe.ssh.public_key ?? `<${recipe.ssh.identity}.pub>`;
  const body = createRequest(recipe, {
    name: ledger.name,
    gpu: ledger.plan.candidates[0]?.gpu ?? "",
    publicKey,
    deadline: ledger.deadline,
    extensionSec: ledger.plan.extensionSec,
    form: "exec",
  });
  // The watchdog is one of its words; it is shown below as the text that it is.
  const shown = { ...body, cmd: ["<watchdog>", "tias-remote", ...recipe.start_command] };
  await world.out.write([
    texts.say("rent.plan.body"),
    JSON.stringify(shown, null, 2),
    texts.say("rent.plan.watchdog"),
    watchdogOf(recipe),
    "",
  ].join("\n"));
  await world.err.write(`${texts.say("rent.plan.rehearsal")}\n`);
  await showPlan(world, texts, file, ledger, wishes, false);
  const rehearsed = rehearsal(recipe, publicKey, world.clock.now(), () => Promise.resolve());
  const ended = await drive(
    {
      clock: rehearsed.clock,
      onSignal: world.onSignal,
      store: rehearsed.store,
      perform: (state, effect, signal) => perform(rehearsed, state, effect, signal),
      tell: rentalTeller(world, texts, recipe),
      conceal: (text) => text,
      unwritten: () => Promise.resolve(),
    },
    ledger,
    undefined,
  );
  if (exitOf(ended) !== ExitCode.Done) {
    throw new UserError(outcomeMessage(ended.outcome), { exit: exitOf(ended) });
  }
  await world.out.write(`${texts.sentence(message("rent.rehearsal.done", { folder: ended.home ?? "" }))}\n`);
  return ExitCode.Done;
}
