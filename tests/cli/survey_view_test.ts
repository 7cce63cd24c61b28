import assert from "node:assert/strict";
import { surveyJson, surveyShape } from "../../lib/cli/survey_json.ts";
import {
  failureText,
  holderNames,
  holdersText,
  reasonText,
  surveyLines,
  usageText,
} from "../../lib/cli/survey_view.ts";
import type { ServerReport } from "../../lib/gpu/survey.ts";
import type { ComputeProcess, JudgedGpu, Verdict } from "../../lib/gpu/types.ts";
import type { Job } from "../../lib/job/types.ts";
import { width } from "../../lib/text/table.ts";
import { textsIn } from "../../lib/text/texts.ts";
import { judged, reachedServer, server, unreachableServer } from "../gpu/reports.ts";
import { BufferOutput } from "../test_context.ts";

const en = textsIn("en");
const ja = textsIn("ja");

function held(parts: Partial<ComputeProcess> = {}): ComputeProcess {
  return {
    pid: 77,
    user: "alice",
    userTruncated: false,
    mine: false,
    elapsedSec: 99_720,
    usedMemoryMib: 12,
    smMaxPercent: 74,
    gone: false,
    ...parts,
  };
}

function verdict(parts: Partial<Verdict>): Verdict {
  return { ...judged(0, "unused").verdict, ...parts };
}

const flipping = judged(0, "busy", {
  processes: [held()],
  verdict: verdict({
    state: "busy",
    reason: "utilization_reached",
    pattern: "intermittent",
    memoryUsedMaxMib: 1500,
    utilizationMeanPercent: 20.6,
    utilizationMaxPercent: 74,
  }),
});
const mine = judged(1, "idle_held", {
  processes: [
    held({ user: "hasegawa", mine: true, smMaxPercent: null }),
    held({ user: null, elapsedSec: null, smMaxPercent: null }),
  ],
  verdict: verdict({ state: "idle_held", reason: "compute_process", pattern: "memory_only" }),
});
const silent = judged(5, "unknown", {
  verdict: verdict({
    state: "unknown",
    reason: "no_sample",
    pattern: null,
    memoryUsedMaxMib: null,
    utilizationMeanPercent: null,
    utilizationMaxPercent: null,
    samples: 0,
  }),
});
const hidden = judged(0, "idle_held", {
  processListReadable: false,
  verdict: verdict({ state: "idle_held", reason: "process_list_unreadable", pattern: null }),
});
const assigned = judged(1, "idle_held", {
  jobs: ["exp1", "exp2"],
  verdict: verdict({ state: "idle_held", reason: "assigned_job" }),
});
const job: Job = {
  name: "exp1",
  state: "ended",
  id: "0".repeat(32),
  pid: 4242,
  gpu: 1,
  uuid: mine.uuid,
  began: new Date(1_789_990_000_000),
  ended: new Date(1_789_999_000_000),
  exitCode: 3,
  keeper: "tmux",
};

const reports: ServerReport[] = [
  reachedServer(server("Newton"), [flipping, mine, judged(2, "unused"), silent], { jobs: [job] }),
  reachedServer(server("Archimedes", { data_ready: false }), [hidden, assigned], {
    notes: ["WARNING: infoROM is corrupted at gpu 0000:B3:00.0"],
  }),
  unreachableServer(server("Gauss"), {
    kind: "refused",
    detail: "connect to host 192.168.23.16 port 22: Connection refused",
  }),
  reachedServer(server("Euler"), [], {
    fault: { kind: "driver_mismatch", detail: "Driver/library version mismatch" },
  }),
];

for (const texts of [en, ja]) {
  Deno.test(`surveyLines() draws all servers under one heading in ${texts.language}`, async (t) => {
    const lines = surveyLines(texts, new BufferOutput(), reports);
    await t.assertSnapshot(lines.join("\n"), { serializer: String });
  });
}

Deno.test(
  "surveyLines() colours states on a terminal only, and keeps the columns",
  { ignore: Deno.noColor },
  () => {
    const plain = surveyLines(ja, new BufferOutput(), reports);
    const coloured = surveyLines(ja, new BufferOutput({ isTerminal: true }), reports);
    assert.ok(plain.every((line) => !line.includes("\u001b")));
    assert.ok(coloured.some((line) => line.includes("\u001b[32m未使用\u001b[0m")));
    assert.deepEqual(coloured.map(width), plain.map(width));
  },
);

Deno.test.each([
  ["断続的に使用・平均 21%・最大 74%", "in intermittent use, mean 21%, max 74%", flipping],
  ["メモリ確保のみ・平均 0%・最大 0%", "memory held only, mean 0%, max 0%", mine],
  ["不明・平均 0%・最大 0%", "not known, mean 0%, max 0%", hidden],
  ["サンプルが 1 つも得られない", "not one sample was obtained", silent],
])("usageText() says %s", (japanese, english, gpu) => {
  assert.equal(usageText(ja, gpu), japanese);
  assert.equal(usageText(en, gpu), english);
});

