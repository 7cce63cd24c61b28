import * as z from "zod";
import { message } from "../system/errors.ts";
import { boolean, listOf, rule, textLike, wholeNumber } from "./schema.ts";

const map = { error: rule(message("config.allowed.map")) };

/** A number within bounds, both included. */
function number(min: number, max: number): z.ZodType<number> {
  const error = rule(message("rent.config.number", { min, max }));
  return z.number({ error }).min(min, { error }).max(max, { error });
}

function oneOf<const Value extends string>(...values: readonly [Value, ...Value[]]): z.ZodType<Value> {
  return z.enum(values, { error: rule(message("rent.config.one_of", { values: values.join(", ") })) });
}

/** A regular expression with one group: what it found is the value. */
function pattern(): z.ZodType<string> {
  const error = rule(message("rent.config.pattern"));
  return z.string({ error }).refine((text) => {
    try {
      return /\((?!\?[:=!<])|\(\?</.test(text) && new RegExp(text, "u") !== undefined;
    } catch {
      return false;
    }
  }, { error });
}

// deno-lint-ignore no-control-regex
const line = textLike(/^[^\u0000-\u001f\u007f]+$/, message("rent.config.line"));
// Several lines of shell are a command as well.
const command = textLike(
  // deno-lint-ignore no-control-regex
  /^[^\u0000-\u0008\u000b-\u001f\u007f]*\S[^\u0000-\u0008\u000b-\u001f\u007f]*$/,
  message("rent.config.command"),
);
// deno-lint-ignore no-control-regex
const podPath = textLike(/^\/[^\u0000-\u001f\u007f]*$/, message("rent.config.pod_path"));
// deno-lint-ignore no-control-regex
const localPath = textLike(/^[^\u0000-\u001f\u007f"]+$/, message("rent.config.local_path"));
const memberName = textLike(/^[^/\\\s]+$/, message("rent.config.member"));
const url = textLike(/^https?:\/\/[^\s?#@]+[^\s?#@/]$/, message("rent.config.url"));
// The Pods of the user's older scripts are `p2m-<Log>` and `p2m-train-<Log>`; no name of ours may look like them.
const namePrefix = textLike(
  /^(?!p2m(-|$))[a-z0-9](?:[a-z0-9-]{0,30}[a-z0-9])?$/,
  message("rent.config.name_prefix"),
);
const repository = textLike(/^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/, message("rent.config.repository"));

const gpu = z.strictObject({
  id: line,
  attempts: wholeNumber(1, 1000),
  pause_sec: wholeNumber(1, 3600).default(30),
}, map);

const train = z.strictObject({
  /** Run by `bash -c` in `dir`, or by `sh` where there is no bash. */
  command,
  dir: podPath,
  /** Standard output and standard error of the command. */
  log: podPath,
  /** The folder that holds one numbered folder for each checkpoint. */
  checkpoints: podPath,
  steps: wholeNumber(1, 1_000_000_000),
  /** The number of the last checkpoint; default `steps - 1`. */
  expected_checkpoint: wholeNumber(0, 1_000_000_000).optional(),
  /** The file whose presence in a checkpoint says that it was written to its end. */
  commit_marker: memberName.default("_CHECKPOINT_METADATA"),
  progress: z.strictObject({
    style: oneOf("openpi", "tqdm", "pytorch").default("openpi"),
    step: pattern().optional(),
    loss: pattern().optional(),
  }, map).prefault({}),
}, map);

/** `configs/train.yaml`. Unknown keys are refused at every level. */
export const trainSchema = z.strictObject({
  name_prefix: namePrefix,
  api_url: url.default("https://api.runpod.io/v2"),
  image: line,
  /** The image's own start script, which starts sshd, as words. */
  start_command: z.array(line, { error: rule(message("rent.config.start")) }).min(1, {
    error: rule(message("rent.config.start")),
  }).default(["/start.sh"]),
  cloud: oneOf("SECURE", "COMMUNITY").default("SECURE"),
  gpus: z.array(gpu, { error: rule(message("rent.config.gpus")) }).min(1, {
    error: rule(message("rent.config.gpus")),
  }),
  /** GB of the container's disk. */
  disk_gb: wholeNumber(1, 100_000),
  volume: z.strictObject({ size_gb: wholeNumber(10, 100_000), path: podPath.default("/workspace") }, map),
  min_ram_per_gpu_gb: wholeNumber(1, 10_000).optional(),
  limit_hours: number(0.001, 240).default(5),
  watchdog_grace_min: number(0.01, 1440).default(60),
  upload_extension_hours: number(0.001, 48).default(3),
  /** Seconds between two looks at the training. */
  watch_sec: wholeNumber(1, 3600).default(300),
  max_hourly_usd: number(0.01, 1000),
  max_total_usd: number(0.01, 100_000),
  ssh: z.strictObject({
    /** The private key; its public half lies beside it as `.pub` and goes to the Pod as `PUBLIC_KEY`. */
    identity: localPath,
    /** That public half as text, where its file cannot be read. */
    public_key: textLike(
      /^(ssh|ecdsa|sk)-[\w@.-]+ [A-Za-z0-9+/=]+( [^\r\n]*)?$/,
      message("rent.config.public_key"),
    )
      .optional(),
    connect_timeout_sec: wholeNumber(1, 600).default(15),
  }, map),
  setup: listOf(command).default([]),
  send: listOf(z.strictObject({
    from: localPath,
    to: podPath,
    exclude: listOf(line).default([]),
  }, map)).default([]),
  prepare: command.optional(),
  train,
  hub: z.strictObject({
    repository,
    /** GB of private storage that one checkpoint takes there. */
    needs_gb: number(0, 100_000).default(15),
    /** Folders or files of a checkpoint that stay on the Pod. */
    exclude: listOf(memberName).default(["train_state"]),
  }, map),
  /** Where `<step>/` is placed; may lie outside the project. */
  local_dir: localPath,
  notification: boolean().default(true),
}, map);

/** The recipe of one kind of training, as the file spells it, defaults filled in. */
export type TrainConfig = z.infer<typeof trainSchema>;

/** The number of the checkpoint with which a training is complete. */
export function expectedCheckpoint({ train }: Pick<TrainConfig, "train">): number {
  return train.expected_checkpoint ?? train.steps - 1;
}
