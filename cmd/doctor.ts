import { buildCommand, type Command } from "@stricli/core";
import { allWell, doctorJson } from "../lib/cli/doctor_json.ts";
import { doctorLines } from "../lib/cli/doctor_view.ts";
import { type CommonFlags, commonFlags, jsonFlag, serverFlag } from "../lib/cli/flags.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import { serversNamed } from "../lib/cli/servers.ts";
import { examineHere, examineServers } from "../lib/doctor/examine.ts";
import { examineTrain } from "../lib/doctor/train_checkup.ts";
import type { Group } from "../lib/doctor/types.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode } from "../lib/system/errors.ts";
import type { Texts } from "../lib/text/texts.ts";

interface DoctorFlags extends CommonFlags {
  readonly server?: string;
  readonly json?: boolean;
}

interface DoctorPlan {
  readonly config: string | undefined;
  /** The one server to examine; all without one. */
  readonly server: string | undefined;
  readonly json: boolean;
}

function planDoctor(flags: DoctorFlags): DoctorPlan {
  return { config: flags.config, server: flags.server, json: flags.json ?? false };
}

async function executeDoctor(world: Context, texts: Texts, plan: DoctorPlan): Promise<ExitCode> {
  const { group, project } = await examineHere(world, plan.config);
  const servers = project === undefined ? [] : serversNamed(project.config, plan.server);
  if (project !== undefined) {
    await world.err.write(`${texts.say("survey.asking", { count: servers.length })}\n`);
  }
  const [examined, train] = await Promise.all([
    project === undefined ? [] : examineServers(world, project.config, servers),
    // Who names a server wants to know of nothing else.
    plan.server === undefined ? examineTrain(world, plan.config) : [],
  ]);
  const groups: Group[] = [group, ...examined, ...train];
  world.interrupted.throwIfAborted();
  await world.out.write(
    plan.json
      ? `${JSON.stringify(doctorJson(texts, groups), null, 2)}\n`
      : doctorLines(texts, world.out, groups).map((line) => `${line}\n`).join(""),
  );
  return allWell(groups) ? ExitCode.Done : ExitCode.Failed;
}

/** `doctor`: what would keep tias-remote from working, here and on every server. */
export function doctorCommand(texts: Texts): Command<CliContext> {
  return buildCommand<DoctorFlags, [], CliContext>({
    docs: { brief: texts.say("doctor.brief") },
    parameters: {
      flags: {
        ...commonFlags(texts),
        server: { ...serverFlag(texts), brief: texts.say("doctor.flag.server") },
        json: jsonFlag(texts),
      },
    },
    func: action(({ world, texts }, flags: DoctorFlags) => executeDoctor(world, texts, planDoctor(flags))),
  });
}

if (import.meta.main) await main("doctor", doctorCommand);
