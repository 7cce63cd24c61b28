import assert from "node:assert/strict";
import { completionScripts } from "../../lib/cli/completion_scripts.ts";
import { runningJobs } from "../../lib/cli/proposals.ts";
import { remoteSchema } from "../../lib/config/remote.ts";
import { FakeProcess } from "../ssh/fake_process.ts";
import { countingRandom, settle, testContext } from "../test_context.ts";
import { typed } from "./command_line.ts";

/** The proposals for a command line whose last word is the one at the cursor. */
async function proposed(...words: string[]): Promise<string[]> {
  const { exit, out, err } = await typed("en", "completion", "words", "--", ...words);
  assert.deepEqual({ exit, err }, { exit: 0, err: "" });
  return out.split("\n").filter((line) => line !== "").map((line) => line.split("\t")[0] ?? "");
}

Deno.test("completion words tells each proposal with what it is for, in either language", async () => {
  const english = await typed("en", "completion", "words", "--", "gpu");
  assert.equal(english.out, "gpus\tShow every server's GPUs and the one that `run` would choose\n");
  const japanese = await typed("ja", "completion", "words", "--", "gpus", "--js");
  assert.match(japanese.out, /^--json\t.*JSON/);
});

Deno.test("completion words proposes flags where nothing else can be told, or where a dash asks", async () => {
  assert.ok((await proposed("gpus", "")).includes("--observe"));
  assert.ok(!(await proposed("gpus", "")).includes("--"), "no separator where none is needed");
  assert.deepEqual(await proposed("completion", ""), ["bash", "zsh", "fish", "powershell"]);
  assert.deepEqual(await proposed("completion", "-"), ["--lang"]);
  assert.ok((await proposed("run", "--")).includes("--"));
  assert.deepEqual(await proposed("run", "--", "-"), [], "what follows is the job's own");
});

Deno.test("completion words proposes values behind the = of a flag", async () => {
  assert.deepEqual(await proposed("gpus", "--lang="), ["--lang=ja", "--lang=en"]);
  assert.deepEqual(await proposed("gpus", "--lang=j"), ["--lang=ja"]);
  assert.deepEqual(await proposed("gpus", "--nonsense="), []);
});

Deno.test.each([
  [["nonsense", ""]],
  [["gpus", "--nonsense", ""]],
  [["push", "--server", ""]],
  [["logs", ""]],
  [[]],
])("completion words is quiet when there is nothing to propose: %j", async (words) => {
  // In this world nothing can be read and no program started.
  assert.deepEqual(await proposed(...words), []);
});

Deno.test("completion next is completion words with an empty word at the cursor", async () => {
  const next = await typed("en", "completion", "next", "--", "completion");
  assert.deepEqual(next, await typed("en", "completion", "words", "--", "completion", ""));
});

Deno.test.each(Object.entries(completionScripts))(
  "completion %s prints its short script",
  async (shell, text) => {
    assert.deepEqual(await typed("en", "completion", shell), { exit: 0, out: text, err: "" });
    assert.ok(text.split("\n").length <= 30);
  },
);

Deno.test("completion knows no other shell, and says so", async () => {
  const english = await typed("en", "completion", "tcsh");
  assert.equal(english.exit, 2);
  assert.match(
    english.err,
    /^error: There is no completion for `tcsh`; there is for bash, zsh, fish, powershell\nhint: /,
  );
  const japanese = await typed("ja", "completion", "bash", "more");
  assert.equal(japanese.exit, 2);
  assert.match(japanese.err, /^エラー: `bash` の補完はありません/);
});

Deno.test("runningJobs() tells those that run, and waits three seconds for a server that says nothing", async () => {
  const server = { user: "h", priority: 1, remote_dir: "~/w", data_dir: "~/d", uv: "~/uv", data_ready: true };
  const config = remoteSchema.parse({
    servers: [{ ...server, name: "Newton", address: "n" }, { ...server, name: "Archimedes", address: "a" }],
  });
  const processes: FakeProcess[] = [];
  const world = testContext({
    random: countingRandom(),
    start(spec) {
      const process = new FakeProcess(spec);
      processes.push(process);
      return process;
    },
  });
  const names = runningJobs(world, config);
  await settle();
  const [newton, archimedes] = processes;
  assert.ok(newton !== undefined && archimedes !== undefined);
  const job = (name: string, state: string) => `job=${name}\nstate=${state}\nid=${"0".repeat(32)}\n`;
  const jobs = job("zeta", "running") + job("old", "ended") + job("alpha", "running");
  const { nonce } = newton;
  newton.print(
    `@@${nonce} begin\n\n@@${nonce} section jobs\n${jobs}\n@@${nonce} end jobs 0\n\n@@${nonce} done\n`,
  );
  newton.exit(0);
  await world.clock.tick(2999);
  assert.equal(archimedes.kills, 0);
  await world.clock.tick(1);
  assert.equal(archimedes.kills, 1);
  assert.deepEqual(await names, ["alpha", "zeta"]);
});
