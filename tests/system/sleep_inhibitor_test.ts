import assert from "node:assert/strict";
import { inhibitorOf, inhibitSleep } from "../../lib/system/sleep_inhibitor.ts";
import { needing } from "../lab/requirements.ts";
import { clockThat, fakeStart } from "./fake_start.ts";

Deno.test.each(
  [
    ["darwin", "caffeinate"],
    ["linux", "systemd-inhibit"],
    ["windows", "powershell.exe"],
  ] as const,
)("inhibitSleep() on %s runs %s until it is disposed of", async (os, program) => {
  const { start, started, killed } = fakeStart({ code: 0, when: "input ends" });
  const inhibitor = await inhibitSleep({ start, os, clock: clockThat("ends at once") });
  assert.equal(inhibitor.note, undefined);
  assert.equal(started[0]?.program, program);
  const ended = inhibitor[Symbol.asyncDispose]();
  await ended;
  assert.equal(started.length, 1);
  assert(killed() <= 1);
});

Deno.test("inhibitSleep() where there is no such program is a note", async () => {
  const start = () => {
    throw new Deno.errors.NotFound("no");
  };
  await using inhibitor = await inhibitSleep({ start, os: "linux", clock: clockThat("never ends") });
  assert.deepEqual(inhibitor.note, { id: "sleep.absent", params: { program: "systemd-inhibit" } });
});

Deno.test("inhibitSleep() where it ends at once (no session to keep awake) is a note", async () => {
  const { start } = fakeStart({ code: 1, when: "at once" });
  await using inhibitor = await inhibitSleep({ start, os: "darwin", clock: clockThat("never ends") });
  assert.equal(inhibitor.note?.id, "sleep.absent");
});

Deno.test("inhibitSleep() ends by force what does not end with its input", async () => {
  const { start, killed } = fakeStart({ code: 0, when: "killed" });
  const inhibitor = await inhibitSleep({ start, os: "darwin", clock: clockThat("ends at once") });
  await inhibitor[Symbol.asyncDispose]();
  assert.equal(killed(), 1);
});

Deno.test({
  ...needing(["cat"], "inhibitorOf() programs end with their input, so that none outlives us"),
  async fn() {
    for (const os of ["darwin", "linux"]) {
      assert.equal(inhibitorOf(os).args.at(-1), "cat");
    }
    const child = new Deno.Command("cat", { stdin: "piped", stdout: "null" }).spawn();
    await child.stdin.close();
    assert.equal((await child.status).code, 0);
  },
});
