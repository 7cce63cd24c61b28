/**
 * The language between a script on a server and this program. A line `@@<nonce> …` is ours: the nonce is random for
 * each call and travels on standard input, so that no motd, `.bashrc` noise or file content can imitate it. A script
 * prints `begin` first and `done` last; between them each section stands as
 *
 *     @@<nonce> section NAME
 *     <raw output>
 *     @@<nonce> end NAME STATUS
 *
 * where the line feed in front of a marker belongs to the marker, so that a cut last line stays visible as cut.
 */

/** What a section's command printed and how it ended. A section that was cut off has the status `null`. */
export interface Section {
  readonly name: string;
  readonly text: string;
  readonly status: number | null;
}

export interface Transcript {
  readonly sections: readonly Section[];
  /** Whether the script came to its end. */
  readonly complete: boolean;
  /** Whether line ends came as CR LF: a pseudo-terminal was forced, and binary data would be altered. */
  readonly terminalForced: boolean;
}

/** Shell functions that print the frames; `$nonce` is assigned above them. */
export const framingScript = `
mark() { printf '\\n@@%s %s\\n' "$nonce" "$*"; }
section() {
  section_name=$1; shift
  mark section "$section_name"
  "$@" </dev/null; section_status=$?
  mark end "$section_name" $section_status
  return $section_status
}
mark begin
`;

/** Where the bytes after the `begin` line start, or -1 while it has not come yet. */
export function findBegin(text: string, nonce: string): number {
  const found = new RegExp(`@@${nonce} begin\\r?\\n`).exec(text);
  return found === null ? -1 : found.index + found[0].length;
}

/** Reads what came after the `begin` line. Never throws: what is no frame is no data. */
export function parseTranscript(body: string, nonce: string): Transcript {
  const sections: Section[] = [];
  const marker = new RegExp(`\\r?\\n@@${nonce} (section|end|done)([^\\r\\n]*)\\r?\\n`, "g");
  let open: { name: string; start: number } | undefined;
  let complete = false;
  // The line feed of the `begin` line also stands before the first marker.
  const text = `\n${body}`;
  for (let found = marker.exec(text); found !== null; found = marker.exec(text)) {
    const [whole, word, rest = ""] = found;
    const [, name = "", status = ""] = /^ ?(\S*) ?(\S*)/.exec(rest) ?? [];
    if (word === "section") {
      open = { name, start: found.index + whole.length };
    } else if (word === "end" && open?.name === name) {
      const code = /^\d{1,3}$/.test(status) ? Number(status) : null;
      sections.push({ name, text: text.slice(open.start, Math.max(open.start, found.index)), status: code });
      open = undefined;
    } else if (word === "done") {
      complete = true;
      break;
    }
    // Two markers may share a line feed: the end of one is the start of the next.
    marker.lastIndex -= 1;
  }
  if (open !== undefined) sections.push({ name: open.name, text: text.slice(open.start), status: null });
  const terminalForced = /\r\n@@/.test(text);
  if (!terminalForced) return { sections, complete, terminalForced };
  const unixLines = sections.map((section) => ({ ...section, text: section.text.replaceAll("\r\n", "\n") }));
  return { sections: unixLines, complete, terminalForced };
}

/** The named section, or `undefined` when the script never came to it. */
export function sectionOf(transcript: Transcript, name: string): Section | undefined {
  return transcript.sections.find((section) => section.name === name);
}
