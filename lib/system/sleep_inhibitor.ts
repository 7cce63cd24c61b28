import type { Context } from "./context.ts";
import { type Message, message } from "./errors.ts";
import { type HelperDeps, powershell, powershellArguments, startHelper } from "./helper.ts";

/** Milliseconds within which an inhibitor that may not work ends. */
const trialMilliseconds = 1000;

// ES_CONTINUOUS and ES_SYSTEM_REQUIRED, until the input ends.
// https://learn.microsoft.com/windows/win32/api/winbase/nf-winbase-setthreadexecutionstate
const awakeScript = `
$ErrorActionPreference = 'Stop'
$kernel = Add-Type -PassThru -Namespace TiasRemote -Name Kernel -MemberDefinition '[DllImport("kernel32.dll")] public static extern uint SetThreadExecutionState(uint flags);'
if ($kernel::SetThreadExecutionState(2147483649) -eq 0) { exit 1 }
[void][Console]::In.ReadToEnd()
`;

/**
 * What keeps each system awake. All of them end with their standard input, so that none outlives this program,
 * however it dies.
 */
export function inhibitorOf(os: string): { readonly program: string; readonly args: readonly string[] } {
  switch (os) {
    case "darwin":
      return { program: "caffeinate", args: ["-i", "-s", "cat"] };
    case "windows":
      return { program: powershell, args: powershellArguments(awakeScript) };
    default:
      return {
        program: "systemd-inhibit",
        args: [
          "--what=idle:sleep",
          "--who=tias-remote",
          "--why=a rented GPU is at work",
          "--mode=block",
          "cat",
        ],
      };
  }
}

/** Keeps this machine awake until it is disposed of. `note` says why that is not possible here. */
export interface SleepInhibitor extends AsyncDisposable {
  readonly note: Message | undefined;
}

export async function inhibitSleep(deps: HelperDeps & Pick<Context, "os">): Promise<SleepInhibitor> {
  const { program, args } = inhibitorOf(deps.os);
  const helper = startHelper(deps, program, args);
  const absent = message("sleep.absent", { program });
  if (helper === undefined) return { note: absent, [Symbol.asyncDispose]: () => Promise.resolve() };
  // Where there is no session to hold awake (a container, another's desktop) it ends at once.
  const over = new AbortController();
  const works = await Promise.race([
    helper.process.status.then(() => false),
    deps.clock.sleep(trialMilliseconds, over.signal).then(() => true),
  ]);
  over.abort();
  return {
    note: works ? undefined : absent,
    async [Symbol.asyncDispose]() {
      await helper.end();
    },
  };
}
