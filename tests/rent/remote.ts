/** Runs what is meant for a Pod in a shell of this machine, as a connection would. */

import { framingScript, parseTranscript, type Transcript } from "../../lib/ssh/framing.ts";
import { shellAssignments } from "../../lib/ssh/quote.ts";
import type { RemoteScript } from "../../lib/ssh/connection.ts";

export const nonce = "0123456789abcdef0123456789abcdef";

/** What the script printed behind its `begin` line, byte for byte. */
export async function outputOf(
  script: RemoteScript,
  { shell = "sh", home = "/nonexistent" }: { shell?: string; home?: string } = {},
): Promise<Uint8Array> {
  const text = new TextEncoder().encode(
    shellAssignments({ nonce, ...script.values }) + framingScript + script.text,
  );
  const command = script.payload === undefined
    ? `eval "$(cat)"`
    : `eval "$(dd bs=1 count=${text.length} 2>/dev/null)"`;
  const child = new Deno.Command(shell, {
    args: ["-c", command],
    env: { PATH: Deno.env.get("PATH") ?? "", HOME: home },
    clearEnv: true,
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(text).catch(() => {});
  for await (const chunk of script.payload ?? []) await writer.write(chunk).catch(() => {});
  await writer.close().catch(() => {});
  const { stdout } = await child.output();
  const begin = new TextEncoder().encode(`@@${nonce} begin\n`);
  const at = stdout.findIndex((_, place) => begin.every((byte, offset) => stdout[place + offset] === byte));
  return stdout.subarray(at + begin.length);
}

export async function transcriptOf(
  script: RemoteScript,
  options: { shell?: string; home?: string } = {},
): Promise<Transcript> {
  return parseTranscript(new TextDecoder().decode(await outputOf(script, options)), nonce);
}
