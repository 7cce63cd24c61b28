/** Makes text that came from another machine safe to show: no control, bidirectional or invisible characters. */

// C0 and C1 controls, zero-width and bidirectional formatting characters, line and paragraph separators, BOM.
// deno-lint-ignore no-control-regex
const unsafe = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** One line for a table or a sentence: every unsafe character becomes a visible escape such as `\x1b`. */
export function sanitizeLine(text: string): string {
  return text.replaceAll(unsafe, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code < 256
      ? `\\x${code.toString(16).padStart(2, "0")}`
      : `\\u${code.toString(16).padStart(4, "0")}`;
  });
}

/** The last `count` non-empty lines of remote output, each sanitised. */
export function lastLines(text: string, count: number): string[] {
  return text.split(/\r?\n|\r/).filter((line) => line.trim() !== "").slice(-count).map(sanitizeLine);
}

// Line feed, carriage return and tab draw a log as its job meant it; colours (SGR) and "erase in line" are harmless.
// deno-lint-ignore no-control-regex
const harmless = /^\x1b\[[0-9;]*[mK]/;
// deno-lint-ignore no-control-regex
const partial = /^\x1b(\[[0-9;]{0,32})?$/;

/**
 * A filter for a job's log on its way to a terminal. Text, line ends, tabs and colours pass; everything that could
 * move the cursor elsewhere, set the title or answer queries is shown as a visible escape. State is kept between
 * chunks, so that a character or a sequence cut by the network is not torn.
 */
export class TerminalFilter {
  readonly #decoder = new TextDecoder();
  #held = "";

  push(chunk: Uint8Array): string {
    return this.#filter(this.#held + this.#decoder.decode(chunk, { stream: true }), false);
  }

  end(): string {
    return this.#filter(this.#held + this.#decoder.decode(), true);
  }

  #filter(text: string, last: boolean): string {
    this.#held = "";
    let result = "";
    for (let at = 0; at < text.length;) {
      const next = text.indexOf("\x1b", at);
      const plain = next === -1 ? text.slice(at) : text.slice(at, next);
      result += plain.replaceAll(unsafe, (c) => c === "\n" || c === "\r" || c === "\t" ? c : sanitizeLine(c));
      if (next === -1) break;
      const rest = text.slice(next, next + 40);
      const colour = harmless.exec(rest);
      if (colour !== null) {
        result += colour[0];
        at = next + colour[0].length;
      } else if (!last && next + rest.length === text.length && partial.test(rest)) {
        this.#held = text.slice(next);
        break;
      } else {
        result += "\\x1b";
        at = next + 1;
      }
    }
    return result;
  }
}
