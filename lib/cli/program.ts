import { type Application, buildApplication, type Command, type CommandContext, run } from "@stricli/core";
import type { Context } from "../system/context.ts";
import { ExitCode } from "../system/errors.ts";
import { realContext } from "../system/real.ts";
import { chooseLanguage } from "../text/message.ts";
import { loadTexts } from "../text/speaker.ts";
import type { Texts } from "../text/texts.ts";
import { applicationText } from "./application_text.ts";
import { reportError } from "./report.ts";

/** The program's version; `deno.json` has the same, and a test compares them. */
export const version = "0.1.0";

/** What Stricli hands to a command: the world, the language, and where its outcome is kept. */
export interface CliContext extends CommandContext {
  readonly world: Context;
  readonly texts: Texts;
  /** The command line as it was typed; Stricli drops the `--`, which `run` must see. */
  readonly argv: readonly string[];
  /** The whole program, for `completion`. */
  readonly build: ApplicationBuilder;
  outcome: { exit: ExitCode; fault?: unknown };
}

/** A command in one language: help text is part of the command object. */
export type CommandMaker = (texts: Texts) => Command<CliContext>;

/**
 * Joins a command's work to Stricli: its result is the exit code, and whatever it throws is kept for the one place
 * that turns errors into text.
 */
export function action<Flags, Args extends readonly unknown[]>(
  work: (
    cli: Pick<CliContext, "world" | "texts" | "argv" | "build">,
    flags: Flags,
    ...args: Args
  ) => Promise<ExitCode>,
): (this: CliContext, flags: Flags, ...args: Args) => Promise<void> {
  return async function (flags, ...args) {
    // From here on Ctrl-C is the command's affair.
    void this.world.interrupted;
    try {
      this.outcome = { exit: await work(this, flags, ...args) };
    } catch (fault) {
      this.outcome = { exit: ExitCode.Bug, fault };
    }
  };
}

/** Runs a command as a program of its own: `deno run cmd/gpus.ts`. Makes the real world and ends the process. */
export async function main(name: string, maker: CommandMaker): Promise<void> {
  const world = realContext();
  Deno.exit(
    await runProgram(
      world,
      Deno.args,
      (texts) => buildCommandApplication(`tias-remote ${name}`, maker, texts),
    ),
  );
}

export function buildCommandApplication(
  name: string,
  maker: CommandMaker,
  texts: Texts,
): Application<CliContext> {
  return buildApplication(maker(texts), applicationSettings(name, texts));
}

export function applicationSettings(name: string, texts: Texts) {
  return {
    name,
    versionInfo: { currentVersion: version },
    scanner: { caseStyle: "allow-kebab-for-camel", allowArgumentEscapeSequence: true },
    documentation: {
      caseStyle: "convert-camel-to-kebab",
      disableAnsiColor: true,
      useAliasInUsageLine: false,
    },
    localization: { loadText: () => applicationText(name, texts) },
  } as const;
}

/** Makes a program in the language of `texts`; `argv` tells which of its commands need be whole. */
export type ApplicationBuilder = (
  texts: Texts,
  argv: readonly string[],
) => Application<CliContext> | Promise<Application<CliContext>>;

/** Parses the arguments, runs the command, prints what went wrong, and returns the exit code. */
export async function runProgram(
  world: Context,
  argv: readonly string[],
  build: ApplicationBuilder,
): Promise<number> {
  const texts = await loadTexts(
    chooseLanguage(languageFlag(argv) ?? world.env("TIAS_REMOTE_LANG"), globalThis.navigator?.language ?? ""),
  );
  const printed = { out: "", err: "" };
  const untouched: CliContext["outcome"] = { exit: ExitCode.Done };
  const context = {
    world,
    texts,
    argv,
    build,
    outcome: untouched,
    process: {
      stdout: { write: (text: string) => void (printed.out += text) },
      stderr: { write: (text: string) => void (printed.err += text) },
      exitCode: null as number | string | null,
    },
  };
  await run(await build(texts, argv), argv, context);
  // Stricli writes synchronously; help and usage errors are short, so they are passed on afterwards.
  if (printed.out !== "") await world.out.write(printed.out);
  if (printed.err !== "") await world.err.write(printed.err);

  const { exit, fault } = context.outcome;
  if (fault !== undefined) return await reportError(world, texts, fault);
  // Stricli's own codes are negative: no such command, wrong argument.
  const own = Number(context.process.exitCode ?? 0);
  if (own !== 0) return own === -10 ? ExitCode.Bug : ExitCode.Usage;
  // No command ran: it was help that was wanted, or the version.
  if (context.outcome === untouched) return exit;
  return world.interrupted.aborted ? ExitCode.Interrupted : exit;
}

/** `--lang` decides the language of the help text as well, so it is looked for before anything is parsed. */
function languageFlag(argv: readonly string[]): string | undefined {
  const end = argv.indexOf("--");
  const own = end === -1 ? argv : argv.slice(0, end);
  for (const [at, word] of own.entries()) {
    if (word === "--lang") return own[at + 1];
    if (word.startsWith("--lang=")) return word.slice("--lang=".length);
  }
  return undefined;
}
