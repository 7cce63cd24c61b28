import assert from "node:assert/strict";
import { whileWaiting } from "../../lib/cli/waiting.ts";
import { BufferOutput, settle, testContext } from "../test_context.ts";

const line = (left: number) => `${left} s left`;

Deno.test("whileWaiting() writes one line where there is no terminal", async () => {
  const world = testContext();
  assert.equal(await whileWaiting(world, 10, line, Promise.resolve("done")), "done");
  assert.equal(world.err.text, "10 s left\n");
});

Deno.test("whileWaiting() counts down on a terminal, stays at 0, and leaves no trace", async () => {
  const world = testContext({ err: new BufferOutput({ isTerminal: true }) });
  const work = Promise.withResolvers<string>();
  const waiting = whileWaiting(world, 2, line, work.promise);
  await world.clock.tick(3500);
  work.resolve("done");
  assert.equal(await waiting, "done");
  const clear = "\r\u001b[K";
  assert.equal(
    world.err.text,
    `${clear}2 s left${clear}1 s left${clear}0 s left${clear}0 s left${clear}`,
  );
  assert.deepEqual(world.clock.waiting, []);
});

Deno.test("whileWaiting() clears its line when the work fails, and passes the failure on", async () => {
  const world = testContext({ err: new BufferOutput({ isTerminal: true }) });
  const work = Promise.withResolvers<string>();
  const waiting = whileWaiting(world, 2, line, work.promise);
  await settle();
  work.reject(new TypeError("a bug"));
  await assert.rejects(waiting, TypeError);
  assert.ok(world.err.text.endsWith("\r\u001b[K"));
  assert.deepEqual(world.clock.waiting, []);
});
