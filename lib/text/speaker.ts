import { format, type Language, type MessageId } from "./message.ts";
import type { Texts } from "./texts.ts";

/** Speaks `language`; only its own sentences are loaded, at a third of what both take at each start. */
export async function loadTexts(language: Language): Promise<Texts> {
  return textsFrom(language, language === "ja" ? (await import("./ja.ts")).ja : (await import("./en.ts")).en);
}

/** Speaks with `sentences`, those of `language`. */
export function textsFrom(language: Language, sentences: Readonly<Record<MessageId, string>>): Texts {
  const say = (id: MessageId, params: Readonly<Record<string, string | number>> = {}) =>
    format(sentences[id], params);
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
