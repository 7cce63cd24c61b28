/** Scripts for servers, run by a shell of this machine as a server's login runs them. */

import type { RemoteScript } from "../lib/ssh/connection.ts";
import { findBegin, framingScript, parseTranscript, type Transcript } from "../lib/ssh/framing.ts";
import { shellAssignments } from "../lib/ssh/quote.ts";
import { runShell, type ShellAnswer } from "./shell.ts";

export const nonce = "0123456789abcdef".repeat(2);

/** The script as it is sent. */
export function sentText(script: RemoteScript): string {
  return shellAssignments({ nonce, ...script.values }) + framingScript + script.text;
}

/** Runs it with `home` as home folder, whose `bin` stands first on the PATH, and returns what it said. */
export async function runRemotely(
  script: RemoteScript,
  home: string,
  { shell = ["sh"], env = {}, stdin = "" }: {
    shell?: readonly string[];
    env?: Readonly<Record<string, string>>;
    stdin?: string | Uint8Array;
  } = {},
): Promise<ShellAnswer & { readonly transcript: Transcript; readonly body: string }> {
  const answer = await runShell(sentText(script), {
    shell,
    env: { HOME: home, PATH: `${home}/bin:${Deno.env.get("PATH")}`, ...env },
    stdin,
  });
  const body = answer.stdout.slice(findBegin(answer.stdout, nonce));
  return { ...answer, transcript: parseTranscript(body, nonce), body };
}
