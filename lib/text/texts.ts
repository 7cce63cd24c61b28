import type { Message } from "../system/errors.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";
import type { Language, MessageId, MessageParams } from "./message.ts";
import { textsFrom } from "./speaker.ts";

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

/** Speaks `language`, of both languages at hand. */
export function textsIn(language: Language): Texts {
  return textsFrom(language, { en, ja }[language]);
}
