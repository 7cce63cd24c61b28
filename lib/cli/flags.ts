import { ExitCode, message, UserError } from "../system/errors.ts";
import type { Texts } from "../text/texts.ts";
import { proposeServers } from "./proposals.ts";

/** What every command takes. */
export interface CommonFlags {
  readonly config?: string;
  /** Read before the command line is parsed; listed here for the help text. */
  readonly lang?: "ja" | "en";
}

/** @param file which configuration the verb reads: the servers', or the recipe of `train` */
export function commonFlags(texts: Texts, file: "remote" | "train" = "remote") {
  return {
    config: {
      kind: "parsed",
      parse: asText,
      brief: texts.say(file === "remote" ? "flag.config" : "flag.recipe"),
      placeholder: "PATH",
      optional: true,
    },
    lang: { kind: "enum", values: ["ja", "en"], brief: texts.say("flag.lang"), optional: true },
  } as const;
}

export function jsonFlag(texts: Texts) {
  return { kind: "boolean", brief: texts.say("flag.json"), optional: true, withNegated: false } as const;
}

export function serverFlag(texts: Texts) {
  return {
    kind: "parsed",
    parse: asText,
    brief: texts.say("flag.server"),
    placeholder: "NAME",
    optional: true,
    proposeCompletions: proposeServers,
  } as const;
}

export function observeFlag(texts: Texts) {
  return {
    kind: "parsed",
    parse: wholeNumberParser(0, 120),
    brief: texts.say("flag.observe"),
    placeholder: "SEC",
    optional: true,
  } as const;
}

export function asText(input: string): string {
  return input;
}

/** A parser of whole numbers within bounds, both included. `Number` alone would take `NaN`, `1e1` and the empty text. */
export function wholeNumberParser(min: number, max: number): (input: string) => number {
  return (input) => {
    const value = /^\d{1,9}$/.test(input) ? Number(input) : NaN;
    if (value >= min && value <= max) return value;
    throw new UserError(message("usage.whole_number", { min, max }), { exit: ExitCode.Usage });
  };
}

/** A switch that is off unless it is given. */
export function switchFlag(brief: string) {
  return { kind: "boolean", brief, optional: true, withNegated: false } as const;
}
