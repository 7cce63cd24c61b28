import assert from "node:assert/strict";
import { jobLines, recentJobs } from "../../lib/cli/job_view.ts";
import type { Job } from "../../lib/job/types.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { configOf, reachedServer, server, unreachableServer } from "../gpu/reports.ts";
import { BufferOutput } from "../test_context.ts";

const now = new Date("2026-01-02T03:04:05Z");
const newton = server("Newton");
const archimedes = server("Archimedes", { address: "192.168.23.15" });
const config = configOf([newton, archimedes]);

function ago(seconds: number): Date {
  return new Date(now.getTime() - seconds * 1000);
}

function job(name: string, parts: Partial<Job> = {}): Job {
  return {
    name,
    state: "running",
    id: "0".repeat(32),
    pid: 4242,
    gpu: 0,
    uuid: null,
    began: ago(99_720),
    ended: null,
    exitCode: null,
    keeper: "tmux",
    ...parts,
  };
}

const ended = (
  seconds: number,
  exitCode: number | null,
) => ({ state: "ended", ended: ago(seconds), exitCode } as const);

const reports = [
  reachedServer(newton, [], {
    now,
    jobs: [
      job("old", ended(7200, 0)),
      job("exp1"),
      job("fallen", ended(60, 3)),
      job("gone", { state: "lost", began: ago(3600) }),
    ],
  }),
  reachedServer(archimedes, [], { now, jobs: [job("bare", { gpu: null, keeper: "setsid", began: null })] }),
  unreachableServer(server("Gauss")),
];

for (const language of ["en", "ja"] as const) {
  Deno.test(`jobLines() shows running jobs first, then the latest ends, in ${language}`, async (t) => {
    const lines = jobLines(textsIn(language), new BufferOutput(), config, reports, now);
    await t.assertSnapshot(lines.join("\n"), { serializer: String });
  });
}

Deno.test("jobLines() says that there are none", () => {
  assert.deepEqual(jobLines(textsIn("en"), new BufferOutput(), config, [unreachableServer(newton)], now), [
    "No job is running, and none has ended in the last 24 hours",
  ]);
});

Deno.test("jobLines() marks what went wrong in colour, on a terminal only", { ignore: Deno.noColor }, () => {
  const [, , , , , fallen = "", gone = "", old = ""] = jobLines(
    textsIn("en"),
    new BufferOutput({ isTerminal: true }),
    config,
    reports,
    now,
  );
  assert.ok(fallen.includes("\u001b[31mended, exit 3\u001b[0m"));
  assert.ok(gone.includes("\u001b[31mlost"));
  assert.equal(old.includes("\u001b"), false);
});

Deno.test("recentJobs() keeps running jobs, and those that ended within a day by the server's own clock", () => {
  const serverNow = new Date("2030-01-01T00:00:00Z");
  const before = (seconds: number) => new Date(serverNow.getTime() - seconds * 1000);
  const [report] = recentJobs([
    reachedServer(newton, [], {
      now: serverNow,
      jobs: [
        job("running", { began: before(1e7) }),
        job("ended now", { state: "ended", ended: before(24 * 3600 - 1) }),
        job("ended before", { state: "ended", ended: before(24 * 3600) }),
        job("lost now", { state: "lost", began: before(3600) }),
        job("lost before", { state: "lost", began: before(25 * 3600) }),
        job("timeless", { state: "ended", began: null }),
      ],
    }),
  ], now);
  assert.deepEqual(report?.reachable && report.jobs.map(({ name }) => name), [
    "running",
    "ended now",
    "lost now",
  ]);
});

Deno.test("recentJobs() goes by the local clock where the server told none, and keeps unreachable servers", () => {
  const gauss = unreachableServer(server("Gauss"));
  const silent = reachedServer(newton, [], { now: null, jobs: [job("old", ended(25 * 3600, 0))] });
  const [first, second] = recentJobs([silent, gauss], now);
  assert.deepEqual(first?.reachable && first.jobs, []);
  assert.equal(second, gauss);
});
