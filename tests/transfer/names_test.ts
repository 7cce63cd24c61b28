import assert from "node:assert/strict";
import fc from "fast-check";
import { faultOfSegment, foldName, judgeName, maskName } from "../../lib/transfer/member_name.ts";
import { faultOfRunId } from "../../lib/transfer/run_id.ts";
import { bytesOf } from "./tar_builder.ts";

Deno.test.each([
  ["20260101-unet", undefined],
  ["run.1", undefined],
  ["実験 1", undefined],
  ["", "empty"],
  ["a/b", "separator"],
  ["a\\b", "separator"],
  ["a..b", "dots"],
  [".hidden", "leading"],
  ["-rf", "leading"],
  ["a\nb", "control"],
  ["a\u0085b", "control"],
  [" a", "spaces"],
  ["a ", "spaces"],
  ["a\u3000", "spaces"],
  ["_remote_logs", "job_logs"],
  ["_Remote_Logs", "job_logs"],
  ["con", "unportable"],
  ["a:b", "unportable"],
  ["a.", "unportable"],
  ["a*", "unportable"],
  ["a\u202eb", "unportable"],
  ["a\ud800", "unportable"],
  ["n".repeat(256), "unportable"],
])("faultOfRunId() finds in %j: %s", (id, fault) => {
  assert.equal(faultOfRunId(id), fault);
});

Deno.test("judgeName() never lets a path through that leaves its folder on any system", () => {
  const piece = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "",
      "a",
      "b.txt",
      "C:",
      "\\",
      "/",
      " ",
      "con",
      "\u202e",
      "..\\",
      ".. ",
      "NUL.txt",
    ),
    fc.string({ unit: "binary", maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 5 }), fc.constantFrom("/", "", "\\"), (pieces, glue) => {
      const judged = judgeName(bytesOf(pieces.join(glue)));
      if ("fault" in judged || judged.path === "") return;
      assert.doesNotMatch(judged.path, /^\/|\\|:|[<>"|?*]/);
      for (const segment of judged.path.split("/")) {
        assert.equal(faultOfSegment(segment), undefined);
        assert.doesNotMatch(segment, /^\.{0,2}$|[. ]$/);
      }
    }),
    { numRuns: 5000 },
  );
});

Deno.test("foldName() is its own fixed point, and blind to case and composition", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 12 }), (name) => {
      const folded = foldName(name);
      assert.equal(foldName(folded), folded);
      assert.equal(foldName(name.normalize("NFD")), foldName(name.normalize("NFC")));
    }),
    { numRuns: 3000 },
  );
});

Deno.test.each([
  ["figures/Yamada.png", "*******/******.png"],
  ["Yamada Taro", "***********"],
  [".png", "****"],
  ["山田.tar.gz", "******.gz"],
  ["a.YamadaTaro", "************"],
  ["a/b\n.png", "*/**.png"],
])("maskName() shows of %j: %s", (name, masked) => {
  assert.equal(maskName(name), masked);
});
