import type { Output } from "../system/context.ts";

const codes = { error: "31", warning: "33", hint: "36", good: "32", faint: "2", strong: "1" } as const;
export type Style = keyof typeof codes;

/** `text` in colour where `output` is a terminal and nobody asked for none (https://no-color.org). */
export function paint(output: Pick<Output, "isTerminal">, style: Style, text: string): string {
  return output.isTerminal && !Deno.noColor ? `\x1b[${codes[style]}m${text}\x1b[0m` : text;
}
