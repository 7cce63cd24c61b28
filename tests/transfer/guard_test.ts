import assert from "node:assert/strict";
import { remoteSchema } from "../../lib/config/remote.ts";
import { guardFault } from "../../lib/transfer/guard.ts";
import { server } from "../gpu/reports.ts";

const { push } = remoteSchema.parse({ servers: [server("Newton")] });
const mib = 1024 * 1024;

Deno.test.each([
  ["scan.dcm", "data_suffix"],
  ["SCAN.DCM", "data_suffix"],
  ["a/b.nii", "data_suffix"],
  ["a/b.nii.gz", "data_suffix"],
  ["x.h5", "data_suffix"],
  ["x.npz", "data_suffix"],
  ["x.npy", "data_suffix"],
  ["x.parquet", "data_suffix"],
  ["x.mp4", "data_suffix"],
  ["x.avi", "data_suffix"],
  [".dcm", "data_suffix"],
  ["患者.dcm", "data_suffix"],
  ["x.gz", undefined],
  ["x.csv", undefined],
  ["x.dcm.txt", undefined],
  ["dcm", undefined],
  ["xdcm", undefined],
  ["dcm.py", undefined],
])("guardFault(%s) with the default suffixes is %s", (path, expected) => {
  assert.equal(guardFault(path, 10, push), expected);
});

Deno.test.each([
  [0, undefined],
  [50 * mib, undefined],
  [50 * mib + 1, "too_large"],
])("guardFault() of a file of %i bytes is %s", (size, expected) => {
  assert.equal(guardFault("model.bin", size, push), expected);
});

Deno.test("guardFault() goes by the configuration, whatever its case", () => {
  const rules = { max_file_mib: 1, data_suffixes: [".CSV"] };
  assert.equal(guardFault("a.csv", 1, rules), "data_suffix");
  assert.equal(guardFault("a.dcm", 1, rules), undefined);
  assert.equal(guardFault("a.py", mib + 1, rules), "too_large");
});
