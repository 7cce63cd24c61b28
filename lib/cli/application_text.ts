import {
  type ApplicationText,
  ArgumentScannerError,
  formatMessageForArgumentScannerError,
  text_en,
} from "@stricli/core";
import { UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";

/** Every word that the command line parser itself shows, in the language of `texts`. */
export function applicationText(program: string, texts: Texts): ApplicationText {
  const { say } = texts;
  const failure = (sentence: string) =>
    `${say("error.label")}: ${sentence}\n${say("error.hint")}: ${say("usage.help", { command: program })}`;
  const suggestion = (corrections: readonly string[]) =>
    corrections.length === 0 ? "" : ` (${
      say("usage.did_you_mean", {
        corrections: corrections.map((word) => `\`${word.replaceAll("`", "")}\``).join(", "),
      })
    })`;
  const flag = (name: string) => `--${name.replace(/^-+/, "")}`;

  return {
    ...text_en,
    keywords: { default: say("help.default"), separator: say("help.separator") },
    headers: {
      usage: say("help.usage"),
      aliases: say("help.aliases"),
      commands: say("help.commands"),
      flags: say("help.flags"),
      arguments: say("help.arguments"),
    },
    briefs: {
      help: say("help.help"),
      helpAll: say("help.help_all"),
      version: say("help.version"),
      argumentEscapeSequence: say("help.escape"),
    },
    noCommandRegisteredForInput: ({ input, corrections }) =>
      failure(say("usage.unknown_command", { input: sanitizeLine(input) }) + suggestion(corrections)),
    exceptionWhileParsingArguments: (fault) =>
      failure(
        fault instanceof ArgumentScannerError
          ? formatMessageForArgumentScannerError(fault, {
            FlagNotFoundError: ({ input, corrections }) =>
              say("usage.unknown_flag", { input: sanitizeLine(flag(input)) }) +
              suggestion(corrections.map(flag)),
            AliasNotFoundError: ({ input }) =>
              say("usage.unknown_flag", { input: sanitizeLine(`-${input}`) }),
            // Only flags have parsers that refuse anything: ours, and Stricli's own for a switch.
            ArgumentParseError: ({ externalFlagNameOrPlaceholder, input, exception }) =>
              exception instanceof UserError
                ? say("usage.bad_value", {
                  name: flag(externalFlagNameOrPlaceholder),
                  input: sanitizeLine(input),
                  problem: texts.sentence(exception.text),
                })
                : say("usage.negated_value", { name: flag(externalFlagNameOrPlaceholder) }),
            EnumValidationError: ({ externalFlagName, input, values }) =>
              say("usage.not_one_of", {
                name: flag(externalFlagName),
                input: sanitizeLine(input),
                values: values.join(", "),
              }),
            UnsatisfiedFlagError: ({ externalFlagName }) =>
              say("usage.missing_flag", { name: flag(externalFlagName) }),
            UnexpectedFlagError: ({ externalFlagName }) =>
              say("usage.unexpected_flag", { name: flag(externalFlagName) }),
            UnexpectedPositionalError: ({ input }) =>
              say("usage.unexpected_argument", { input: sanitizeLine(input) }),
            UnsatisfiedPositionalError: ({ placeholder }) =>
              say("usage.missing_argument", { name: placeholder }),
            InvalidNegatedFlagSyntaxError: ({ externalFlagName }) =>
              say("usage.negated_value", { name: flag(externalFlagName) }),
          })
          : String(fault),
      ),
  };
}
