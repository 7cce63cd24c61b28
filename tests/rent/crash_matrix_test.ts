import assert from "node:assert/strict";
import { crashMatrix, summary } from "./crash_matrix.ts";

Deno.test("drive() leaks, doubles and loses nothing, whatever strikes at whichever effect", async () => {
  const verdicts = await crashMatrix(false);
  assert.deepEqual(
    verdicts.filter(({ leaked, doubled, lost, keySeen }) => leaked || doubled || lost || keySeen),
    [],
  );
  assert.match(summary(verdicts), /^crash matrix: \d{4,} faults, 0 leaked, 0 doubled, 0 lost, 0 keys seen$/);
});
