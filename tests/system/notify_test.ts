import assert from "node:assert/strict";
import { notifierOf, notify } from "../../lib/system/notify.ts";
import { clockThat, fakeStart } from "./fake_start.ts";

const hostile = `"; do shell script "x" -- $(x) <b>&'日本`;

function decoded(args: readonly string[]): string {
  const bytes = Uint8Array.from(atob(args.at(-1) ?? ""), (character) => character.charCodeAt(0));
  return new TextDecoder("utf-16le").decode(bytes);
}

Deno.test("notify() on macOS gives osascript a constant script and the texts as arguments", async () => {
  const { start, started } = fakeStart({ code: 0, when: "at once" });
  assert.equal(
    await notify({ start, os: "darwin", clock: clockThat("never ends") }, "tias-remote", hostile),
    undefined,
  );
  assert.equal(started[0]?.program, "osascript");
  assert.deepEqual(started[0]?.args.slice(-3), ["--", "tias-remote", hostile]);
  assert(!started[0]?.args.slice(0, -1).some((part) => part.includes("shell script")));
});

Deno.test("notify() on Windows gives PowerShell a constant script and the texts as variables", async () => {
  const { start, started } = fakeStart({ code: 0, when: "at once" });
  assert.equal(
    await notify({ start, os: "windows", clock: clockThat("never ends") }, "タイトル", hostile),
    undefined,
  );
  assert.equal(started[0]?.program, "powershell.exe");
  assert.deepEqual(started[0]?.env, { TIAS_NOTIFY_TITLE: "タイトル", TIAS_NOTIFY_BODY: hostile });
  assert.deepEqual(started[0]?.args, notifierOf("windows", "", "").args);
  assert.match(decoded(started[0]?.args ?? []), /CreateTextNode\(\$env:TIAS_NOTIFY_BODY\)/);
});

Deno.test("notify() on Linux escapes the body, which is markup, and never makes an option of a text", async () => {
  const { start, started } = fakeStart({ code: 0, when: "at once" });
  assert.equal(
    await notify({ start, os: "linux", clock: clockThat("never ends") }, "-t", hostile),
    undefined,
  );
  assert.deepEqual(started[0]?.args, [
    "--app-name=tias-remote",
    "--",
    "-t",
    `"; do shell script "x" -- $(x) &lt;b&gt;&amp;'日本`,
  ]);
});

Deno.test("notify() takes control characters out and shortens a long text", async () => {
  const { start, started } = fakeStart({ code: 0, when: "at once" });
  await notify(
    { start, os: "darwin", clock: clockThat("never ends") },
    "a\u0000b",
    "\u001b".repeat(10) + "x".repeat(900),
  );
  assert.deepEqual(started[0]?.args.slice(-2), ["a b", " ".repeat(10) + "x".repeat(490)]);
});

Deno.test.each(
  [
    ["is missing", new Deno.errors.NotFound("no")],
    ["is not allowed", new Deno.errors.NotCapable("no")],
  ] as const,
)("notify() where the program %s is a note", async (_what, error) => {
  const start = () => {
    throw error;
  };
  const note = await notify({ start, os: "linux", clock: clockThat("never ends") }, "a", "b");
  assert.deepEqual(note, { id: "notify.absent", params: { program: "notify-send" } });
});

Deno.test("notify() where the program fails is a note", async () => {
  const { start } = fakeStart({ code: 1, when: "at once" });
  const note = await notify({ start, os: "linux", clock: clockThat("never ends") }, "a", "b");
  assert.deepEqual(note, { id: "notify.failed", params: { program: "notify-send" } });
});

Deno.test("notify() ends a program that hangs", async () => {
  const { start, killed } = fakeStart({ code: 0, when: "killed" });
  const note = await notify({ start, os: "linux", clock: clockThat("ends at once") }, "a", "b");
  assert.equal(note?.id, "notify.failed");
  assert.equal(killed(), 1);
});

Deno.test("notify() does not hide a bug", async () => {
  const start = () => {
    throw new TypeError("a bug");
  };
  await assert.rejects(notify({ start, os: "linux", clock: clockThat("never ends") }, "a", "b"), TypeError);
});
