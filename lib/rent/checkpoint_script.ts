import type { CheckpointFile } from "../hub/types.ts";
import type { RemoteScript } from "../ssh/connection.ts";
import { sectionOf, type Transcript } from "../ssh/framing.ts";
import { faultOfSegment } from "../transfer/member_name.ts";

// Each file is read twice, once for each hash; the second time comes from memory. A name with a line feed would break
// the list, so it ends it.
const listText = `
hash_files='
for file; do
  case $file in *"
"*) printf "problem name\\n"; continue ;; esac
  if [ -L "$file" ] || [ ! -f "$file" ]; then printf "problem type %s\\n" "$file"; continue; fi
  size=$(wc -c <"$file") && size=$((size)) && sha256=$(sha256sum <"$file") &&
    sha1=$({ printf "blob %s\\000" "$size"; cat "$file"; } | sha1sum) || { printf "problem unreadable %s\\n" "$file"; continue; }
  printf "file %s %s %s %s\\n" "$size" "\${sha256%% *}" "\${sha1%% *}" "$file"
done'
list_files() {
  cd "$checkpoint" 2>/dev/null || { printf 'problem missing\\n'; return 0; }
  command -v sha256sum >/dev/null && command -v sha1sum >/dev/null || { printf 'problem no_hash\\n'; return 0; }
  for entry in * .[!.]* ..?*; do
    if [ ! -e "$entry" ] && [ ! -L "$entry" ]; then continue; fi
    case "/$exclude/" in *"/$entry/"*) continue ;; esac
    find "./$entry" ! -type d -exec sh -c "$hash_files" sh {} + || return
  done
}
section files list_files
mark done
`;

/** Lists a checkpoint with sizes and hashes. `exclude` names entries of its folder that are left out. */
export function listScript(checkpoint: string, exclude: readonly string[]): RemoteScript {
  return { text: listText, values: { checkpoint, exclude: exclude.join("/") }, seconds: 3600 };
}

export type CheckpointListing =
  | { readonly ok: true; readonly files: readonly CheckpointFile[] }
  | { readonly ok: false; readonly problem: ListingProblem; readonly path: string };

export type ListingProblem =
  /** There is no such folder, or it may not be entered. */
  | "missing"
  /** Neither `sha256sum` nor `sha1sum` is installed. */
  | "no_hash"
  /** A link, a pipe or the like: a checkpoint has none. */
  | "type"
  | "unreadable"
  /** A name that not every system can hold. */
  | "name"
  | "empty"
  /** The answer was cut off or makes no sense. */
  | "not_understood";

/** Reads the answer of `listScript`. Total; a list with any fault is none. */
export function readListing(transcript: Transcript): CheckpointListing {
  const section = sectionOf(transcript, "files");
  if (!transcript.complete || section === undefined) return bad("not_understood");
  const files: CheckpointFile[] = [];
  const seen = new Set<string>();
  for (const line of section.text.split("\n")) {
    if (line === "") continue;
    const [, word, detail = ""] = /^problem (\w+) ?(.*)$/.exec(line) ?? [];
    if (word !== undefined) return bad(problemOf(word), detail.replace(/^\.\//, ""));
    const [, size, sha256, gitSha1, path] =
      /^file (\d{1,15}) ([0-9a-f]{64}) ([0-9a-f]{40}) \.\/(.+)$/.exec(line) ?? [];
    if (size === undefined || sha256 === undefined || gitSha1 === undefined || path === undefined) {
      return bad("not_understood");
    }
    if (path.split("/").some((segment) => faultOfSegment(segment) !== undefined)) return bad("name", path);
    // Also two names that are one where case does not count.
    const key = path.normalize("NFC").toLowerCase();
    if (seen.has(key)) return bad("name", path);
    seen.add(key);
    files.push({ path, size: Number(size), sha256, gitSha1 });
  }
  if (section.status !== 0) return bad("unreadable");
  return files.length === 0 ? bad("empty") : { ok: true, files };
}

function problemOf(word: string): ListingProblem {
  return (["missing", "no_hash", "type", "unreadable", "name"] as const).find((known) => known === word) ??
    "not_understood";
}

function bad(problem: ListingProblem, path = ""): CheckpointListing {
  return { ok: false, problem, path };
}

// Chunks, so that a broken connection still delivers what came before.
const sendText = `
size=$(wc -c <"$file" 2>/dev/null) || { mark section job; printf 'found=0\\n'; mark end job 0; mark done; exit 0; }
mark section job; size=$((size)); printf 'found=1\\nsize=%s\\n' "$size"; mark end job 0
at=$offset
while [ "$at" -lt "$size" ]; do
  count=$((size - at)); [ "$count" -le 67108864 ] || count=67108864
  mark data "$at" "$count"
  tail -c "+$((at + 1))" "$file" | head -c "$count"
  at=$((at + count))
done
mark done
`;

/**
 * Sends a file of the Pod from a byte on, as the events of a `JobStream`: a section `job` with `found` and `size`, then
 * `data`. For logs, and for a checkpoint that could not be uploaded.
 */
export function sendFileScript(file: string, offset: number): RemoteScript {
  return { text: sendText, values: { file, offset }, seconds: null };
}
