import assert from "node:assert/strict";
import { ExitCode, message, UserError } from "../../lib/system/errors.ts";
import { randomToken } from "../../lib/system/token.ts";
import { countingRandom } from "../test_context.ts";

Deno.test("ExitCode has the documented numbers, each once", () => {
  assert.deepEqual(Object.values(ExitCode), [0, 1, 2, 3, 4, 70, 124, 130]);
});

Deno.test("UserError counts as failed work unless told otherwise, and keeps its cause", () => {
  const cause = new TypeError("x");
  const fault = new UserError(message("job.not_found", { job: "exp1" }), { cause });
  assert.equal(fault.exit, ExitCode.Failed);
  assert.equal(fault.hint, undefined);
  assert.deepEqual(fault.details, []);
  assert.equal(fault.cause, cause);
  assert.equal(fault.name, "UserError");
  assert.equal(fault.message, 'job.not_found {"job":"exp1"}');
  assert.equal(new UserError(message("run.no_gpu"), { exit: ExitCode.NothingSuitable }).exit, 3);
});

Deno.test("message() pairs a sentence with its parameters", () => {
  assert.deepEqual(message("run.no_gpu"), { id: "run.no_gpu", params: {} });
  assert.deepEqual(message("job.not_found", { job: "a" }), { id: "job.not_found", params: { job: "a" } });
});

Deno.test("randomToken() is 32 hexadecimal digits of fresh random bytes", () => {
  const world = { random: countingRandom() };
  assert.equal(randomToken(world), "000102030405060708090a0b0c0d0e0f");
  assert.equal(randomToken(world), "101112131415161718191a1b1c1d1e1f");
});
