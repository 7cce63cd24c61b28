import stringWidth from "fast-string-width";

/** Columns that `text` takes on a terminal: two for a wide character, none for a colour sequence. */
export function width(text: string): number {
  return stringWidth(text);
}

/** `text` followed by as many spaces as bring it to `columns`. */
export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(Math.max(0, columns - width(text)));
}

/**
 * Lines whose cells stand under each other, two spaces apart, whatever the script of their text. The last cell of a
 * row is not padded. A column named in `right` is aligned to the right.
 */
export function alignRows(rows: readonly (readonly string[])[], right: readonly number[] = []): string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => widths[column] = Math.max(widths[column] ?? 0, width(cell)));
  }
  return rows.map((row) =>
    row.map((cell, column) => {
      const space = widths[column] ?? 0;
      if (right.includes(column)) return " ".repeat(space - width(cell)) + cell;
      return column === row.length - 1 ? cell : padEnd(cell, space);
    }).join("  ").trimEnd()
  );
}
