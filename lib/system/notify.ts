import type { Context } from "./context.ts";
import { type Message, message } from "./errors.ts";
import { type HelperDeps, powershell, powershellArguments, startHelper } from "./helper.ts";

/** Seconds that showing a notification may take. */
const limitSeconds = 15;

// PowerShell's own application id: a toast of an unknown application is not shown.
// https://learn.microsoft.com/windows/apps/design/shell/tiles-and-notifications/toast-notifications-overview
const toastScript = `
$ErrorActionPreference = 'Stop'
[void][Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$xml = [Windows.UI.Notifications.ToastNotificationManager]::GetTemplateContent('ToastText02')
$texts = $xml.GetElementsByTagName('text')
[void]$texts.Item(0).AppendChild($xml.CreateTextNode($env:TIAS_NOTIFY_TITLE))
[void]$texts.Item(1).AppendChild($xml.CreateTextNode($env:TIAS_NOTIFY_BODY))
$app = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\\WindowsPowerShell\\v1.0\\powershell.exe'
$toast = [Windows.UI.Notifications.ToastNotification]::new($xml)
[Windows.UI.Notifications.ToastNotificationManager]::CreateToastNotifier($app).Show($toast)
`;

/** What shows a notification on each system; the texts are arguments or variables, never part of a script. */
export function notifierOf(
  os: string,
  title: string,
  body: string,
): {
  readonly program: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
} {
  switch (os) {
    case "darwin":
      return {
        program: "osascript",
        args: [
          "-e",
          "on run argv",
          "-e",
          'display notification (item 2 of argv) with title (item 1 of argv) sound name "Glass"',
          "-e",
          "end run",
          "--",
          title,
          body,
        ],
      };
    case "windows":
      return {
        program: powershell,
        args: powershellArguments(toastScript),
        env: { TIAS_NOTIFY_TITLE: title, TIAS_NOTIFY_BODY: body },
      };
    default:
      // The body is markup (https://specifications.freedesktop.org/notification-spec/), the title is not.
      return { program: "notify-send", args: ["--app-name=tias-remote", "--", title, escapeBody(body)] };
  }
}

/** Shows a desktop notification. Returns a note when it could not be shown, which is never an error. */
export async function notify(
  deps: HelperDeps & Pick<Context, "os">,
  title: string,
  body: string,
): Promise<Message | undefined> {
  const { program, args, env } = notifierOf(deps.os, plain(title), plain(body));
  const helper = startHelper(deps, program, args, env);
  if (helper === undefined) return message("notify.absent", { program });
  const over = new AbortController();
  const late = deps.clock.sleep(limitSeconds * 1000, over.signal).then(() => over.signal.aborted);
  await Promise.race([helper.process.status, late]);
  over.abort();
  return await helper.end() === 0 ? undefined : message("notify.failed", { program });
}

// No argument can hold a NUL, and a notification is one short text.
function plain(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f]/g, " ").slice(0, 500);
}

function escapeBody(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
