import type { en } from "./en.ts";

/** The two languages of every sentence a person reads. */
export type Language = "en" | "ja";

/**
 * A key of the catalogue.
 *
 * @internal Keys and placeholders may change with any version.
 */
export type MessageId = keyof typeof en;

type Placeholder<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholder<Rest>
  : never;

/**
 * The parameters that the sentence `Id` needs: one per `{placeholder}` of its English text.
 *
 * @internal Keys and placeholders may change with any version.
 */
export type MessageParams<Id extends MessageId> = Readonly<
  Record<Placeholder<(typeof en)[Id]>, string | number>
>;

/** A sentence of the catalogue, its `{placeholders}` replaced. Parameters are put in as they are. */
export function format(sentence: string, params: Readonly<Record<string, string | number>> = {}): string {
  return sentence.replaceAll(
    /\{(\w+)\}/g,
    (whole, name: string) => name in params ? String(params[name]) : whole,
  );
}

/**
 * The language to speak: an explicit wish (`--lang`, then `TIAS_REMOTE_LANG`), else the system's.
 * `locale` is `navigator.language`, which follows LC_ALL, LC_MESSAGES and LANG without any permission.
 */
export function chooseLanguage(wish: string | undefined, locale: string): Language {
  const tag = (wish !== undefined && wish !== "" ? wish : locale).toLowerCase();
  return tag === "ja" || tag.startsWith("ja-") || tag.startsWith("ja_") ? "ja" : "en";
}
