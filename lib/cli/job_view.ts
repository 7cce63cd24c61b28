import type { RemoteConfig } from "../config/remote.ts";
import { reached, type ServerReport } from "../gpu/survey.ts";
import type { Job } from "../job/types.ts";
import { attachCommand } from "../ssh/by_hand.ts";
import type { Output } from "../system/context.ts";
import { alignRows } from "../text/table.ts";
import type { Texts } from "../text/texts.ts";
import { paint } from "./paint.ts";

const day = 24 * 3600 * 1000;

/** The reports with those jobs only that run, or whose last sign of life is younger than a day by the server's clock. */
export function recentJobs(reports: readonly ServerReport[], localNow: Date): ServerReport[] {
  return reports.map((report) => {
    if (!report.reachable) return report;
    const now = report.now ?? localNow;
    const isRecent = ({ state, ended, began }: Job) =>
      state === "running" || now.getTime() - (ended ?? began ?? new Date(0)).getTime() < day;
    return { ...report, jobs: report.jobs.filter(isRecent) };
  });
}

/** The jobs as a table, running ones with the line that attaches to them. */
export function jobLines(
  texts: Texts,
  output: Output,
  config: RemoteConfig,
  reports: readonly ServerReport[],
  localNow: Date,
): string[] {
  const { say } = texts;
  const jobs = reached(reports).flatMap((report) =>
    report.jobs.map((job) => ({ ...job, server: report.server, now: report.now ?? localNow }))
  );
  if (jobs.length === 0) return [say("status.no_jobs")];
  const order = (job: Job) => (job.state === "running" ? Infinity : (job.ended ?? job.began)?.getTime() ?? 0);
  jobs.sort((a, b) => order(b) === order(a) ? 0 : order(b) - order(a));
  const rows = alignRows([
    [
      "",
      say("status.header.job"),
      say("status.header.server"),
      say("status.header.gpu"),
      say("status.header.state"),
      say("status.header.age"),
    ],
    ...jobs.map((job) => [
      "",
      job.name,
      job.server.name,
      String(job.gpu ?? "?"),
      stateText(texts, output, job),
      ageText(texts, job, job.now),
    ]),
  ]);
  const lines = [paint(output, "strong", say("status.jobs")), rows[0] ?? ""];
  jobs.forEach((job, index) => {
    lines.push(rows[index + 1] ?? "");
    if (job.state === "running" && job.keeper === "tmux") {
      const command = attachCommand(config, job.server, config.jobs.tmux_socket, job.name);
      lines.push(`    ${say("status.attach", { command })}`);
    }
  });
  return lines;
}

function stateText(texts: Texts, output: Output, job: Job): string {
  if (job.state === "running") return paint(output, "good", texts.say("job.state.running"));
  if (job.state === "lost") return paint(output, "error", texts.say("job.state.lost"));
  const text = texts.say("status.exit", { code: job.exitCode ?? "?" });
  return job.exitCode === 0 ? text : paint(output, "error", text);
}

function ageText(texts: Texts, job: Job, now: Date): string {
  const since = job.state === "running" ? job.began : job.ended ?? job.began;
  if (since === null) return "";
  const time = texts.duration(Math.max(0, (now.getTime() - since.getTime()) / 1000));
  return job.state === "running" ? time : texts.say("status.ended_ago", { time });
}
