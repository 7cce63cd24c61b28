import assert from "node:assert/strict";
import { parseJobs } from "../../lib/job/list.ts";
import { jobShell, limitedShell } from "../../lib/job/shell.ts";
import { runShell, shells, temporaryFolder } from "../shell.ts";

const linux = Deno.build.os === "linux";

/** What `script` prints behind the shared functions, with `~/work` as remote_dir. */
async function withJobShell(
  script: string,
  home: string,
  shell: readonly string[] = ["sh"],
): Promise<string> {
  const { stdout, stderr } = await runShell(`remote_dir='~/work'\n${jobShell}${limitedShell}${script}`, {
    shell,
    env: { HOME: home },
  });
  assert.equal(stderr, "");
  return stdout;
}

for (const shell of shells) {
  const name = shell.join(" ");

  Deno.test(`expand() finds the home folder in ${name}`, async () => {
    const paths = ["~", "~/a b", "/abs/$x", "rel/日本", "~bob/x", "a~/b"];
    const script = paths.map((path) => `expand '${path}'; echo`).join("\n");
    assert.deepEqual((await withJobShell(script, "/home/h h", shell)).split("\n").slice(0, -1), [
      "/home/h h",
      "/home/h h/a b",
      "/abs/$x",
      "/home/h h/rel/日本",
      "/home/h h/~bob/x",
      "/home/h h/a~/b",
    ]);
  });

  Deno.test(
    `start_time() and lives() know a process by more than its number in ${name}`,
    { ignore: !linux },
    async () => {
      const script = `
sleep 30 & pid=$!
start=$(start_time $pid)
case $start in *[!0-9]* | '') echo "no start: $start" ;; *) echo start ;; esac
lives $pid "$start" "$boot" "$host" && echo lives
lives $pid "$start" other "$host" || echo 'other boot'
lives $pid "$start" "$boot" other || echo 'other host'
lives $pid 1 "$boot" "$host" || echo 'other start'
kill $pid; wait $pid 2>/dev/null
lives $pid "$start" "$boot" "$host" || echo ended
start_time 4194305 || echo none
`;
      assert.deepEqual((await withJobShell(script, "/nowhere", shell)).split("\n").slice(0, -1), [
        "start",
        "lives",
        "other boot",
        "other host",
        "other start",
        "ended",
        "none",
      ]);
    },
  );

  Deno.test(
    `list_jobs() tells running, ended and lost jobs apart in ${name}`,
    { ignore: !linux },
    async () => {
      await using folder = await temporaryFolder();
      const jobs = `${folder.path}/work/runs/_remote_logs/.jobs`;
      await Deno.mkdir(jobs, { recursive: true });
      const script = `
sleep 30 & pid=$!
state() { printf 'id=%s\\npid=%s\\nstart=%s\\nboot=%s\\nhost=%s\\ngpu=1\\nuuid=GPU-a\\nbegan=1790000000\\nkeeper=tmux\\noffset=0\\n' "$@"; }
id=0123456789abcdef0123456789abcdef
state $id $pid "$(start_time $pid)" "$boot" "$host" >"$jobs/live.state"
state $id $pid 1 "$boot" "$host" >"$jobs/reused.state"
state $id $pid "$(start_time $pid)" other "$host" >"$jobs/rebooted.state"
state $id $pid "$(start_time $pid)" "$boot" other >"$jobs/elsewhere.state"
{ state $id $pid "$(start_time $pid)" "$boot" "$host"; printf 'ended=1790000060\\ncode=3\\n'; } >"$jobs/over.state"
: >"$jobs/empty.state"
printf 'rubbish\\nid\\n=x\\n' >"$jobs/rubbish.state"
list_jobs
kill $pid
`;
      const listed = parseJobs(await withJobShell(script, folder.path, shell));
      assert.deepEqual(
        listed.map(({ name, state, exitCode }) => `${name} ${state} ${exitCode}`).sort(),
        ["live running null", "over ended 3", "rebooted lost null", "reused lost null"],
      );
    },
  );

  Deno.test(
    `list_jobs() reads only those of old jobs that never ended, and dates a lost one by its log in ${name}`,
    { ignore: !linux },
    async () => {
      await using folder = await temporaryFolder();
      const logs = `${folder.path}/work/runs/_remote_logs`;
      await Deno.mkdir(`${logs}/.jobs`, { recursive: true });
      const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
      const keep = async (job: string, text: string, age: number) => {
        const file = `${logs}/.jobs/${job}.state`;
        await Deno.writeTextFile(file, text);
        await Deno.utime(file, daysAgo(age), daysAgo(age));
      };
      const ended = "host=$host\nbegan=1790000000\nended=1790000060\ncode=0\n";
      const host = (await withJobShell('printf %s "$host"', folder.path, shell)).trim();
      await keep("yesterday", ended.replace("$host", host), 1);
      await keep("last-week", ended.replace("$host", host), 7);
      await keep("long-lost", `host=${host}\nbegan=1790000000\n`, 7);
      await Deno.writeTextFile(`${logs}/long-lost.log`, "epoch 9\n");
      await Deno.utime(`${logs}/long-lost.log`, new Date(1_790_500_000_000), new Date(1_790_500_000_000));
      const listed = parseJobs(await withJobShell("list_jobs", folder.path, shell));
      assert.deepEqual(listed.map(({ name, state, ended }) => [name, state, ended?.getTime()]), [
        ["long-lost", "lost", 1_790_500_000_000],
        ["yesterday", "ended", 1_790_000_060_000],
      ]);
    },
  );

  Deno.test(`limited() ends what takes too long and passes every status on in ${name}`, async () => {
    const script = `
limited 5 sh -c 'exit 7'; echo $?
limited 5 true; echo $?
{ limited 1 sleep 20; } 2>/dev/null; echo $?
limited 5 no-such-program-anywhere 2>/dev/null; echo $?
`;
    assert.deepEqual((await withJobShell(script, "/nowhere", shell)).split("\n").slice(0, -1), [
      "7",
      "0",
      // BusyBox' own \`timeout\` says that it was TERM.
      name.startsWith("busybox") ? "143" : "124",
      "127",
    ]);
  });
}

Deno.test("limited() is kept where there is no timeout program", async () => {
  const hidden = 'command() { [ "$2" != timeout ] && builtin_command "$@"; return 1; }\n';
  const { stdout } = await runShell(`${limitedShell}${hidden}
limited 5 sh -c 'exit 7'; echo $?
{ limited 1 sleep 20; } 2>/dev/null; echo $?
`);
  assert.equal(stdout, "7\n124\n");
});

Deno.test("list_claims() names live claims only", { ignore: !linux }, async () => {
  await using folder = await temporaryFolder();
  const script = `
sleep 30 & pid=$!
mkdir -p "$claims/GPU-a" "$claims/GPU-b"
printf '%s %s %s %s %s %s\\n' $pid "$(start_time $pid)" "$boot" "$host" 11 exp1 >"$claims/GPU-a/11.claim"
printf '%s %s %s %s %s %s\\n' $pid 1 "$boot" "$host" 12 exp2 >"$claims/GPU-a/12.claim"
: >"$claims/GPU-b/13.claim"
list_claims
kill $pid
`;
  assert.equal(await withJobShell(script, folder.path), "GPU-a exp1 11\n");
});

Deno.test("list_jobs() and list_claims() say nothing where nothing was ever started", async () => {
  await using folder = await temporaryFolder();
  assert.equal(await withJobShell("list_jobs; list_claims", folder.path), "");
});
