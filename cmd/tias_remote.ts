import { buildApplication, buildRouteMap } from "@stricli/core";
import { applicationSettings, runProgram } from "../lib/cli/program.ts";
import { realContext } from "../lib/system/real.ts";
import type { Texts } from "../lib/text/texts.ts";
import { doctorCommand } from "./doctor.ts";
import { gpusCommand } from "./gpus.ts";
import { killCommand } from "./kill.ts";
import { logsCommand } from "./logs.ts";
import { pullCommand } from "./pull.ts";
import { pushCommand } from "./push.ts";
import { runCommand } from "./run.ts";
import { statusCommand } from "./status.ts";

/** All verbs under one name, over the same command objects as the scripts. */
export function tiasRemote(texts: Texts) {
  const routes = buildRouteMap({
    routes: {
      gpus: gpusCommand(texts),
      push: pushCommand(texts),
      run: runCommand(texts),
      status: statusCommand(texts),
      logs: logsCommand(texts),
      kill: killCommand(texts),
      pull: pullCommand(texts),
      doctor: doctorCommand(texts),
    },
    docs: { brief: texts.say("help.app") },
  });
  return buildApplication(routes, applicationSettings("tias-remote", texts));
}

if (import.meta.main) Deno.exit(await runProgram(realContext(), Deno.args, tiasRemote));
