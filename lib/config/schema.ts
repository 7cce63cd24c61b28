import * as z from "zod";
import { type Message, message } from "../system/errors.ts";

/**
 * Zod keeps one text per failed rule; ours must be a catalogue entry in either language. It travels through zod as a
 * token and is turned back into a `Message` by `readRule`.
 */
const token = "\u0000rule:";

/** The text to give to zod for a rule: what is allowed here. */
export function rule(allowed: Message): string {
  return token + JSON.stringify(allowed);
}

/** The rule behind a zod issue's text, if the schema named one. */
export function readRule(text: string): Message | undefined {
  return text.startsWith(token) ? JSON.parse(text.slice(token.length)) as Message : undefined;
}

/** A whole number within bounds, both included. */
export function wholeNumber(min: number, max: number): z.ZodType<number> {
  const error = rule(
    max === Number.MAX_SAFE_INTEGER
      ? message("config.allowed.at_least", { min })
      : message("config.allowed.between", { min, max }),
  );
  return z.int({ error }).min(min, { error }).max(max, { error });
}

/** Any whole number. */
export function anyWholeNumber(): z.ZodType<number> {
  return z.int({ error: rule(message("config.allowed.whole_number")) });
}

export function boolean(): z.ZodType<boolean> {
  return z.boolean({ error: rule(message("config.allowed.boolean")) });
}

/** Text that matches `pattern`; `allowed` says in words what that means. */
export function textLike(pattern: RegExp, allowed: Message): z.ZodType<string> {
  const error = rule(allowed);
  return z.string({ error }).regex(pattern, { error });
}

/** A list of `item`, possibly empty. */
export function listOf<T>(item: z.ZodType<T>): z.ZodType<T[]> {
  return z.array(item, { error: rule(message("config.allowed.list")) });
}
