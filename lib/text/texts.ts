import type { Message } from "../system/errors.ts";
import { en } from "./en.ts";
import { ja } from "./ja.ts";
import type { Language, MessageId, MessageParams } from "./message.ts";
import { textsFrom } from "./speaker.ts";

/** Speaks one language: turns catalogue entries into sentences. */
export interface Texts {
  /** The one that its sentences are in. */
  readonly language: Language;
  /** A sentence by its key. Parameters are put in as they are: what came from elsewhere is sanitised before. */
  say<Id extends MessageId>(
    id: Id,
    ...params: keyof MessageParams<Id> extends never ? [] : [MessageParams<Id>]
  ): string;
  /** The sentence of an error or of its hint, without a line feed. */
  sentence(message: Message): string;
  /** An elapsed time such as `27.7 h` or `27.7 時間`. */
  duration(seconds: number): string;
}

/** Speaks `language`, of both languages at hand. */
export function textsIn(language: Language): Texts {
  return textsFrom(language, { en, ja }[language]);
}
