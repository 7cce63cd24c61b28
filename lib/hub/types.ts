/** A file of a checkpoint as the Pod has it. */
export interface CheckpointFile {
  /** Relative to the checkpoint's folder, with `/`. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
  /** What git calls the blob: SHA-1 of `blob <size>\0` and the content. The Hub knows small files only by it. */
  readonly gitSha1: string;
}

/** A file of a repository at one commit, as the Hub lists it. */
export interface HubFile {
  readonly path: string;
  readonly size: number;
  /** SHA-256 of a file in large file storage; `null` for one that lies in git itself. */
  readonly sha256: string | null;
  /** Git's blob id: of the content, or for a file in large file storage of its pointer. */
  readonly oid: string;
}

/** Where a checkpoint lies on the Hub. */
export interface HubPlace {
  /** `owner/name`. */
  readonly repo: string;
  /** Folder inside the repository, such as `1499`; empty for its root. */
  readonly folder: string;
}

/** How the Hub is reached. */
export interface HubAccess {
  /** `https://huggingface.co` unless `HF_ENDPOINT` says otherwise; without a slash at the end. */
  readonly endpoint: string;
  readonly token: string;
}
