import assert from "node:assert/strict";
import { runScript } from "../../lib/ssh/connection.ts";
import { countingRandom, settle, testContext } from "../test_context.ts";
import { FakeProcess } from "./fake_process.ts";

const settings = { jump_host: null, connect_timeout_sec: 15 };
const newton = { user: "hasegawa", address: "192.168.23.14" };

async function send(payload: ReadableStream<Uint8Array>) {
  const process = new FakeProcess();
  const world = testContext({ random: countingRandom(), start: () => process });
  const specs: string[] = [];
  const result = runScript(
    {
      ...world,
      start: (spec) => {
        specs.push(spec.args.at(-1) ?? "");
        return process;
      },
    },
    settings,
    newton,
    { text: "cat\nmark done\n", values: {}, payload, seconds: 30 },
  );
  result.catch(() => {});
  await settle();
  return { world, process, result, nonce: process.nonce, command: specs[0] ?? "" };
}

Deno.test("runScript() sends a payload behind the script, whose bytes are counted off", async () => {
  const { process, result, nonce, command } = await send(ReadableStream.from([
    new TextEncoder().encode("first "),
    new TextEncoder().encode("second"),
  ]));
  assert.ok(process.received.endsWith("cat\nmark done\nfirst second"));
  assert.equal(process.inputEnd, "closed");
  const script = process.received.slice(0, -"first second".length);
  assert.equal(command, `exec sh -c 'eval "$(dd bs=1 count=${script.length} 2>/dev/null)"'`);
  process.print(`@@${nonce} begin\n\n@@${nonce} done\n`);
  process.exit(0);
  assert.equal((await result).ok, true);
});

Deno.test("runScript() fails with the payload's own failure, and the server gets no regular end", async () => {
  const fault = new Error("the file changed");
  const { process, result } = await send(
    new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode("half"));
      },
      pull(controller) {
        controller.error(fault);
      },
    }),
  );
  assert.equal(process.kills, 1);
  assert.equal(process.inputEnd, "aborted");
  await assert.rejects(result, fault);
});

Deno.test("runScript() cancels a payload that still waits when the answer is whole", async () => {
  let cancelled = false;
  const { process, result, nonce } = await send(
    new ReadableStream({ cancel: () => void (cancelled = true) }),
  );
  process.print(`@@${nonce} begin\n\n@@${nonce} done\n`);
  process.exit(0);
  assert.equal((await result).ok, true);
  assert.equal(cancelled, true);
});
