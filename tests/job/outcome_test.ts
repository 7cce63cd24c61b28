import assert from "node:assert/strict";
import fc from "fast-check";
import { readStartOutcome } from "../../lib/job/start.ts";
import type { Section } from "../../lib/ssh/framing.ts";

function outcomeOf(...sections: Section[]) {
  return readStartOutcome({ sections, complete: true, terminalForced: false });
}

const start = (text: string): Section => ({ name: "start", text, status: 0 });

Deno.test.each([
  [
    "a running job",
    "outcome=started\njob=exp1\nkeeper=tmux\nlog=/h/exp1.log\n",
    { kind: "started", keeper: "tmux", log: "/h/exp1.log" },
  ],
  [
    "a running job without tmux",
    "outcome=started\nkeeper=setsid\nlog=/h/exp1.log\n",
    { kind: "started", keeper: "setsid", log: "/h/exp1.log" },
  ],
  [
    "a process that came between",
    "outcome=taken\nwhy=process\npid=77\nuser=alice\n",
    { kind: "taken", why: "process", pid: "77", user: "alice", job: "" },
  ],
  [
    "a job that came between",
    "outcome=taken\nwhy=job\njob=exp2\n",
    { kind: "taken", why: "job", pid: "", user: "", job: "exp2" },
  ],
  [
    "a reason that nobody knows",
    "outcome=taken\nwhy=weather\n",
    { kind: "taken", why: "unreadable", pid: "", user: "", job: "" },
  ],
  ["no uv", "outcome=uv_missing\nuv=/h/uv\n", { kind: "uv_missing", detail: "/h/uv" }],
  [
    "a full disk",
    "mkdir: cannot create directory '/h': No space left on device\noutcome=unwritable\n",
    { kind: "unwritable", detail: "mkdir: cannot create directory '/h': No space left on device" },
  ],
  ["a lock that stays", "outcome=lock_busy\n", { kind: "lock_busy", detail: "" }],
  ["a name that was taken", "outcome=name_taken\n", { kind: "name_taken", detail: "" }],
  ["a tmux that fails", "outcome=launch_failed\ndetail=no server\n", {
    kind: "launch_failed",
    detail: "no server",
  }],
  ["a keeper that never spoke", "outcome=not_started\n", {
    kind: "not_started",
    detail: "",
  }],
  ["nothing", "", { kind: "not_started", detail: "" }],
  ["rubbish", "sh: 1: syntax error\n", { kind: "not_started", detail: "sh: 1: syntax error" }],
])("readStartOutcome() reads %s", (_what, text, expected) => {
  assert.deepEqual(outcomeOf(start(text)), expected);
});

Deno.test.each([["0", 0], ["123", 123], ["", null], ["x", null], ["-1", null]])(
  "readStartOutcome() reads a job that ended with code=%s",
  (code, expected) => {
    assert.deepEqual(
      outcomeOf(start(`outcome=ended\ncode=${code}\nlog=/h/exp1.log\n`), {
        name: "log",
        text: "last\n",
        status: 0,
      }),
      { kind: "ended", code: expected, log: "/h/exp1.log", lines: "last\n" },
    );
  },
);

Deno.test.each([[3], [127], [null]])(
  "readStartOutcome() tells a push that failed with %s before all else",
  (status) => {
    assert.deepEqual(outcomeOf({ name: "push", text: "tar: x\n", status }, start("outcome=started\n")), {
      kind: "push_failed",
      status,
      text: "tar: x\n",
    });
  },
);

Deno.test("readStartOutcome() passes a push that worked over", () => {
  assert.equal(
    outcomeOf({ name: "push", text: "", status: 0 }, start("outcome=lock_busy\n")).kind,
    "lock_busy",
  );
});

Deno.test("readStartOutcome() makes something of any text, and never a start out of nothing", () => {
  fc.assert(fc.property(fc.string({ unit: "binary" }), (text) => {
    const outcome = outcomeOf(start(text));
    if (!text.includes("outcome=")) assert.equal(outcome.kind, "not_started");
  }));
});
