import * as z from "zod";
import { message } from "../system/errors.ts";
import { faultOfPattern } from "../transfer/whitelist.ts";
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

/** `configs/remote.yaml`. Unknown keys are refused at every level. */
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
}, { error: rule(message("config.allowed.map")) });

/** The settings as the file spells them, defaults filled in. */
export type RemoteConfig = z.infer<typeof remoteSchema>;
/** One entry of `servers:`. */
export type ServerConfig = RemoteConfig["servers"][number];
