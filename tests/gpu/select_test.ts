import assert from "node:assert/strict";
import { isCandidate, selectGpu, type Wish } from "../../lib/gpu/select.ts";
import type { ServerReport } from "../../lib/gpu/survey.ts";
import { judged, reachedServer, server, unreachableServer } from "./reports.ts";

const anything: Wish = { force: false, noData: false };

/** `server/index state` of every candidate in the order they would be tried, or why there is none. */
function chosen(reports: readonly ServerReport[], wish: Partial<Wish> = {}): string[] | string {
  const selection = selectGpu(reports, { ...anything, ...wish });
  if (selection.kind === "candidates") {
    return selection.candidates.map(({ server, gpu, state, forced }) =>
      `${server}/${gpu.index} ${state}${forced ? " forced" : ""}`
    );
  }
  return selection.kind === "none" ? "none" : selection.refusal;
}

const newton = server("Newton", { priority: 1 });
const archimedes = server("Archimedes", { priority: 2 });

Deno.test("selectGpu() takes an unused GPU on a lower-priority server before an idle one", () => {
  assert.deepEqual(
    chosen([
      reachedServer(newton, [judged(0, "idle_held"), judged(1, "busy")]),
      reachedServer(archimedes, [judged(0, "busy"), judged(1, "unused")]),
    ]),
    ["Archimedes/1 unused", "Newton/0 idle_held"],
  );
});

Deno.test("selectGpu() does not pile jobs up on a GPU that waits for its first one to begin", () => {
  const waiting = (index: number, ...jobs: string[]) => ({
    ...judged(index, "idle_held"),
    jobs,
    verdict: { ...judged(index, "idle_held").verdict, reason: "assigned_job" as const },
  });
  assert.deepEqual(
    chosen([
      reachedServer(newton, [waiting(0, "a", "b"), waiting(1, "c"), judged(2, "idle_held")]),
      reachedServer(archimedes, [judged(0, "idle_held"), waiting(1, "d")]),
    ]),
    [
      "Newton/2 idle_held",
      "Archimedes/0 idle_held",
      "Newton/1 idle_held",
      "Archimedes/1 idle_held",
      "Newton/0 idle_held",
    ],
  );
});

Deno.test("selectGpu() prefers the smaller priority, then the order in the file, then the index", () => {
  const reports = [
    reachedServer(server("Late", { priority: 3 }), [judged(0, "unused")]),
    reachedServer(server("First", { priority: 2 }), [judged(5, "unused"), judged(1, "unused")]),
    reachedServer(server("Second", { priority: 2 }), [judged(0, "unused")]),
    reachedServer(server("Best", { priority: -1 }), [judged(7, "unused")]),
  ];
  assert.deepEqual(chosen(reports), [
    "Best/7 unused",
    "First/1 unused",
    "First/5 unused",
    "Second/0 unused",
    "Late/0 unused",
  ]);
});

Deno.test("selectGpu() orders idle GPUs like unused ones, behind all of them", () => {
  const reports = [
    reachedServer(archimedes, [judged(1, "idle_held"), judged(0, "idle_held")]),
    reachedServer(newton, [judged(3, "idle_held"), judged(4, "unused")]),
  ];
  assert.deepEqual(chosen(reports), [
    "Newton/4 unused",
    "Newton/3 idle_held",
    "Archimedes/0 idle_held",
    "Archimedes/1 idle_held",
  ]);
});

Deno.test.each([
  ["busy and unknown GPUs", [reachedServer(newton, [judged(0, "busy"), judged(1, "unknown")])]],
  ["servers without GPUs", [reachedServer(newton, [])]],
  ["unreachable servers", [unreachableServer(newton)]],
  ["servers that were not observed", [reachedServer(newton, [judged(0, "unused")], { observed: false })]],
  ["servers without the data", [reachedServer(server("Far", { data_ready: false }), [judged(0, "unused")])]],
  ["nothing", []],
])("selectGpu() finds none among %s", (_what, reports) => {
  assert.equal(chosen(reports), "none");
});

Deno.test("selectGpu() passes over an unreachable server and takes the next", () => {
  assert.deepEqual(chosen([unreachableServer(newton), reachedServer(archimedes, [judged(0, "unused")])]), [
    "Archimedes/0 unused",
  ]);
});

Deno.test("selectGpu() takes servers without the data only with --no-data", () => {
  const reports = [
    reachedServer(server("Far", { priority: 0, data_ready: false }), [judged(0, "unused")]),
    reachedServer(newton, [judged(0, "idle_held")]),
  ];
  assert.deepEqual(chosen(reports), ["Newton/0 idle_held"]);
  assert.deepEqual(chosen(reports, { noData: true }), ["Far/0 unused", "Newton/0 idle_held"]);
});

Deno.test("selectGpu() keeps to the server of --server", () => {
  const reports = [
    reachedServer(newton, [judged(0, "unused")]),
    reachedServer(archimedes, [judged(0, "idle_held")]),
  ];
  assert.deepEqual(chosen(reports, { server: "Archimedes" }), ["Archimedes/0 idle_held"]);
  assert.equal(chosen(reports, { server: "archimedes" }), "none");
});

const one = [
  reachedServer(newton, [
    judged(0, "unused"),
    judged(2, "idle_held"),
    judged(3, "busy"),
    judged(5, "unknown"),
  ]),
  reachedServer(archimedes, [judged(1, "unused")]),
];

Deno.test.each([
  [0, false, ["Newton/0 unused"]],
  [2, false, ["Newton/2 idle_held"]],
  [3, false, "not_free"],
  [5, false, "not_free"],
  [1, false, "no_such_gpu"],
  [0, true, ["Newton/0 unused"]],
  [2, true, ["Newton/2 idle_held"]],
  [3, true, ["Newton/3 busy forced"]],
  [5, true, ["Newton/5 unknown forced"]],
  [1, true, "no_such_gpu"],
])("selectGpu() answers --server Newton --gpu %i --force %s", (gpu, force, expected) => {
  assert.deepEqual(chosen(one, { server: "Newton", gpu, force }), expected);
});

Deno.test.each([
  ["has no GPU list", [reachedServer(newton, [], { fault: { kind: "no_answer", detail: "" } })]],
  ["cannot be reached", [unreachableServer(newton)]],
  ["has no data", [reachedServer(server("Newton", { data_ready: false }), [judged(0, "unused")])]],
])("selectGpu() forces nothing on a server that %s", (_what, reports) => {
  assert.equal(chosen(reports, { server: "Newton", gpu: 0, force: true }), "no_list");
});

Deno.test("selectGpu() does not widen the automatic choice with --force", () => {
  assert.equal(chosen([reachedServer(newton, [judged(0, "busy")])], { force: true }), "none");
});

Deno.test.each([
  [true, {}, true],
  [false, {}, false],
  [false, { noData: true }, true],
  [true, { server: "Newton" }, true],
  [true, { server: "Archimedes" }, false],
  [false, { server: "Newton" }, false],
])("isCandidate() of a server with data_ready %s for the wish %o is %s", (data_ready, wish, expected) => {
  assert.equal(isCandidate({ name: "Newton", data_ready }, { ...anything, ...wish }), expected);
});
