import assert from "node:assert/strict";
import { Refusal } from "../../lib/transfer/refusal.ts";
import { TarReader } from "../../lib/transfer/tar_reader.ts";
import { parsePattern } from "../../lib/transfer/whitelist.ts";
import { file, judgedArchives } from "./judged_archives.ts";
import { read, verdict, wide } from "./reading.ts";
import { type Entry, longName, pax, tar } from "./tar_builder.ts";

Deno.test.each(judgedArchives.map((judged) => [...judged] as const))(
  "TarReader judges %s",
  (_name, archive, expected) => {
    assert.equal(verdict(archive), expected);
  },
);

Deno.test("TarReader judges the same in pieces of any length", () => {
  const archive = tar(
    longName("n".repeat(120)),
    file("cut"),
    pax([["path", "図/b.txt"]]),
    file("raw", "x".repeat(700)),
  );
  for (const chunk of [1, 7, 511, 512, 513, 100_000]) {
    assert.deepEqual(read(archive, { chunk }), read(archive));
    assert.equal(verdict(archive.subarray(0, -1), { chunk }), "truncated");
  }
});

Deno.test("TarReader keeps of a mode that the owner may run the file, and nothing else (tar-067)", () => {
  const modes = [0o6777, 0o644, 0o1100, 0o066].map((mode) => {
    const reading = read(tar({ name: "run.sh", body: "x", mode }));
    return "files" in reading && reading.files[0]?.executable;
  });
  assert.deepEqual(modes, [true, false, true, false]);
});

Deno.test("TarReader refuses what is not on the whitelist and tolerates the parents of what is", () => {
  const patterns = ["figures/*.png", "config.yaml"].map(parsePattern);
  const judge = (...entries: Entry[]) => verdict(tar(...entries), { patterns });
  assert.equal(judge({ name: "figures/", type: "5" }, file("figures/a.png")), "accepted: figures/a.png");
  assert.equal(judge({ name: "figures", type: "5" }), "accepted:");
  assert.equal(judge(file("config.yaml"), file("figures/a.jpg")), "not_whitelisted");
  assert.equal(judge(file("figures/sub/a.png")), "not_whitelisted");
  assert.equal(judge(file("CONFIG.yaml")), "not_whitelisted");
  assert.equal(judge({ name: "figures/sub/", type: "5" }), "directory");
  assert.equal(judge({ name: "config.yaml/", type: "5" }), "directory");
  assert.equal(judge({ name: "data", type: "5" }), "directory");
});

Deno.test("TarReader counts members and bytes against the limits before it takes a body", () => {
  const limits = { maxMembers: 3, maxBytes: 10 };
  const judge = (...entries: (Entry | Uint8Array)[]) => verdict(tar(...entries), { limits });
  assert.equal(judge(file("a"), file("b"), file("c", "")), "accepted: a b c");
  assert.equal(judge(file("a"), file("b"), file("c")), "too_large");
  assert.equal(judge(file("a", ""), file("b", ""), file("c", ""), file("d", "")), "too_many_members");
  assert.equal(judge(...Array.from({ length: 4 }, () => pax([["comment", "c"]], "g"))), "too_many_members");
  assert.equal(
    judge({ name: "./", type: "5" }, ...["a", "b", "c"].map((name) => file(name, ""))),
    "too_many_members",
  );
});

Deno.test("TarReader tells a refused member's name only masked, but for its extension", () => {
  for (const name of ["Yamada-Taro-1950.png", "患者/山田.png", "a:Yamada.png", "Yamada Taro"]) {
    const reader = new TarReader([parsePattern("x")], wide, { member() {}, body() {} });
    assert.throws(() => reader.push(tar(file(name))), (error) => {
      assert.ok(error instanceof Refusal);
      assert.match(error.maskedName ?? "", /^[*/]*(\.png)?$/);
      assert.doesNotMatch(error.message, /Yamada|山田/);
      return true;
    });
  }
});
