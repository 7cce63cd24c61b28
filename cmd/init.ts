import { basename, dirname, resolve } from "node:path";
import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags } from "../lib/cli/flags.ts";
import { askForDraft, confirm } from "../lib/cli/init_dialog.ts";
import { draftOfFlags, type InitServer, readServerFlags } from "../lib/cli/init_flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { type Draft, remoteYaml } from "../lib/config/draft.ts";
import { createConfig, refuseExisting } from "../lib/config/create.ts";
import { findRoute } from "../lib/ssh/local.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

interface InitFlags extends CommonFlags {
  readonly server?: readonly string[];
  readonly jump?: string;
  readonly dataReady?: readonly string[];
  readonly remoteDir?: string;
  readonly dataDir?: string;
  readonly uv?: string;
  readonly sshConfig?: string;
}

interface InitPlan extends Omit<Draft, "servers" | "jump"> {
  readonly file: string;
  /** Empty: a person is asked. */
  readonly servers: readonly InitServer[];
  /** `undefined`: what ssh's own configuration names. */
  readonly jump: string | undefined;
}

/** @throws {UserError} for values that no configuration can have */
function planInit(texts: Texts, flags: InitFlags, cwd: string): InitPlan {
  const file = resolve(cwd, flags.config ?? "configs/remote.yaml");
  const project = basename(dirname(dirname(file))) || "project";
  return {
    file,
    servers: readServerFlags(texts, flags.server ?? [], flags.dataReady ?? []),
    jump: flags.jump,
    sshConfig: flags.sshConfig === undefined ? null : absolute(cwd, flags.sshConfig),
    remoteDir: flags.remoteDir ?? `~/work/${project}`,
    dataDir: flags.dataDir ?? `~/data/${project}`,
    uv: flags.uv ?? "~/.local/bin/uv",
  };
}

/** ssh itself knows what `~` is. */
function absolute(cwd: string, path: string): string {
  return path.startsWith("~") ? path : resolve(cwd, path);
}

async function executeInit(world: Context, texts: Texts, plan: InitPlan): Promise<ExitCode> {
  const { say } = texts;
  const { file } = plan;
  const asking = plan.servers.length === 0;
  await refuseExisting(file);
  if (asking && !world.input.isTerminal) {
    throw new UserError(message("init.no_terminal"), {
      exit: ExitCode.Usage,
      hint: message("init.no_terminal.hint"),
    });
  }
  const settings = plan.sshConfig === null ? {} : { ssh_config: plan.sshConfig };
  const route = (host: string) => findRoute(world, settings, host);
  if (asking) await world.err.write(`${say("init.intro", { file })}\n\n`);
  const draft = asking
    ? await askForDraft(world, texts, plan, route)
    : await draftOfFlags(texts, plan, route);
  const yaml = remoteYaml(texts, draft);
  if (asking) {
    await world.err.write(`\n${yaml}\n`);
    if (!await confirm(world, texts, say("init.ask.write", { file }), true)) {
      throw new UserError(message("init.declined"));
    }
  }
  world.interrupted.throwIfAborted();
  await createConfig(file, yaml);
  await world.out.write(
    `${say("init.written", { file, count: draft.servers.length })}\n${say("init.next")}\n`,
  );
  return ExitCode.Done;
}

/** `init`: a first configuration. */
export function initCommand(texts: Texts): Command<CliContext> {
  const { say } = texts;
  const value = (brief: string, placeholder: string) =>
    ({ kind: "parsed", parse: asText, brief, placeholder, optional: true }) as const;
  return buildCommand<InitFlags, [], CliContext>({
    docs: { brief: say("init.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        config: value(say("init.flag.config"), "PATH"),
        server: { ...value(say("init.flag.server"), "NAME=HOST"), variadic: true },
        jump: value(say("init.flag.jump"), "HOST"),
        dataReady: { ...value(say("init.flag.data_ready"), "NAME"), variadic: true },
        remoteDir: value(say("init.flag.remote_dir"), "PATH"),
        dataDir: value(say("init.flag.data_dir"), "PATH"),
        uv: value(say("init.flag.uv"), "PATH"),
        sshConfig: value(say("init.flag.ssh_config"), "PATH"),
      },
    },
    func: action(({ world, texts }, flags: InitFlags) =>
      executeInit(world, texts, planInit(texts, flags, world.cwd()))
    ),
  });
}

if (import.meta.main) await main("init", initCommand);
