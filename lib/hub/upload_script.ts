import type { HubFile, HubPlace } from "./types.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { uploaderPython } from "./uploader_python.ts";

// A Python that has the library: the training's own, the system's, or one that uv or pip makes up now.
const uploadCommandText = `
usable() { command -v "$1" >/dev/null 2>&1 && "$1" -c 'import huggingface_hub; huggingface_hub.HfApi.list_repo_tree' 2>/dev/null; }
for python in .venv/bin/python python3 python; do
  if usable "$python"; then exec "$python" -c "$TIAS_UPLOADER"; fi
done
if command -v uv >/dev/null 2>&1; then
  exec uv run --no-project --with huggingface_hub -- python -c "$TIAS_UPLOADER"
fi
python3 -m venv --system-site-packages "$TIAS_UPLOAD_VENV" && "$TIAS_UPLOAD_VENV/bin/pip" install --quiet huggingface_hub
exec "$TIAS_UPLOAD_VENV/bin/python" -c "$TIAS_UPLOADER"
`;

export interface UploadOrder extends HubPlace {
  /** The checkpoint's folder on the Pod. */
  readonly checkpoint: string;
  /** Entries of that folder that stay. */
  readonly exclude: readonly string[];
  /** Seconds after which no new attempt begins. */
  readonly seconds: number;
  readonly endpoint: string;
  /** Folder for a Python environment, should there be none with the library. */
  readonly scratch: string;
}

/** An upload as a task of the Pod: its command and its environment. The token goes its own way, by a file. */
export function uploadTask(
  order: UploadOrder,
  { attempts = 12, pause = 2 }: { attempts?: number; pause?: number } = {},
): { readonly command: string; readonly env: Readonly<Record<string, string>> } {
  const { repo, folder, checkpoint, exclude, seconds } = order;
  if (folder === "") throw new TypeError("Cannot upload to the root of a repository: name a folder");
  return {
    command: uploadCommandText,
    env: {
      HF_ENDPOINT: order.endpoint,
      TIAS_UPLOAD: JSON.stringify({ repo, folder, checkpoint, exclude, seconds, attempts, pause }),
      TIAS_UPLOADER: uploaderPython,
      TIAS_UPLOAD_VENV: `${order.scratch}/upload-venv`,
    },
  };
}

export type UploadOutcome =
  | {
    readonly kind: "uploaded" | "already_there";
    readonly commit: string;
    /** Files of the folder at that commit. */
    readonly count: number;
    /** As the Hub lists them, relative to the folder; empty when they are more than 500. */
    readonly files: readonly HubFile[];
  }
  | {
    readonly kind: UploadRefusal;
    /** What the Hub or Python said; sanitised, without the token. */
    readonly detail: string;
    /** The first files that it is about. */
    readonly paths: readonly string[];
  };

export type UploadRefusal =
  /** The repository is not private: nothing was sent (or, if it was opened meanwhile, it must be closed by hand). */
  | "not_private"
  /** Other content is there already: nothing was overwritten. */
  | "different"
  | "storage_full"
  /** The token may not do this, or is unknown. */
  | "refused"
  | "no_token"
  | "no_library"
  /** The checkpoint holds a link. */
  | "link"
  | "empty"
  /** The Hub did not take every file. */
  | "incomplete"
  /** Every attempt failed. */
  | "failed"
  /** The program ended without its last line. */
  | "no_result";

const refusals: readonly UploadRefusal[] = [
  "not_private",
  "different",
  "storage_full",
  "refused",
  "no_token",
  "no_library",
  "link",
  "empty",
  "incomplete",
  "failed",
];

/** Reads the last result line of the upload's log. Total: anything else is `no_result`. */
export function readUploadOutcome(log: string): UploadOutcome {
  const line = log.split(/\r?\n/).findLast((each) => each.startsWith("TIAS_UPLOAD_RESULT {"));
  const result = parseObject(line?.slice("TIAS_UPLOAD_RESULT ".length));
  const { outcome, commit, count, files } = result;
  if (outcome === "uploaded" || outcome === "already_there") {
    const listed = Array.isArray(files) ? files.map(readHubFile) : [undefined];
    const whole = listed.every((file) => file !== undefined);
    if (typeof commit === "string" && /^[0-9a-f]{40}$/.test(commit) && typeof count === "number" && whole) {
      return { kind: outcome, commit, count, files: listed.filter((file) => file !== undefined) };
    }
  }
  const kind = refusals.find((known) => known === outcome) ?? "no_result";
  const detail = typeof result["detail"] === "string" ? result["detail"] : lastWords(log);
  const paths = Array.isArray(result["paths"])
    ? result["paths"].map((path) => sanitizeLine(String(path)))
    : [];
  return { kind, detail: sanitizeLine(detail), paths };
}

function readHubFile(value: unknown): HubFile | undefined {
  const { path, size, oid, sha256 } = Object(value);
  const known = typeof path === "string" && typeof size === "number" && typeof oid === "string" &&
    (sha256 === null || typeof sha256 === "string");
  return known ? { path, size, oid, sha256 } : undefined;
}

function parseObject(text: string | undefined): Readonly<Record<string, unknown>> {
  try {
    return Object(JSON.parse(text ?? "{}"));
  } catch {
    return {};
  }
}

function lastWords(log: string): string {
  return log.trimEnd().split(/\r?\n/).at(-1)?.slice(0, 500) ?? "";
}
