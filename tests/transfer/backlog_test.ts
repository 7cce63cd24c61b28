import assert from "node:assert/strict";
import { Backlog } from "../../lib/transfer/backlog.ts";
import { concat } from "./tar_builder.ts";

const megabyte = 1024 * 1024;
/** Bytes that tell their place. */
const stream = Uint8Array.from({ length: 2 * megabyte + 12_345 }, (_, index) => index % 251);

/** What comes out, and how much had come out when the backlog overflowed. */
function through(pieces: number, limit: number, announced = 0) {
  const out: Uint8Array[] = [];
  const overflows: number[] = [];
  const backlog = new Backlog(
    { push: (bytes) => void out.push(overflows.length === 0 ? bytes : bytes.slice()) },
    () => overflows.push(out.length),
    limit,
  );
  backlog.expect(announced);
  const piece = new Uint8Array(pieces);
  let early = 0;
  for (let at = 0; at < stream.length; at += pieces) {
    const part = stream.subarray(at, at + pieces);
    piece.set(part);
    backlog.push(piece.subarray(0, part.length));
    // The piece is only good for the length of the call.
    piece.fill(255);
    early = out.length;
  }
  assert.equal(backlog.length, stream.length);
  backlog.finish();
  assert.deepEqual(concat(...out), stream);
  return { early, overflows };
}

Deno.test("Backlog holds what fits, however it comes, and hands it over when it is complete", () => {
  for (const pieces of [1000, 65_536, megabyte, 3 * megabyte]) {
    assert.deepEqual(through(pieces, stream.length, stream.length), { early: 0, overflows: [] });
  }
});

Deno.test("Backlog hands over what it held, in order, once there is too much of it", () => {
  for (const pieces of [1000, 65_536, megabyte, 3 * megabyte]) {
    for (const limit of [0, 1, megabyte, stream.length - 1]) {
      const { early, overflows } = through(pieces, limit);
      assert.deepEqual(overflows, [0]);
      assert.ok(early > 0);
    }
  }
});

Deno.test("Backlog holds nothing of what is announced as too much", () => {
  const { overflows, early } = through(65_536, megabyte, megabyte + 1);
  assert.deepEqual(overflows, [0]);
  assert.equal(early, Math.ceil(stream.length / 65_536));
});
