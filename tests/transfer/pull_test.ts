import assert from "node:assert/strict";
import { join } from "node:path";
import { realDisk } from "../../lib/transfer/disk.ts";
import { judgedArchives } from "./judged_archives.ts";
import { LocalServer } from "./local_server.ts";
import { systemError } from "./memory_disk.ts";
import { anything, wide } from "./reading.ts";
import { header } from "./tar_builder.ts";

const unix = { ignore: Deno.build.os === "windows" };

async function withServer(test: (server: LocalServer) => Promise<void>): Promise<void> {
  await using server = await LocalServer.start();
  await server.write("figures/a.png", "a".repeat(5000));
  await server.write("figures/sub/b.png", "b");
  await server.write("config.yaml", "x: 1\n");
  await server.write("patient-Yamada.txt", "secret");
  await test(server);
}

const all = {
  "runs/": "",
  "runs/r/": "",
  "runs/r/figures/": "",
  "runs/r/figures/a.png": "a".repeat(5000),
  "runs/r/config.yaml": "x: 1\n",
};

Deno.test({
  name: "pullRun() brings what is on the whitelist and counts what it leaves behind",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const outcome = await server.pull();
      assert.deepEqual(outcome, {
        kind: "done",
        plan: { files: 2, bytes: 5005, left: 2, unportable: 0, whole: true },
      });
      assert.deepEqual(await server.placed(), all);
      // Again, over the same names.
      await server.write("config.yaml", "x: 2\n");
      assert.equal((await server.pull()).kind, "done");
      assert.deepEqual(await server.placed(), { ...all, "runs/r/config.yaml": "x: 2\n" });
    }),
});

