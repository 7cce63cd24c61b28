/** The script behind `kill`, on real processes of this machine. */

import assert from "node:assert/strict";
import { killScript } from "../../lib/job/kill.ts";
import { readFields } from "../../lib/job/list.ts";
import { jobShell } from "../../lib/job/shell.ts";
import { sectionOf } from "../../lib/ssh/framing.ts";
import { runRemotely } from "../remote_shell.ts";
import { runShell, temporaryFolder } from "../shell.ts";

const linux = { ignore: Deno.build.os !== "linux" };

const idOf = (job: string) => job.padEnd(32, "f");

// As the keeper of a job: its own group, its id in the environment, its exit code written at the end.
const keeper = `
export TIAS_REMOTE_JOB_ID="$2"
trap : INT TERM HUP
printf 'id=%s\\npid=%s\\nstart=%s\\nboot=%s\\nhost=%s\\ngpu=0\\nuuid=GPU-a\\nbegan=1\\nkeeper=setsid\\noffset=0\\n' \\
  "$2" $$ "$(start_time $$)" "$boot" "$host" >"$jobs/$1.state.new"
mv "$jobs/$1.state.new" "$jobs/$1.state"
sh -c "$3"
code=$?
printf 'ended=1\\ncode=%s\\n' "$code" >>"$jobs/$1.state"
`;

/** Starts these jobs, each as shell text, kills one, and tells what is left. */
async function killing(jobs: Readonly<Record<string, string>>, name: string, order = "go\n", grace = 1) {
  await using folder = await temporaryFolder();
  const home = folder.path;
  const states = `${home}/work/runs/_remote_logs/.jobs`;
  await Deno.mkdir(states, { recursive: true });
  const shared = `remote_dir='~/work'\n${jobShell}`;
  for (const [job, text] of Object.entries(jobs)) {
    await Deno.writeTextFile(`${home}/${job}.sh`, shared + keeper);
    const { code } = await runShell(
      `setsid sh "$HOME/${job}.sh" "$1" "$2" "$3" </dev/null >/dev/null 2>&1 &
until [ -e "$4/${job}.state" ] && [ -e "$HOME/${job}.ready" ]; do sleep 0.05; done`,
      { env: { HOME: home }, args: ["sh", job, idOf(job), text, states] },
    );
    assert.equal(code, 0);
  }
  try {
    const { transcript } = await runRemotely(killScript("~/work", name, grace, new ReadableStream()), home, {
      stdin: order,
    });
    const section = (part: string) => {
      const found = sectionOf(transcript, part);
      return found === undefined ? undefined : readFields(found.text);
    };
    const alive = await Promise.all(
      Object.keys(jobs).map(async (job) => {
        const { stdout } = await runShell(
          `grep -l "TIAS_REMOTE_JOB_ID=${idOf(job)}" /proc/[0-9]*/environ 2>/dev/null`,
        );
        return stdout === "" ? [] : [job];
      }),
    );
    return { job: section("job"), kill: section("kill"), alive: alive.flat() };
  } finally {
    for (const job of Object.keys(jobs)) {
      await runShell(
        `for file in $(grep -l "TIAS_REMOTE_JOB_ID=${idOf(job)}" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${file#/proc/}; kill -9 "\${pid%/environ}"
done`,
      );
    }
  }
}

const ready = (job: string) => `: >"$HOME/${job}.ready"; `;

Deno.test(
  "killScript() ends a job with all its processes, and no job whose name begins alike",
  linux,
  async () => {
    const { job, kill, alive } = await killing({
      a1: `${ready("a1")}sleep 60 & sleep 61 & wait`,
      a10: `${ready("a10")}sleep 60`,
    }, "a1");
    assert.equal(job?.["found"], "1");
    assert.equal(job?.["state"], "running");
    assert.equal(kill?.["outcome"], "killed");
    assert.deepEqual(alive, ["a10"]);
  },
);

Deno.test("killScript() ends what does not hear TERM, and what has left the group", linux, async () => {
  const { kill, alive } = await killing({
    b1: `${ready("b1")}trap '' TERM; setsid sh -c 'trap "" TERM; sleep 60; sleep 60' & sleep 60; sleep 60`,
  }, "b1");
  assert.equal(kill?.["outcome"], "killed");
  assert.deepEqual(alive, []);
});

Deno.test("killScript() tells the exit code that the job itself wrote", linux, async () => {
  const { kill } = await killing(
    {
      c1: `trap 'exit 42' TERM; ${ready("c1")}while :; do sleep 0.1; done`,
    },
    "c1",
    "go\n",
    5,
  );
  assert.deepEqual(kill, { outcome: "killed", code: "42" });
});

Deno.test.each([[""], ["no\n"], ["g"]])(
  "killScript() touches nothing when the order is %j",
  linux,
  async (order) => {
    const { job, kill, alive } = await killing({ d1: `${ready("d1")}sleep 60` }, "d1", order);
    assert.equal(job?.["found"], "1");
    assert.equal(kill, undefined);
    assert.deepEqual(alive, ["d1"]);
  },
);

Deno.test("killScript() knows no job that was never started", linux, async () => {
  const { job, kill } = await killing({}, "e1");
  assert.deepEqual(job, { found: "0" });
  assert.deepEqual(kill, { outcome: "gone" });
});
