/** `text` as one word of a POSIX shell, whatever it holds. @throws {TypeError} for NUL, which no argument can hold. */
export function shellQuote(text: string): string {
  if (text.includes("\u0000")) throw new TypeError("Cannot quote a NUL character for a shell");
  return /^[A-Za-z0-9_\/.:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Assignments at the head of a script: `name='value'` a line. The script below them stays constant text. */
export function shellAssignments(values: Readonly<Record<string, string | number>>): string {
  return Object.entries(values).map(([name, value]) => `${name}=${shellQuote(String(value))}\n`).join("");
}