Deno.test({
  name: "pullRun() with onlyPlan writes nothing",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const outcome = await server.pull({ onlyPlan: true });
      assert.ok(outcome.kind === "planned" && outcome.plan.files === 2);
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test({
  name: "pullRun() refuses every hostile archive of a server whose tar sends it with its true hash",
  ...unix,
  fn: async (t) => {
    await using server = await LocalServer.start();
    const archive = join(server.home, "archive");
    await server.program("tar", `exec cat '${archive}'`);
    for (const [name, bytes, judgement] of judgedArchives) {
      await t.step(name, async () => {
        await Deno.writeFile(archive, bytes);
        await server.clear();
        const accepted = judgement.startsWith("accepted: ");
        // As many files as the archive claims to hold, so that the announced number is right.
        const files = accepted ? judgement.slice("accepted: ".length).split(" ") : ["f"];
        for (const index of files.keys()) await server.write(`f${index}`, "x");
        const outcome = await server.pull({ patterns: anything });
        if (accepted) {
          assert.equal(outcome.kind, "done");
          const placed = Object.keys(await server.placed()).filter((path) => !path.endsWith("/"));
          assert.deepEqual(placed.sort(), files.map((path) => `runs/r/${path}`).sort());
          await Deno.remove(server.runs, { recursive: true });
        } else {
          // An archive without entries is sound, but not what was announced.
          const rule = judgement === "accepted:" ? "count_differs" : judgement;
          assert.equal(outcome.kind === "refused" ? outcome.refusal.rule : outcome.kind, rule);
          assert.deepEqual(await server.placed(), {});
        }
      });
    }
  },
});

Deno.test.each<[string, string, string]>([
  ["sends fewer files than announced", `tar --format=gnu -cf - ./config.yaml`, "count_differs"],
  ["prints something behind the archive", `tar "$@"; echo done`, "trailing_data"],
  ["prints something in front", `echo hello; tar "$@"`, "checksum"],
  ["sends the archive twice", `list=$(cat); for i in 1 2; do echo "$list" | tar "$@"; done`, "trailing_data"],
  ["sends nothing", `:`, "empty"],
  ["sends half", `tar "$@" | head -c 3000`, "truncated"],
])("pullRun() refuses the archive of a tar that %s", async (_name, script, rule) => {
  if (unix.ignore) return;
  await withServer(async (server) => {
    // The true tar, past this one, and quiet while its abilities are asked for.
    const real = 'tar() { command -p tar "$@"; }\ncase $* in */dev/null*) exit 0 ;; esac\n';
    await server.program("tar", real + script);
    const outcome = await server.pull();
    assert.equal(outcome.kind === "refused" ? outcome.refusal.rule : outcome.kind, rule);
    assert.deepEqual(await server.placed(), {});
  });
});

Deno.test({
  name: "pullRun() places nothing when tar on the server failed, though the archive is sound",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      await server.program("tar", 'command -p tar "$@"\ncase $* in */dev/null*) exit 0 ;; esac\nexit 1');
      assert.deepEqual(await server.pull(), { kind: "tar_failed", status: 1 });
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test.each<[string, string, "done" | "not_understood" | "refused"]>([
  ["cannot begin", "exit 1", "done"],
  ["stops before it passed anything on", "echo begun; head -c 262144 >/dev/null; exit 1", "not_understood"],
  ["stops midway", "echo begun; head -c 262144 >&4; exit 1", "not_understood"],
  ["leaves the middle out", "head -c 262144 >&4; head -c 512 >/dev/null; exit 1", "refused"],
])("pullRun() of a large run from a server whose Python %s (%s) is %s", async (_name, python, ending) => {
  if (unix.ignore) return;
  await withServer(async (server) => {
    // Where such a Python stops, the body looks like a member of its own.
    const size = 20 * 1024 * 1024;
    const body = new Uint8Array(size).fill(65);
    const at = 262_144 - 512;
    body.set(header({ name: "figures/forged.png", size: size - at - 512 }), at);
    await server.clear();
    await server.write("figures/large.png", body);
    await server.program("python3", python);
    assert.equal((await server.pull()).kind, ending);
    const names = Object.keys(await server.placed()).filter((path) => path.endsWith(".png"));
    assert.deepEqual(names, ending === "done" ? ["runs/r/figures/large.png"] : []);
  });
});

Deno.test({
  name: "pullRun() takes a file that comes and goes while it looks for no fault",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const run = join(server.home, "work/runs/r");
      const busy = new Deno.Command("sh", {
        args: ["-c", "while :; do for each in 1 2 3 4 5 6 7 8; do : > t$each; done; rm -f t*; done"],
        cwd: run,
      }).spawn();
      try {
        for (let time = 0; time < 20; time++) {
          const outcome = await server.pull({ onlyPlan: true });
          assert.ok(outcome.kind === "planned" && outcome.plan.whole);
        }
      } finally {
        busy.kill("SIGKILL");
        await busy.status;
      }
    }),
});

/** Lets so many bytes through and ends. */
function cutAfter(bytes: number): (stdout: ReadableStream<Uint8Array>) => ReadableStream<Uint8Array> {
  return (stdout) => {
    let left = bytes;
    return stdout.pipeThrough(
      new TransformStream({
        transform(chunk, controller) {
          const part = chunk.subarray(0, left);
          left -= part.length;
          if (part.length > 0) controller.enqueue(part);
        },
      }),
    );
  };
}

Deno.test({
  name: "pullRun() places nothing when the connection ends early, wherever",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      let whole = 0;
      await server.pull({
        through: (stdout) =>
          stdout.pipeThrough(
            new TransformStream({
              transform(chunk, controller) {
                whole += chunk.length;
                controller.enqueue(chunk);
              },
            }),
          ),
      });
      await Deno.remove(server.runs, { recursive: true });
      const places = [
        0,
        40,
        100,
        200,
        300,
        1024,
        6000,
        8192,
        whole - 3000,
        whole - 150,
        whole - 60,
        whole - 2,
      ];
      for (const place of places) {
        const outcome = await server.pull({ through: cutAfter(place) });
        assert.equal(outcome.kind, "connection", `after ${place} of ${whole} bytes`);
        assert.deepEqual(await server.placed(), {});
      }
    }),
});

