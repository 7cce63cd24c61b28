import type { Context, Output } from "../system/context.ts";
import { ExitCode, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { paint } from "./paint.ts";

/** The one place where an error becomes text and an exit code. */
export async function reportError(
  world: Pick<Context, "err" | "interrupted">,
  texts: Texts,
  fault: unknown,
): Promise<ExitCode> {
  const { say } = texts;
  if (fault instanceof UserError) {
    await world.err.write(labelled(world.err, "error", say("error.label"), texts.sentence(fault.text)));
    for (const detail of fault.details) await world.err.write(`  ${sanitizeLine(detail)}\n`);
    if (fault.hint !== undefined) {
      await world.err.write(labelled(world.err, "hint", say("error.hint"), texts.sentence(fault.hint)));
    }
    return fault.exit;
  }
  if (world.interrupted.aborted) {
    await world.err.write(`${say("error.interrupted")}\n`);
    return ExitCode.Interrupted;
  }
  const stack = fault instanceof Error ? fault.stack ?? String(fault) : String(fault);
  await world.err.write(`${stack}\n`);
  await world.err.write(labelled(world.err, "error", say("error.label"), say("error.bug")));
  await world.err.write(labelled(world.err, "hint", say("error.hint"), say("error.bug.hint")));
  return ExitCode.Bug;
}

/** A warning on standard error; the work goes on. */
export async function warn(world: Pick<Context, "err">, texts: Texts, sentence: string): Promise<void> {
  await world.err.write(labelled(world.err, "warning", texts.say("warning.label"), sentence));
}

function labelled(
  output: Output,
  style: "error" | "warning" | "hint",
  label: string,
  sentence: string,
): string {
  return `${paint(output, style, `${label}:`)} ${sentence}\n`;
}
