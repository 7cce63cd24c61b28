import { stringify } from "yaml";
import type { Message } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import type { Texts } from "../text/texts.ts";
import { parseConfig } from "./document.ts";
import { type RemoteConfig, remoteSchema } from "./remote.ts";
import { readRule } from "./schema.ts";

/** A server of a configuration that is being written. */
export interface DraftServer {
  readonly name: string;
  /** As it is typed after `ssh`: ssh's own configuration is asked for the rest at every connection. */
  readonly address: string;
  readonly user: string;
  readonly dataReady: boolean;
  /** Where ssh goes now if the address alone does not tell it, for a comment. */
  readonly goesTo: string | null;
}

/** What a new `remote.yaml` needs to be told. */
export interface Draft {
  readonly jump: string | null;
  readonly sshConfig: string | null;
  readonly servers: readonly DraftServer[];
  readonly remoteDir: string;
  readonly dataDir: string;
  readonly uv: string;
}

const serverFields = remoteSchema.shape.servers.element.shape;
const fields = {
  name: serverFields.name,
  address: serverFields.address,
  user: serverFields.user,
  remote_dir: serverFields.remote_dir,
  data_dir: serverFields.data_dir,
  uv: serverFields.uv,
  jump_host: remoteSchema.shape.jump_host,
} as const;
export type DraftField = keyof typeof fields;

/** What is allowed for a field, when `value` is not. */
export function faultOfField(field: DraftField, value: string): Message | undefined {
  const result = fields[field].safeParse(value);
  return result.success ? undefined : readRule(result.error.issues[0]?.message ?? "");
}

/** The name that a host suggests for a server: its first label, or nothing for an address in numbers. */
export function suggestedName(host: string): string | undefined {
  const label = host.split(".")[0] ?? "";
  return /^[\d.:]+$/.test(host) || faultOfField("name", label) !== undefined ? undefined : label;
}

/** The jump host that ssh's configuration names for every server alike. */
export function commonJump(jumps: ReadonlySet<string | null>): string | null {
  const [jump = null, ...others] = jumps;
  return others.length === 0 ? jump : null;
}

/** A `remote.yaml` with comments in the language of `texts`. It is read back before it is returned. */
export function remoteYaml(texts: Texts, draft: Draft): string {
  const { say } = texts;
  const required = [
    `# ${say("init.comment.head")}`,
    line("", "jump_host", draft.jump, say("init.comment.jump_host")),
    line("", "connect_timeout_sec", 15),
    ...(draft.sshConfig === null
      ? []
      : [line("", "ssh_config", draft.sshConfig, say("init.comment.ssh_config"))]),
    "gpu_free:",
    line("  ", "max_memory_used_mib", 1024, say("init.comment.max_memory_used_mib")),
    line("  ", "max_utilization_percent", 10, say("init.comment.max_utilization_percent")),
    line("  ", "observe_sec", 10, say("init.comment.observe_sec")),
    line("  ", "sample_interval_ms", 500),
    "servers:",
    ...draft.servers.flatMap((server, at) => [
      line("  - ", "name", server.name),
      line(
        "    ",
        "address",
        server.address,
        server.goesTo === null
          ? undefined
          : say("init.comment.address", { destination: sanitizeLine(server.goesTo) }),
      ),
      line("    ", "user", server.user),
      line("    ", "priority", at + 1, at === 0 ? say("init.comment.priority") : undefined),
      line("    ", "remote_dir", draft.remoteDir),
      line("    ", "data_dir", draft.dataDir),
      line("    ", "uv", draft.uv),
      line("    ", "data_ready", server.dataReady, at === 0 ? say("init.comment.data_ready") : undefined),
    ]),
    "",
  ].join("\n");
  return required + optionalPart(texts, parseConfig(required, "remote.yaml", remoteSchema));
}

/** The settings that may be left out, commented out, with the values that hold then. */
function optionalPart(texts: Texts, { pull, push, jobs }: RemoteConfig): string {
  const lines = Object.entries({ pull, push, jobs }).flatMap(([section, settings]) => [
    `# ${section}:`,
    ...Object.entries(settings).map(([key, value]) => line("#   ", key, value)),
  ]);
  return `\n# ${texts.say("init.comment.optional")}\n${lines.join("\n")}\n`;
}

function line(
  indent: string,
  key: string,
  value: string | number | boolean | null | readonly string[],
  comment?: string,
): string {
  const setting = `${indent}${key}: ${stringify(value, { lineWidth: 0, collectionStyle: "flow" }).trimEnd()}`;
  return comment === undefined ? setting : `${setting.padEnd(29)} # ${comment}`;
}
