import { proposeCompletions } from "@stricli/core";
import type { Context } from "../system/context.ts";
import { ExitCode } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import type { ApplicationBuilder, CliContext } from "./program.ts";

export interface Proposal {
  readonly word: string;
  readonly brief: string;
}

/**
 * What may stand in the place of the last of `words`, which may be empty or begun. Quiet: whatever goes wrong, there is
 * nothing to propose.
 */
export async function proposeWords(
  world: Context,
  texts: Texts,
  build: ApplicationBuilder,
  words: readonly string[],
): Promise<Proposal[]> {
  const [, flag, value] = /^(--[a-z-]+)=(.*)$/s.exec(words.at(-1) ?? "") ?? [];
  if (flag !== undefined && value !== undefined) {
    const proposals = await proposeWords(world, texts, build, [...words.slice(0, -1), flag, value]);
    return proposals.map(({ word, brief }) => ({ word: `${flag}=${word}`, brief }));
  }
  const context: CliContext = {
    world: { ...world, err: silent },
    texts,
    argv: words,
    build,
    outcome: { exit: ExitCode.Done },
    process: { stdout: { write() {} }, stderr: { write() {} } },
  };
  try {
    const found = await proposeCompletions(await build(texts, words), words, context);
    const proposals = found
      // Only `run` needs the separator.
      .filter(({ completion }) => completion !== "--" || words[0] === "run")
      .map(({ kind, completion, brief }) => ({ kind, word: completion, brief }));
    const values = proposals.filter(({ kind }) => kind !== "argument:flag");
    // Where something else can be told, flags wait until a dash asks for them.
    const wanted = words.at(-1) === "" && values.length > 0 ? values : proposals;
    return wanted.map(({ word, brief }) => ({ word, brief }));
  } catch {
    return [];
  }
}

const silent: Context["err"] = { isTerminal: false, columns: 80, write: () => Promise.resolve() };
