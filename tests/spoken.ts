import { reportError } from "../lib/cli/report.ts";
import { UserError } from "../lib/system/errors.ts";
import type { Language } from "../lib/text/message.ts";
import { textsIn } from "../lib/text/texts.ts";
import { BufferOutput } from "./test_context.ts";

/** An error as the program prints it, with its exit code: in English, then in Japanese. */
export async function spoken(fault: unknown): Promise<{ en: string; ja: string; exit: number }> {
  const print = async (language: Language) => {
    const err = new BufferOutput();
    const exit = await reportError(
      { err, interrupted: new AbortController().signal },
      textsIn(language),
      fault,
    );
    return { text: err.text, exit };
  };
  const [english, japanese] = await Promise.all([print("en"), print("ja")]);
  return { en: english.text, ja: japanese.text, exit: english.exit };
}

/** The `UserError` that `work` ends with; anything else is a failure of the test. */
export async function userErrorOf(work: () => unknown): Promise<UserError> {
  try {
    await work();
  } catch (fault) {
    if (fault instanceof UserError) return fault;
    throw fault;
  }
  throw new Error("Nothing was thrown");
}
