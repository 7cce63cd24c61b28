import assert from "node:assert/strict";
import { checkupScript } from "../../lib/doctor/checkup_script.ts";
import { readFields } from "../../lib/job/list.ts";
import { findBegin, framingScript, parseTranscript, sectionOf } from "../../lib/ssh/framing.ts";
import { shellAssignments } from "../../lib/ssh/quote.ts";
import { runShell, shells, temporaryFolder, writePrograms } from "../shell.ts";

const nonce = "0123456789abcdef0123456789abcdef";

/** Examines a home as a server would; every section's fields. */
async function examine(
  shell: readonly string[],
  home: string,
  values: Partial<{ remote_dir: string; data_dir: string; uv: string }> = {},
) {
  const script = checkupScript({ remote_dir: "~/work/p", data_dir: "~/data", uv: "~/uv", ...values });
  const { stdout, stderr } = await runShell(
    shellAssignments({ nonce, ...script.values }) + framingScript + script.text,
    { shell, env: { HOME: home, PATH: `${home}/bin:${Deno.env.get("PATH")}`, SHELL: "/bin/zsh" } },
  );
  const transcript = parseTranscript(stdout.slice(findBegin(stdout, nonce)), nonce);
  assert.ok(transcript.complete, stderr);
  return (name: string) => readFields(sectionOf(transcript, name)?.text ?? "");
}

Deno.test.each(shells.map((shell) => [shell.join(" "), shell] as const))(
  "checkupScript() in %s tells places, data and tools apart, and leaves nothing behind",
  async (_name, shell) => {
    await using folder = await temporaryFolder();
    const home = folder.path;
    await writePrograms(`${home}/bin`, {
      "nvidia-smi": "exit 9\n",
      df: "echo H; echo 'a b 9 8 777 5% /x y'\n",
    });
    await writePrograms(home, { uv: "echo uv 1.2.3; echo more\n" });

    const fresh = await examine(shell, home);
    assert.equal(fresh("facts")["shell"], "zsh");
    assert.deepEqual(fresh("uv"), { path: `${home}/uv`, state: "runs", said: "uv 1.2.3" });
    const { free_kib, ...place } = fresh("place");
    // BusyBox takes its own df before one that stands in the PATH.
    assert.match(free_kib ?? "", shell[0] === "busybox" ? /^\d+$/ : /^777$/);
    assert.deepEqual(place, { path: `${home}/work/p`, existing: home, writable: "1", said: "" });
    assert.deepEqual(fresh("data"), { path: `${home}/data`, state: "missing" });
    assert.match(fresh("tools")["sha256"] ?? "", /^(openssl|sha256sum|shasum)$/);

    await Deno.mkdir(`${home}/work/p`, { recursive: true });
    await Deno.mkdir(`${home}/data`);
    await Deno.writeTextFile(`${home}/file`, "");
    const made = await examine(shell, home, { uv: "~/file" });
    assert.equal(made("place")["existing"], `${home}/work/p`);
    assert.equal(made("data")["state"], "empty");
    assert.equal(made("uv")["state"], "fails");
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${home}/work/p`)), []);

    await Deno.writeTextFile(`${home}/data/patient.dcm`, "");
    const blocked = await examine(shell, home, { remote_dir: "~/file/p", uv: "~/none" });
    assert.equal(blocked("place")["writable"], "0");
    assert.notEqual(blocked("place")["said"], "");
    assert.equal(blocked("data")["state"], "filled");
    assert.equal(blocked("uv")["state"], "missing");
    assert.equal((await examine(shell, home, { data_dir: "~/file" }))("data")["state"], "not_folder");
  },
);
