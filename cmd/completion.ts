import { buildCommand, type Command } from "@stricli/core";
import { proposeWords } from "../lib/cli/completion.ts";
import { completionScripts, type Shell, shellNames } from "../lib/cli/completion_scripts.ts";
import { asText, type CommonFlags, commonFlags } from "../lib/cli/flags.ts";
import { action, type ApplicationBuilder, type CliContext, main } from "../lib/cli/program.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";

type CompletionFlags = Pick<CommonFlags, "lang">;

type CompletionPlan =
  | { readonly kind: "script"; readonly shell: Shell }
  /** What those scripts ask at every Tab. The last word is the one at the cursor. */
  | { readonly kind: "words"; readonly words: readonly string[] };

/** @throws {UserError} for a shell that is none of ours */
function planCompletion([first = "", ...rest]: readonly string[]): CompletionPlan {
  if (first === "words") return { kind: "words", words: rest };
  if (first === "next") return { kind: "words", words: [...rest, ""] };
  const shell = shellNames.find((name) => name === first);
  if (shell !== undefined && rest.length === 0) return { kind: "script", shell };
  throw new UserError(
    message("completion.unknown_shell", { shell: sanitizeLine(first), shells: shellNames.join(", ") }),
    { exit: ExitCode.Usage, hint: message("completion.unknown_shell.hint") },
  );
}

async function executeCompletion(
  world: Context,
  texts: Texts,
  build: ApplicationBuilder,
  plan: CompletionPlan,
): Promise<ExitCode> {
  if (plan.kind === "script") {
    await world.out.write(completionScripts[plan.shell]);
    return ExitCode.Done;
  }
  const proposals = await proposeWords(world, texts, build, plan.words);
  await world.out.write(proposals.map(({ word, brief }) => `${word}\t${brief}\n`).join(""));
  return ExitCode.Done;
}

/** `completion`: what a shell must be told to complete command lines of `tias-remote`. */
export function completionCommand(texts: Texts): Command<CliContext> {
  return buildCommand<CompletionFlags, string[], CliContext>({
    docs: { brief: texts.say("completion.brief"), customUsage: ["bash", "zsh", "fish", "powershell"] },
    parameters: {
      flags: { lang: commonFlags(texts).lang },
      positional: {
        kind: "array",
        minimum: 1,
        parameter: {
          brief: texts.say("completion.argument"),
          parse: asText,
          placeholder: "SHELL",
          proposeCompletions: () => shellNames,
        },
      },
    },
    func: action(({ world, texts, build }, _flags: CompletionFlags, ...words: string[]) =>
      executeCompletion(world, texts, build, planCompletion(words))
    ),
  });
}

if (import.meta.main) await main("completion", completionCommand);
