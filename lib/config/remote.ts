import * as z from "zod";
import { message } from "../system/errors.ts";
import { faultOfPattern } from "./pattern.ts";
import { anyWholeNumber, boolean, listOf, rule, textLike, wholeNumber } from "./schema.ts";

const name = textLike(/^[A-Za-z0-9_-]+$/, message("config.allowed.server_name"));

// A leading dash would be read as an option by ssh; white space and control characters are in no host or user name.
const sshWord = textLike(
  // deno-lint-ignore no-control-regex
  /^[^-\s\u0000-\u001f\u007f@][^\s\u0000-\u001f\u007f]*$/,
  message("config.allowed.ssh_word"),
);
// deno-lint-ignore no-control-regex
const remotePath = textLike(/^(?!~[^/])(?!-)[^\u0000-\u001f\u007f]+$/, message("config.allowed.remote_path"));
// `ssh -F` takes `~` for a folder of that name, and the home folder is nothing that this program may ask for.
// deno-lint-ignore no-control-regex
const localPath = textLike(/^(?!~)[^\u0000-\u001f\u007f]+$/, message("config.allowed.local_path"));
const suffix = textLike(/^\.[^/\\\s]+$/, message("config.allowed.suffix"));
const whitelistPattern = z.string({ error: rule(message("config.allowed.whitelist")) })
  .refine((pattern) => faultOfPattern(pattern) === undefined, {
    error: rule(message("config.allowed.whitelist")),
  });
const folder = textLike(/^[^/\\]+\/$|^\/[^/\\]+\/$/, message("config.allowed.exclude"));
const everyWholeNumber = Number.MAX_SAFE_INTEGER;

const gpuFree = z.strictObject({
  max_memory_used_mib: wholeNumber(0, everyWholeNumber).default(1024),
  max_utilization_percent: wholeNumber(0, 100).default(10),
  observe_sec: wholeNumber(0, 120).default(10),
  sample_interval_ms: wholeNumber(100, 5000).default(500),
}, { error: rule(message("config.allowed.map")) });

const server = z.strictObject({
  name,
  address: sshWord,
  user: sshWord,
  priority: anyWholeNumber(),
  remote_dir: remotePath,
  data_dir: remotePath,
  uv: remotePath,
  data_ready: boolean(),
}, { error: rule(message("config.allowed.map")) });

const pull = z.strictObject({
  whitelist: listOf(whitelistPattern).default([
    "figures/*.png",
    "config.yaml",
    "metrics.json",
    "metrics.csv",
    "summary.json",
  ]),
  checkpoints: listOf(whitelistPattern).default(["checkpoints/*.pt"]),
  max_members: wholeNumber(1, everyWholeNumber).default(100_000),
  max_gib: wholeNumber(1, 1_000_000).default(200),
}, { error: rule(message("config.allowed.map")) });

const push = z.strictObject({
  exclude: listOf(folder).default([]),
  max_file_mib: wholeNumber(1, everyWholeNumber).default(50),
  data_suffixes: listOf(suffix).default([
    ".dcm",
    ".nii",
    ".nii.gz",
    ".h5",
    ".npz",
    ".npy",
    ".parquet",
    ".mp4",
    ".avi",
  ]),
}, { error: rule(message("config.allowed.map")) });

const jobs = z.strictObject({
  tmux_socket: textLike(/^[A-Za-z0-9_.-]+$/, message("config.allowed.tmux_socket")).default("tias-remote"),
}, { error: rule(message("config.allowed.map")) });

/** Checks `configs/remote.yaml`. Unknown keys are refused at every level. */
export const remoteSchema = z.strictObject({
  jump_host: sshWord.nullable().default(null),
  connect_timeout_sec: wholeNumber(1, 3600).default(15),
  ssh_config: localPath.optional(),
  gpu_free: gpuFree.prefault({}),
  servers: z.array(server, { error: rule(message("config.allowed.servers")) })
    .min(1, { error: rule(message("config.allowed.servers")) })
    .superRefine((servers, context) => {
      servers.forEach(({ name }, index) => {
        if (servers.findIndex((other) => other.name === name) < index) {
          context.addIssue({
            code: "custom",
            path: [index, "name"],
            message: rule(message("config.allowed.unique_name")),
          });
        }
      });
    }),
  pull: pull.prefault({}),
  push: push.prefault({}),
  jobs: jobs.prefault({}),
}, { error: rule(message("config.allowed.map")) }) satisfies z.ZodType<RemoteConfig>;

/** The settings as the file spells them, defaults filled in. */
export interface RemoteConfig {
  /** Host, `user@host` or alias of ssh's configuration to go through; null connects directly. */
  readonly jump_host: string | null;
  /** Seconds for each hop. */
  readonly connect_timeout_sec: number;
  /** A file for `ssh -F` in the place of `~/.ssh/config`; relative to the project. */
  readonly ssh_config?: string | undefined;
  /** When a GPU counts as free, and how long it is watched for that. */
  readonly gpu_free: {
    /** Memory in use must stay below it throughout. */
    readonly max_memory_used_mib: number;
    /** Utilisation must stay below it throughout. */
    readonly max_utilization_percent: number;
    /** How long to watch, 0 to 120; 0 is one instant reading. */
    readonly observe_sec: number;
    /** From one sample to the next, 100 to 5000. */
    readonly sample_interval_ms: number;
  };
  /** At least one, no name twice. */
  readonly servers: readonly ServerConfig[];
  /** What may come back. */
  readonly pull: {
    /** Patterns relative to the run; `*` and `?` stay inside one folder. */
    readonly whitelist: readonly string[];
    /** More patterns, for `--with-checkpoints`. */
    readonly checkpoints: readonly string[];
    /** An archive with more entries is refused. */
    readonly max_members: number;
    /** An archive with more in it is refused; 1 GiB is 2³⁰ bytes. */
    readonly max_gib: number;
  };
  /** What may leave. */
  readonly push: {
    /** Folders that stay here beside the built-in ones: `cache/` at any depth, `/scratch/` at the root. */
    readonly exclude: readonly string[];
    /** A larger file stops the push. */
    readonly max_file_mib: number;
    /** Endings of data formats, with their dots; a file with one stops the push. */
    readonly data_suffixes: readonly string[];
  };
  /** How jobs are kept alive. */
  readonly jobs: {
    /** For `tmux -L`, so that nobody's own sessions are touched. */
    readonly tmux_socket: string;
  };
}

/** One entry of `servers:`. */
export interface ServerConfig {
  /** Letters, digits, `_` and `-`; what `--server` takes. */
  readonly name: string;
  /** For ssh, as seen from the jump host where there is one. */
  readonly address: string;
  /** The account on the server; jobs run as it. */
  readonly user: string;
  /** Smaller is preferred; equals are taken in the order of the file. */
  readonly priority: number;
  /** Where the code goes; absolute, with `~/`, or relative to the home folder. */
  readonly remote_dir: string;
  /** Where the clinical data lies; jobs get it as `TIAS_DATA_ROOT`. Nothing but `doctor` looks whether it is there. */
  readonly data_dir: string;
  /** Path of the program that every job is started by, spelt like `remote_dir`. */
  readonly uv: string;
  /** Whether the clinical data is in place there; without it `run` passes the server over, but for `--no-data`. */
  readonly data_ready: boolean;
}
