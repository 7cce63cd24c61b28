import type { Project } from "../config/project.ts";
import type { Observation } from "../gpu/probe.ts";
import type { Wish } from "../gpu/select.ts";
import { reservedVariables } from "../job/start.ts";
import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { requireJobName } from "./job.ts";
import { serversNamed } from "./servers.ts";
import { observationOf } from "./survey.ts";

/** What was typed behind `run`. */
export interface RunFlags {
  readonly name?: string;
  readonly server?: string;
  readonly gpu?: number;
  readonly force?: boolean;
  readonly noData?: boolean;
  readonly noPush?: boolean;
  readonly observe?: number;
  readonly env?: readonly string[];
  readonly dryRun?: boolean;
}

/** What it means. */
export interface RunPlan {
  readonly project: Project;
  readonly job: string;
  readonly command: readonly [string, ...string[]];
  readonly env: readonly (readonly [name: string, value: string])[];
  readonly wish: Wish;
  readonly push: boolean;
  readonly observation: Observation;
  readonly dryRun: boolean;
}

/**
 * Checks everything that can be checked before a server is asked.
 *
 * @param argv the raw command line: the `--` must be in it, or a flag of the command would be taken for one of ours
 * @throws {UserError} exit code 2
 */
export function planRun(
  flags: RunFlags,
  command: readonly string[],
  argv: readonly string[],
  project: Project,
): RunPlan {
  const [program, ...rest] = requireCommand(command, argv);
  if (flags.name === undefined) throw usage("run.name_missing", "run.name_missing.hint");
  const job = requireJobName(flags.name);
  if (flags.gpu !== undefined && flags.server === undefined) {
    throw usage("run.gpu_without_server", "run.gpu_without_server.hint");
  }
  if (flags.force === true && flags.gpu === undefined) {
    throw usage("run.force_without_gpu", "run.force_without_gpu.hint");
  }
  const { config } = project;
  const servers = serversNamed(config, flags.server);
  const noData = flags.noData ?? false;
  if (!noData && !servers.some(({ data_ready }) => data_ready)) {
    throw flags.server === undefined ? usage("run.no_candidate", "run.no_candidate.hint") : new UserError(
      message("run.data_not_ready", { server: flags.server }),
      { exit: ExitCode.Usage, hint: message("run.data_not_ready.hint") },
    );
  }
  return {
    project,
    job,
    command: [program, ...rest],
    env: (flags.env ?? []).map(readVariable),
    wish: { server: flags.server, gpu: flags.gpu, force: flags.force ?? false, noData },
    push: !(flags.noPush ?? false),
    observation: observationOf(flags.observe, config),
    dryRun: flags.dryRun ?? false,
  };
}

/** Everything behind the first `--` and nothing before it is the command. */
function requireCommand(command: readonly string[], argv: readonly string[]): [string, ...string[]] {
  const separator = argv.indexOf("--");
  if (separator === -1) throw usage("run.separator", "run.separator.hint");
  const [first, ...rest] = command;
  const behind = argv.length - separator - 1;
  if (first === undefined || behind === 0) throw usage("run.command_missing", "run.separator.hint");
  if (command.length === behind) return [first, ...rest];
  throw new UserError(message("run.stray", { word: beforeEquals(first) }), {
    exit: ExitCode.Usage,
    hint: message("run.stray.hint"),
  });
}

/** What may be repeated of `NAME=VALUE`: the value may be a secret. */
function beforeEquals(word: string): string {
  return sanitizeLine(word.split("=")[0] ?? "");
}

function readVariable(entry: string): readonly [string, string] {
  const [, name = "", value] = /^([A-Za-z_][A-Za-z0-9_]*)=([\s\S]*)$/.exec(entry) ?? [];
  if (value === undefined) {
    throw new UserError(message("run.env_invalid", { entry: beforeEquals(entry) }), {
      exit: ExitCode.Usage,
      hint: message("run.env_invalid.hint"),
    });
  }
  if (reservedVariables.some((reserved) => reserved === name)) {
    throw new UserError(message("run.env_reserved", { name }), {
      exit: ExitCode.Usage,
      hint: message("run.env_reserved.hint"),
    });
  }
  return [name, value];
}

type Plain =
  | "run.separator"
  | "run.command_missing"
  | "run.name_missing"
  | "run.gpu_without_server"
  | "run.force_without_gpu"
  | "run.no_candidate";

function usage(text: Plain, hint: `${Exclude<Plain, "run.command_missing">}.hint`): UserError {
  return new UserError(message(text) as Message, { exit: ExitCode.Usage, hint: message(hint) as Message });
}