Deno.test({
  name: "pullRun() notices a byte that changed on the way, and line ends of a forced terminal",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const alter = (change: (text: string) => string) => (stdout: ReadableStream<Uint8Array>) =>
        stdout.pipeThrough(
          new TransformStream<Uint8Array, Uint8Array>({
            transform(chunk, controller) {
              const text = change(new TextDecoder("latin1").decode(chunk));
              controller.enqueue(Uint8Array.from(text, (character) => character.charCodeAt(0)));
            },
          }),
        );
      const bit = await server.pull({ through: alter((text) => text.replace("aaaa", "aaba")) });
      assert.ok(bit.kind === "refused" && bit.refusal.rule === "hash_differs");
      const terminal = await server.pull({ through: alter((text) => text.replaceAll("\n", "\r\n")) });
      assert.notEqual(terminal.kind, "done");
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test({
  name: "pullRun() gives up a server that has fallen silent",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      await server.program("tar", "case $* in */dev/null*) exit 0 ;; esac\nexec sleep 3");
      assert.equal((await server.pull({ patience: 300 })).kind, "stalled");
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test({
  name: "pullRun() leaves nothing when it is interrupted in the middle",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const stop = new AbortController();
      await server.write("figures/large.png", new Uint8Array(3_000_000));
      const pulling = server.pull({ interrupted: stop.signal, listener: { received: () => stop.abort() } });
      await assert.rejects(pulling, { name: "AbortError" });
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test({
  name: "pullRun() tells a full disk, a forbidden one and a sandbox apart, and names no file",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      const failing = (fault: Error) => ({
        ...realDisk,
        create(): never {
          throw fault;
        },
      });
      const faults = [
        systemError("ENOSPC"),
        new Deno.errors.PermissionDenied("Yamada"),
        new Deno.errors.NotCapable(),
      ];
      for (const [index, fault] of faults.entries()) {
        const outcome = await server.pull({ disk: failing(fault) });
        assert.equal(
          outcome.kind === "disk" && outcome.fault,
          ["full", "not_writable", "not_permitted"][index],
        );
        assert.doesNotMatch(JSON.stringify(outcome), /Yamada/);
        assert.deepEqual(await server.placed(), {});
      }
      // What is no failure of the file system is a bug and goes on.
      await assert.rejects(server.pull({ disk: failing(new TypeError("bug")) }), TypeError);
    }),
});

Deno.test({
  name: "pullRun() does not even connect when a link is in the place of the run",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      await Deno.mkdir(server.runs);
      await Deno.symlink("/etc", join(server.runs, "r"));
      const through = () => assert.fail("it connected");
      assert.deepEqual(await server.pull({ through }), { kind: "obstacle", obstacle: "link" });
      assert.deepEqual(await server.placed(), { "runs/": "", "runs/r": "-> /etc" });
    }),
});

Deno.test({
  name: "pullRun() keeps to pull.max_members and pull.max_gib",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      for (const limits of [{ ...wide, maxMembers: 1 }, { ...wide, maxBytes: 5000 }]) {
        const received = () => assert.fail("something came");
        const outcome = await server.pull({ limits, listener: { received } });
        assert.match(outcome.kind === "refused" ? outcome.refusal.rule : "", /^too_/);
      }
      assert.deepEqual(await server.placed(), {});
    }),
});

Deno.test({
  name: "pullRun() tells why a server could not send",
  ...unix,
  fn: () =>
    withServer(async (server) => {
      await Deno.remove(join(server.home, "work/runs/r"), { recursive: true });
      assert.deepEqual(await server.pull(), { kind: "problem", problem: "no_run" });
      await Deno.symlink("/etc", join(server.home, "work/runs/r"));
      assert.deepEqual(await server.pull(), { kind: "problem", problem: "link" });
    }),
});
