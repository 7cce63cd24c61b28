import { buildCommand, type Command } from "@stricli/core";
import { asText, type CommonFlags, commonFlags, jsonFlag } from "../lib/cli/flags.ts";
import { permissionsJson } from "../lib/cli/permissions_json.ts";
import { permissionLines } from "../lib/cli/permissions_view.ts";
import { action, type CliContext, main } from "../lib/cli/program.ts";
import type { Context } from "../lib/system/context.ts";
import { ExitCode, message, UserError } from "../lib/system/errors.ts";
import { type PermissionSet, permissionSets } from "../lib/system/permission_sets.ts";
import { sanitizeLine } from "../lib/text/sanitize.ts";
import type { Texts } from "../lib/text/texts.ts";

interface PermissionsFlags extends Pick<CommonFlags, "lang"> {
  readonly json?: boolean;
}

interface PermissionsPlan {
  readonly sets: Readonly<Record<string, PermissionSet>>;
  readonly json: boolean;
}

/** @throws {UserError} for a verb that there is not */
function planPermissions(flags: PermissionsFlags, verb: string | undefined): PermissionsPlan {
  const json = flags.json ?? false;
  if (verb === undefined) return { sets: permissionSets, json };
  const set = Object.hasOwn(permissionSets, verb) ? permissionSets[verb] : undefined;
  if (set !== undefined) return { sets: { [verb]: set }, json };
  const verbs = Object.keys(permissionSets).join(", ");
  throw new UserError(message("permissions.unknown_verb", { verb: sanitizeLine(verb), verbs }), {
    exit: ExitCode.Usage,
    hint: message("permissions.unknown_verb.hint"),
  });
}

async function executePermissions(
  world: Pick<Context, "os" | "out">,
  texts: Texts,
  { sets, json }: PermissionsPlan,
): Promise<ExitCode> {
  const lines = json
    ? [JSON.stringify(permissionsJson(sets), null, 2)]
    : permissionLines(texts, world.os, sets);
  await world.out.write(`${lines.join("\n")}\n`);
  return ExitCode.Done;
}

/** `permissions`: what each command can touch, as its permission set says. */
export function permissionsCommand(texts: Texts): Command<CliContext> {
  return buildCommand<PermissionsFlags, [string?], CliContext>({
    docs: { brief: texts.say("permissions.brief") },
    parameters: {
      flags: { lang: commonFlags(texts).lang, json: jsonFlag(texts) },
      positional: {
        kind: "tuple",
        parameters: [{
          brief: texts.say("permissions.argument"),
          parse: asText,
          placeholder: "VERB",
          optional: true,
        }],
      },
    },
    func: action(({ world, texts }, flags: PermissionsFlags, verb?: string) =>
      executePermissions(world, texts, planPermissions(flags, verb))
    ),
  });
}

if (import.meta.main) await main("permissions", permissionsCommand);
