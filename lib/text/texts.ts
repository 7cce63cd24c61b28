import type { Message } from "../system/errors.ts";
import { format, type Language, type MessageId, type MessageParams } from "./message.ts";

/** Speaks one language: turns catalogue entries into sentences. */
export interface Texts {
  readonly language: Language;
  say<Id extends MessageId>(
    id: Id,
    ...params: keyof MessageParams<Id> extends never ? [] : [MessageParams<Id>]
  ): string;
  sentence(message: Message): string;
  /** An elapsed time such as `27.7 h` or `27.7 時間`. */
  duration(seconds: number): string;
}

export function textsIn(language: Language): Texts {
  const say = (id: MessageId, params: Readonly<Record<string, string | number>> = {}) =>
    format(language, id, params);
  return {
    language,
    say: say as Texts["say"],
    sentence: (message) => say(message.id, message.params),
    duration(seconds) {
      const [unit, value] = durationUnit(seconds);
      return say(`duration.${unit}`, { value });
    },
  };
}

/** The unit in which a span of seconds reads well, and its value: whole seconds, else one decimal. */
export function durationUnit(seconds: number): ["seconds" | "minutes" | "hours" | "days", string] {
  if (seconds < 60) return ["seconds", String(Math.floor(seconds))];
  if (seconds < 3600) return ["minutes", tenths(seconds / 60)];
  if (seconds < 72 * 3600) return ["hours", tenths(seconds / 3600)];
  return ["days", tenths(seconds / 86_400)];
}

// Cut, not rounded: 59.99 minutes is not yet an hour.
function tenths(value: number): string {
  return (Math.floor(value * 10) / 10).toFixed(1);
}
