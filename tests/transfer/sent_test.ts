import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { readSent, type SendPlan } from "../../lib/transfer/sent.ts";
import { bytesOf, concat } from "./tar_builder.ts";

const nonce = "00ff00ff00ff00ff00ff00ff00ff00ff";
const mark = (text: string) => `\n@@${nonce} ${text}\n`;
const plan = `${mark("section plan")}files 2\nbytes 9\nleft 3\nunportable 1\nunread 0\n${mark("end plan 0")}`;
const trailer = (sha256: string, length: number, tar = 0) =>
  `${mark("section trailer")}members 2\ntar ${tar}\nsha256 ${sha256} *stdin\nlength ${length}\n${
    mark("end trailer 0")
  }${mark("done")}`;

async function receive(whole: Uint8Array, chunk: number) {
  const parts: Uint8Array[] = [];
  let told: SendPlan | undefined;
  async function* body() {
    for (let at = 0; at < whole.length; at += chunk) {
      yield await Promise.resolve(whole.subarray(at, at + chunk));
    }
  }
  const sent = await readSent(body(), nonce, {
    plan: (plan) => void (told = plan),
    archive: (bytes) => void parts.push(bytes),
  });
  return { ...sent, archive: concat(...parts), told };
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

Deno.test("readSent() finds any archive between its plan and its trailer, in chunks of any length", async () => {
  const content = fc.oneof(
    fc.uint8Array({ maxLength: 12_000 }),
    // What looks like a trailer inside the archive is only bytes of it.
    fc.constant(bytesOf(trailer("0".repeat(64), 1).replace(mark("done"), ""))),
    fc.constant(bytesOf(mark("section trailer"))),
    fc.constant(new Uint8Array(9000).fill(10)),
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(content, { maxLength: 3 }),
      fc.integer({ min: 1, max: 9000 }),
      async (parts, chunk) => {
        // A sound archive ends with zeros, so a mark of the script is never joined to bytes of the archive.
        const archive = concat(...parts, new Uint8Array(5000));
        const whole = concat(
          bytesOf(plan + mark("archive")),
          archive,
          bytesOf(trailer(sha256(archive), archive.length)),
        );
        const received = await receive(whole, chunk);
        assert.deepEqual(received.archive, archive);
        assert.equal(received.sha256, sha256(archive));
        assert.deepEqual(received.trailer, {
          members: 2,
          length: archive.length,
          sha256: sha256(archive),
          tar: 0,
        });
        assert.deepEqual(received.told, { files: 2, bytes: 9, left: 3, unportable: 1, whole: true });
        assert.equal(received.complete, true);
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("readSent() takes nothing for a trailer or an end that did not come", async () => {
  const archive = new Uint8Array(2048);
  const whole = concat(bytesOf(plan + mark("archive")), archive, bytesOf(trailer(sha256(archive), 2048)));
  for (let length = 0; length < whole.length - 1; length += 7) {
    const { complete } = await receive(whole.subarray(0, length), 500);
    assert.equal(complete, false, `after ${length} bytes`);
  }
});

Deno.test.each([
  ["a hash that is cut", trailer("abc", 0)],
  ["a length that is no number", trailer("0".repeat(64), 0).replace("length 0", "length 0x")],
  ["no number of members", trailer("0".repeat(64), 0).replace("members 2\n", "")],
  ["a section that ended badly", trailer("0".repeat(64), 0).replace("end trailer 0", "end trailer 1")],
])("readSent() understands no trailer with %s", async (_name, text) => {
  const received = await receive(bytesOf(plan + mark("archive") + text), 1000);
  assert.deepEqual([received.trailer, received.complete], [undefined, true]);
});

Deno.test("readSent() reads a problem, and nothing for one that it does not know", async () => {
  const say = (word: string) => `${mark("section problem")}${word}\n${mark("end problem 0")}${mark("done")}`;
  assert.equal((await receive(bytesOf(say("no_tar")), 50)).problem, "no_tar");
  assert.equal((await receive(bytesOf(say("Yamada")), 50)).problem, undefined);
});

Deno.test("readSent() gives a head up that has no end", async () => {
  const { complete, plan } = await receive(new Uint8Array(1_000_000).fill(65), 65_536);
  assert.deepEqual([complete, plan], [false, undefined]);
});
