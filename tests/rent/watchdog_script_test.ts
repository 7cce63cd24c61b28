import assert from "node:assert/strict";
import { join } from "node:path";
import { watchdogScript } from "../../lib/rent/watchdog_script.ts";
import { endProcess } from "../lab/processes.ts";
import { needing } from "../lab/requirements.ts";
import { findProgram } from "../lab/system_path.ts";
import { waitUntil } from "../lab/waiting.ts";

/** A Pod's container without a Pod: the script, its environment, and the service that it asks. */

const key = "rpa_PODSECRET0123456789";
const pod = "pod1abc";
const programs = ["cat", "date", "head", "mkdir", "mv", "sed", "sh", "sleep", "tr"];

interface Call {
  readonly method: string;
  readonly path: string;
  readonly authorization: string | null;
  readonly agent: string | null;
  readonly body: string;
}

interface Bench extends AsyncDisposable {
  readonly calls: Call[];
  readonly state: string;
  readonly root: string;
  /** Command lines in which the key was seen while a request ran. */
  readonly leaks: string[];
  start(options?: StartOptions): Promise<number>;
  stop(pid: number): Promise<void>;
  log(): Promise<string>;
}

interface StartOptions {
  readonly shell?: string;
  /** Seconds from now. */
  readonly deadline?: number | string;
  readonly extension?: number;
  readonly tools?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The start command. */
  readonly words?: readonly string[];
}

async function makeBench(
  answer: (call: Call) => Response = () => new Response(null, { status: 204 }),
): Promise<Bench> {
  const root = await Deno.makeTempDir({ prefix: "watchdog-" });
  const calls: Call[] = [];
  const leaks: string[] = [];
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    for await (const { name } of Deno.readDir("/proc")) {
      const line = /^\d+$/.test(name) ? await Deno.readTextFile(`/proc/${name}/cmdline`).catch(() => "") : "";
      if (line.includes(key)) leaks.push(line);
    }
    const call = {
      method: request.method,
      path: new URL(request.url).pathname,
      authorization: request.headers.get("authorization"),
      agent: request.headers.get("user-agent"),
      body: await request.text(),
    };
    calls.push(call);
    return call.method === "GET" ? Response.json({ id: pod }) : answer(call);
  });
  const running = new Map<number, Deno.ChildProcess>();
  const outputs: Promise<void>[] = [];
  const state = join(root, "state");
  const stop = async (pid: number) => {
    endGroup(pid);
    await running.get(pid)?.status;
    running.delete(pid);
  };
  return {
    calls,
    leaks,
    state,
    root,
    async start(options = {}) {
      const folder = await Deno.makeTempDir({ dir: root, prefix: "bin-" });
      for (const name of [...programs, ...options.tools ?? ["curl"]]) {
        if (name === "runpodctl") {
          const text = `#!/bin/sh\nprintf '%s %s\\n' "$*" "\${RUNPOD_API_KEY:-none}" >>"${root}/runpodctl"\n`;
          await Deno.writeTextFile(join(folder, name), text, { mode: 0o755 });
        } else await Deno.symlink(await findProgram(name), join(folder, name));
      }
      const script = watchdogScript({
        apiUrl: `http://127.0.0.1:${server.addr.port}/v2`,
        folder: state,
        tickSec: 1,
        environ: join(root, "environ"),
        exported: join(root, "rp_environment"),
      });
      const { deadline = 0 } = options;
      const at = typeof deadline === "string" ? deadline : String(Math.floor(Date.now() / 1000) + deadline);
      const child = new Deno.Command(await findProgram("setsid"), {
        args: [
          await findProgram(options.shell ?? "sh"),
          "-c",
          script,
          "tias-remote",
          ...options.words ?? ["sleep", "1000"],
        ],
        clearEnv: true,
        env: {
          PATH: folder,
          TIAS_REMOTE_POD: "ours-run-00000000",
          TIAS_REMOTE_DEADLINE: at,
          TIAS_REMOTE_EXTENSION: String(options.extension ?? 0),
          ...options.env ?? { RUNPOD_POD_ID: pod, RUNPOD_API_KEY: key },
        },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      running.set(child.pid, child);
      for (const stream of [child.stdout, child.stderr]) {
        outputs.push(stream.text().then((text) => void (text.includes(key) && leaks.push(text))));
      }
      return child.pid;
    },
    stop,
    log: () => Deno.readTextFile(join(state, "log")).catch(() => ""),
    async [Symbol.asyncDispose]() {
      for (const pid of [...running.keys()]) await stop(pid);
      await Promise.all(outputs);
      await server.shutdown();
      for await (const file of walk(root)) assert.ok(!(await Deno.readTextFile(file)).includes(key), file);
      assert.deepEqual(leaks, []);
      await Deno.remove(root, { recursive: true });
    },
  };
}

async function* walk(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    if (isDirectory) yield* walk(join(folder, name));
    // The two files that hold the key on a Pod, and the stand-in's own record, are not the watchdog's.
    else if (isFile && !["environ", "rp_environment", "runpodctl"].includes(name)) yield join(folder, name);
  }
}

