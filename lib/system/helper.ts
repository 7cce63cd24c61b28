import type { Context, RunningProcess } from "./context.ts";

export type HelperDeps = Pick<Context, "clock" | "start">;

/** A small program beside us. What it prints is of no interest. */
export interface Helper {
  readonly process: RunningProcess;
  /** Ends it by the end of its input, and after two seconds by force. Returns its exit code, `null` after force. */
  end(): Promise<number | null>;
}

/** Starts a program, or returns `undefined` where there is none or the sandbox does not allow it. */
export function startHelper(
  { clock, start }: HelperDeps,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Helper | undefined {
  let process: RunningProcess;
  try {
    process = start({ program, args, env });
  } catch (error) {
    const expected = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotCapable ||
      error instanceof Deno.errors.PermissionDenied;
    if (!expected) throw error;
    return undefined;
  }
  const drained = Promise.all([drain(process.stdout), drain(process.stderr)]);
  return {
    process,
    async end() {
      await process.stdin.close().catch(() => {});
      const patience = new AbortController();
      clock.sleep(2000, patience.signal).then(() => patience.signal.aborted || process.kill());
      const { code, signal } = await process.status;
      patience.abort();
      await drained;
      return signal === null ? code : null;
    },
  };
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  try {
    for await (const _ of stream);
  } catch {
    // Nobody wants it.
  }
}

/** PowerShell's arguments for a constant script; what varies comes by environment variables, never into the text. */
export function powershellArguments(script: string): string[] {
  const bytes = new Uint8Array(script.length * 2);
  const view = new DataView(bytes.buffer);
  for (let at = 0; at < script.length; at++) view.setUint16(at * 2, script.charCodeAt(at), true);
  const encoded = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
  return ["-NoLogo", "-NoProfile", "-NonInteractive", "-EncodedCommand", encoded];
}

export const powershell = "powershell.exe";