Deno.test.each([
  ["another's process", flipping, "alice 27.7 時間 SM 74%", "alice 27.7 h SM 74%"],
  ["one's own and one without owner", mine, "自分 27.7 時間, 利用者不明", "me 27.7 h, owner unknown"],
  ["nobody", judged(0, "unused"), "", ""],
  [
    "an unreadable list",
    hidden,
    "プロセス一覧を取得できず（利用者不明）",
    "the process list could not be read",
  ],
  ["jobs that were given it", assigned, "ジョブ exp1, exp2 に割り当て済み", "given to the job exp1, exp2"],
  [
    "root",
    judged(0, "busy", { processes: [held({ user: "root", smMaxPercent: null })] }),
    "root（コンテナの可能性） 27.7 時間",
    "root (maybe a container) 27.7 h",
  ],
  [
    "a process that is gone",
    judged(0, "busy", {
      processes: [held({ user: null, gone: true, elapsedSec: null, smMaxPercent: null })],
    }),
    "プロセス消滅",
    "process gone",
  ],
  [
    "a process of this second without SM use",
    judged(0, "busy", { processes: [held({ elapsedSec: 0, smMaxPercent: 0 })] }),
    "alice 0 秒 SM 0%",
    "alice 0 s SM 0%",
  ],
] as [string, JudgedGpu, string, string][])("holdersText() tells of %s", (_what, gpu, japanese, english) => {
  assert.equal(holdersText(ja, gpu), japanese);
  assert.equal(holdersText(en, gpu), english);
});

Deno.test.each([
  [
    "each holder once",
    judged(0, "busy", { processes: [held(), held({ pid: 78 }), held({ pid: 79, user: "bob" })] }),
    "alice, bob",
  ],
  ["oneself", mine, "me, owner unknown"],
  ["an unreadable list", hidden, "owner unknown"],
  ["jobs", assigned, "the job exp1, exp2"],
  ["jobs beside an unreadable list", { ...hidden, jobs: ["exp1"] }, "the job exp1"],
])("holderNames() names %s", (_what, gpu, expected) => {
  assert.equal(holderNames(en, gpu), expected);
});

Deno.test("reasonText() has a sentence for every reason", () => {
  assert.equal(reasonText(en, silent), "not one sample was obtained");
  assert.equal(reasonText(ja, flipping), "使用率が閾値に達した");
});

Deno.test("failureText() adds what ssh said", () => {
  assert.equal(failureText(en, { kind: "refused", detail: "" }), "unreachable: the connection was refused");
  assert.equal(failureText(ja, { kind: "refused", detail: "x" }), "接続不可：接続を拒否されました (x)");
});

Deno.test("surveyJson() has the documented shape, in either language", () => {
  const choice = { server: "Newton", gpu: judged(2, "unused") };
  const shown = surveyShape.parse(JSON.parse(JSON.stringify(surveyJson(en, reports, choice))));
  assert.deepEqual(shown.choice, { server: "Newton", gpu: 2, state: "unused" });
  const [newton, , gauss, euler] = shown.servers;
  assert.deepEqual(newton?.gpus[0], {
    index: 0,
    uuid: flipping.uuid,
    name: "NVIDIA A100",
    state: "busy",
    reason: "utilization_reached",
    pattern: "intermittent",
    memory_used_max_mib: 1500,
    memory_total_mib: 81920,
    utilization_mean_percent: 20.6,
    utilization_max_percent: 74,
    samples: 20,
    processes: [{
      pid: 77,
      user: "alice",
      mine: false,
      elapsed_sec: 99_720,
      used_memory_mib: 12,
      sm_max_percent: 74,
    }],
  });
  assert.deepEqual(newton?.jobs, [{
    name: "exp1",
    state: "ended",
    gpu: 1,
    gpu_uuid: mine.uuid,
    began: "2026-09-21T11:26:40.000Z",
    ended: "2026-09-21T13:56:40.000Z",
    exit_code: 3,
  }]);
  assert.deepEqual(gauss, {
    name: "Gauss",
    reachable: false,
    error:
      "unreachable: the connection was refused (connect to host 192.168.23.16 port 22: Connection refused)",
    gpus: [],
    jobs: [],
  });
  assert.equal(euler?.reachable, true);
  assert.match(euler?.error ?? "", /different versions.*\(Driver\/library version mismatch\)$/);

  const japanese = surveyShape.parse(surveyJson(ja, reports, undefined));
  assert.equal(japanese.choice, null);
  assert.deepEqual(
    japanese.servers.map(({ gpus, jobs }) => ({ gpus, jobs })),
    shown.servers.map(({ gpus, jobs }) => ({ gpus, jobs })),
  );
});
