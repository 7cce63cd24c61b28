import assert from "node:assert/strict";
import { join } from "node:path";

const program = join(import.meta.dirname ?? ".", "real_world.ts");
const unixOnly = { ignore: Deno.build.os === "windows" };

function command(
  what: readonly string[],
  permissions: readonly string[] = ["-A"],
  env: Record<string, string> = {},
) {
  return new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-prompt", ...permissions, program, ...what],
    env,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
}

async function printed(...parameters: Parameters<typeof command>): Promise<string> {
  const { stdout, stderr } = await command(...parameters).output();
  assert.equal(new TextDecoder().decode(stderr), "");
  return new TextDecoder().decode(stdout);
}

Deno.test("realContext() starts a program with pipes and an added environment", unixOnly, async () => {
  const answer = await printed(["start", "sh", "-c", 'cat; printf "%s" "$ADDED" >&2; exit 7']);
  assert.deepEqual(JSON.parse(answer), { out: "input", err: "added", code: 7, signal: null });
});

Deno.test("realContext() ends a program, also one that has ended", unixOnly, async () => {
  assert.equal(await printed(["kill"]), "SIGTERM\n");
});

Deno.test("realContext() writes on quietly when the reader has left", unixOnly, async () => {
  const child = command(["flood"]).spawn();
  const reader = child.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const [stderr, { code }] = await Promise.all([new Response(child.stderr).text(), child.status]);
  assert.deepEqual({ stderr, code }, { stderr: "done\n", code: 0 });
});

Deno.test("realContext() has a sentence for an output that takes nothing", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  const { code, stderr } = await new Deno.Command("sh", {
    args: ["-c", 'exec "$@" >/dev/full', "sh", Deno.execPath(), "run", "--quiet", "-A", program, "full"],
    stdout: "piped",
    stderr: "piped",
  }).output();
  assert.deepEqual({ code, said: new TextDecoder().decode(stderr) }, { code: 0, said: "output.failed\n" });
});

Deno.test.each([
  ["unset", ["-A"], {}],
  ["set", ["-A"], { TIAS_REMOTE_JUMP: "" }],
  // Without the permission there is no error, as if the variable did not exist.
  ["unset", ["--allow-read"], { TIAS_REMOTE_JUMP: "x" }],
  ["set", ["--allow-read", "--allow-env=TIAS_REMOTE_JUMP"], { TIAS_REMOTE_JUMP: "x" }],
])("realContext() calls a variable %s with %j and %j", async (expected, permissions, env) => {
  assert.equal(await printed(["env"], permissions, env), `${expected}\n`);
});

Deno.test.each([["SIGINT"], ["SIGTERM"], ["SIGHUP"]] as const)(
  "realContext() is interrupted by %s and ends its sleep",
  unixOnly,
  async (signal) => {
    const child = command(["wait"]).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    let text = (await reader.read()).value ?? "";
    child.kill(signal);
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      text += value;
    }
    await Promise.all([child.status, child.stderr.cancel()]);
    assert.equal(text, "waiting\ninterrupted\n");
  },
);

Deno.test("realContext() has no terminal on pipes, and 80 columns then", async () => {
  assert.equal(await printed(["terminal"]), "false false 80\n");
});