function endGroup(leader: number): void {
  try {
    Deno.kill(-leader, "SIGKILL");
  } catch {
    endProcess(leader);
  }
}

const changes = (bench: Bench) => bench.calls.filter(({ method }) => method !== "GET");
const deletion = (call: Call) => call.method === "DELETE" && call.path === `/v2/pods/${pod}`;

for (const shell of ["sh", "dash", "bash"]) {
  for (const tool of ["curl", "python3"]) {
    Deno.test({
      ...needing([shell, tool, "setsid"], `watchdogScript() deletes its own Pod, by ${shell} and ${tool}`),
      async fn() {
        await using bench = await makeBench();
        await bench.start({ shell, tools: [tool] });
        await waitUntil(() => changes(bench).length > 0);
        const [call] = changes(bench);
        assert.ok(call !== undefined && deletion(call));
        assert.equal(call.authorization, `Bearer ${key}`);
        assert.match(call.agent ?? "", /^tias-remote-watchdog\//);
        assert.equal(call.body, "");
        await waitUntil(async () => (await bench.log()).includes("delete 204"));
      },
    });
  }
}

Deno.test("watchdogScript() tries again and again until the Pod is dead", async () => {
  await using bench = await makeBench(() => new Response("no", { status: 500 }));
  await bench.start();
  await waitUntil(() => changes(bench).filter(deletion).length >= 2);
});

Deno.test("watchdogScript() goes from DELETE to terminate, GraphQL, runpodctl and stop", async () => {
  await using bench = await makeBench(({ path }) =>
    path === "/graphql" ? Response.json({ errors: [{ message: "no" }] }) : new Response("{}", { status: 403 })
  );
  await bench.start({ tools: ["curl"] });
  await waitUntil(() => changes(bench).some(({ body }) => body.includes('"stop"')));
  const order = changes(bench).slice(0, 4).map(({ method, path, body }) => `${method} ${path} ${body}`);
  assert.deepEqual(order, [
    `DELETE /v2/pods/${pod} `,
    `POST /v2/pods/${pod}/action {"action":"terminate"}`,
    `POST /graphql {"query":"mutation { podTerminate(input: {podId: \\"${pod}\\"}) }"}`,
    `POST /v2/pods/${pod}/action {"action":"stop"}`,
  ]);
});

Deno.test("watchdogScript() is content with what GraphQL did", async () => {
  await using bench = await makeBench(({ path }) =>
    path === "/graphql"
      ? Response.json({ data: { podTerminate: null } })
      : new Response("{}", { status: 403 })
  );
  await bench.start();
  await waitUntil(() => changes(bench).filter(deletion).length >= 2);
  assert.ok(!changes(bench).some(({ body }) => body.includes('"stop"')));
});

Deno.test("watchdogScript() uses runpodctl where nothing speaks HTTP, with the key in its environment", async () => {
  await using bench = await makeBench();
  await bench.start({ tools: ["runpodctl"] });
  const record = () => Deno.readTextFile(join(bench.root, "runpodctl")).catch(() => "");
  await waitUntil(async () => (await record()) !== "");
  assert.equal((await record()).split("\n")[0], `remove pod ${pod} ${key}`);
});

Deno.test("watchdogScript() finds the key in the first process's environment", async () => {
  await using bench = await makeBench();
  const environ = `HOME=/root\0RUNPOD_POD_ID=${pod}\0RUNPOD_API_KEY=${key}\0X=\0`;
  await Deno.writeTextFile(join(bench.root, "environ"), environ);
  await bench.start({ env: {} });
  await waitUntil(() => changes(bench).some(deletion));
  assert.equal(changes(bench)[0]?.authorization, `Bearer ${key}`);
});

Deno.test("watchdogScript() finds the key where Runpod's images note it", async () => {
  await using bench = await makeBench();
  const noted = `export CUDA_VERSION="12.8"\nexport RUNPOD_POD_ID="${pod}"\nexport RUNPOD_API_KEY="${key}"\n`;
  await Deno.writeTextFile(join(bench.root, "rp_environment"), noted);
  await bench.start({ env: {} });
  await waitUntil(() => changes(bench).some(deletion));
  assert.equal(changes(bench)[0]?.authorization, `Bearer ${key}`);
});

Deno.test("watchdogScript() acts at once when its deadline makes no sense", async () => {
  await using bench = await makeBench();
  await bench.start({ deadline: "12:00; rm -rf x" });
  await waitUntil(() => changes(bench).some(deletion));
});

Deno.test("watchdogScript() proves that it lives and that its key reads its own Pod, and waits", async () => {
  await using bench = await makeBench();
  await bench.start({ deadline: 1000 });
  const alive = () => Deno.readTextFile(join(bench.state, "alive")).catch(() => "");
  await waitUntil(async () => (await alive()).includes("proof=200"));
  await waitUntil(async () => (await alive()).includes("until="));
  assert.deepEqual(changes(bench), []);
});

Deno.test("watchdogScript() is put off by the file, never beyond the extension, never to an earlier time", async () => {
  await using bench = await makeBench();
  await Deno.mkdir(bench.state);
  await bench.start({ deadline: 1000, extension: 500 });
  const until = async () =>
    Number(/until=(\d+)/.exec(await Deno.readTextFile(join(bench.state, "alive")).catch(() => ""))?.[1] ?? 0);
  await waitUntil(async () => (await until()) > 0);
  const deadline = await until();
  const write = (text: string) => Deno.writeTextFile(join(bench.state, "extend"), text);
  await write(`${deadline + 100}\n`);
  await waitUntil(async () => (await until()) === deadline + 100);
  await write(`${deadline + 100_000}\n`);
  await waitUntil(async () => (await until()) === deadline + 500);
  for (const nonsense of ["1\n", "99999999999999\n", "x\n", "\n", "$(reboot)\n"]) {
    await write(nonsense);
    const { mtime } = await Deno.stat(join(bench.state, "alive"));
    await waitUntil(async () =>
      ((await Deno.stat(join(bench.state, "alive")).catch(() => null))?.mtime?.getTime() ?? 0) >
        (mtime?.getTime() ?? 0)
    );
    assert.equal(await until(), deadline + 500);
  }
});

Deno.test("watchdogScript() keeps its deadline and its extension over a restart of the container", async () => {
  await using bench = await makeBench();
  await Deno.mkdir(bench.state);
  const deadline = Math.floor(Date.now() / 1000) + 1000;
  const until = async () =>
    Number(/until=(\d+)/.exec(await Deno.readTextFile(join(bench.state, "alive")).catch(() => ""))?.[1] ?? 0);
  const first = await bench.start({ deadline: String(deadline), extension: 500 });
  await waitUntil(async () => (await until()) === deadline);
  await Deno.writeTextFile(join(bench.state, "extend"), `${deadline + 50}\n`);
  await waitUntil(async () => (await until()) === deadline + 50);
  await bench.stop(first);
  await Deno.remove(join(bench.state, "alive"));
  await bench.start({ deadline: String(deadline), extension: 500 });
  await waitUntil(async () => (await until()) === deadline + 50);
});

Deno.test("watchdogScript() is disarmed by the Pod's own name alone, and armed again without it", async () => {
  await using bench = await makeBench();
  await Deno.mkdir(bench.state);
  await Deno.writeTextFile(join(bench.state, "disarm"), "ours-run-00000000\n");
  const pid = await bench.start();
  await waitUntil(async () => (await Deno.readTextFile(join(bench.state, "alive")).catch(() => "")) !== "");
  assert.deepEqual(changes(bench), []);
  await Deno.writeTextFile(join(bench.state, "disarm"), "yes\n");
  await waitUntil(() => changes(bench).some(deletion));
  await bench.stop(pid);
});

Deno.test("watchdogScript() hands over to the start command with its words", async () => {
  await using bench = await makeBench();
  const said = join(bench.root, "said");
  const words = ["sh", "-c", `printf '%s|' "$$" "$@" >"${said}"; exec sleep 1000`, "start", "a b", "$HOME"];
  const pid = await bench.start({ deadline: 1000, words });
  // The start command takes the first process's place: it is the one that a Pod's container stands and falls with.
  await waitUntil(async () => (await Deno.readTextFile(said).catch(() => "")) === `${pid}|a b|$HOME|`);
});
