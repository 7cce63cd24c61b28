/** Archives changed at random: accepted ones hold only what may come, refused ones change nothing. */

import assert from "node:assert/strict";
import fc from "fast-check";
import { faultOfSegment } from "../../lib/transfer/member_name.ts";
import { Refusal } from "../../lib/transfer/refusal.ts";
import { matchesWhitelist, parsePattern } from "../../lib/transfer/whitelist.ts";
import { accept } from "./accepting.ts";
import { MemoryDisk } from "./memory_disk.ts";
import { hasProgram, readWithGnuTar, readWithPython, witnessed } from "./other_readers.ts";
import { read } from "./reading.ts";
import { base256, concat, entry, header, longName, pax, tar } from "./tar_builder.ts";

const runs = 20_000;
const patterns = ["figures/*.png", "config.yaml", "図/?.txt", "deep/a/b/*"].map(parsePattern);
const longPath = `figures/${"n".repeat(120)}.png`;

const bases: readonly Uint8Array[] = [
  tar({ name: "figures/a.png", body: "a".repeat(700) }, { name: "config.yaml", body: "x: 1\n" }),
  tar({ name: "./", type: "5" }, { name: "./figures/", type: "5" }, { name: "./figures/a.png", body: "png" }),
  tar(longName(longPath), { name: longPath.slice(0, 100), body: "long", format: "gnu" }, {
    name: "config.yaml",
    format: "gnu",
  }),
  tar(pax([["path", "図/表.txt"], ["size", "3"], ["mtime", "1"]]), { name: "raw", body: "pax" }, {
    name: "deep/a/b/c",
    body: "",
  }),
  tar(pax([["comment", "c"]], "g"), { name: "b/x.png", prefix: "figures", body: "no" }, {
    name: "b.png",
    prefix: "figures",
    body: "yes",
  }),
  concat(tar({ name: "config.yaml", body: "v7", format: "v7" }), new Uint8Array(9216)),
];

/** Whole blocks to put in: what attacks are made of. */
const blocks: readonly Uint8Array[] = [
  pax([["path", "../evil.png"]]),
  pax([["path", "figures/b.png"]]),
  pax([["size", "1"]]),
  pax([["size", "512"]], "g"),
  pax([["linkpath", "/etc"]]),
  pax([["GNU.sparse.name", "config.yaml"]]),
  longName("figures/c.png"),
  longName("/etc/passwd"),
  header({ name: "figures/l.png", type: "2", link: "/etc/passwd" }),
  header({ name: "figures/h.png", type: "1", link: "config.yaml" }),
  entry({ name: "figures/A.png", body: "upper" }),
  entry({ name: "figures/a.png", body: "again" }),
  entry({ name: "figures", body: "file" }),
  entry({ name: "C:evil.png", body: "x" }),
  new Uint8Array(512),
  new Uint8Array(1024),
];

const fields: readonly (readonly [number, number])[] = [
  [0, 100],
  [100, 8],
  [124, 12],
  [148, 8],
  [156, 1],
  [157, 100],
  [257, 8],
  [345, 155],
];
const values: readonly (string | Uint8Array)[] = [
  "figures/b.png\0",
  "../x\0",
  "\0",
  "/",
  "0",
  "5",
  "L",
  "x",
  "g",
  "S",
  "00000000001\0",
  "00000001000\0",
  "77777777777\0",
  "ustar\x0000",
  "ustar  \0",
  base256(3n),
  base256(2n ** 40n),
  "\\",
  "figures/con.png\0",
];

type Mutation =
  | { readonly kind: "bit"; readonly at: number; readonly bit: number }
  | { readonly kind: "field"; readonly block: number; readonly field: number; readonly value: number }
  | { readonly kind: "insert"; readonly block: number; readonly what: number }
  | { readonly kind: "delete" | "double" | "swap"; readonly block: number; readonly count: number }
  | { readonly kind: "cut"; readonly at: number }
  | { readonly kind: "append"; readonly base: number };

const natural = fc.nat({ max: 100_000 });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant("bit" as const), at: natural, bit: fc.nat({ max: 7 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("field" as const),
      block: natural,
      field: natural,
      value: natural,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant("insert" as const), block: natural, what: natural }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom("delete" as const, "double" as const, "swap" as const),
      block: natural,
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cut" as const), at: natural }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("append" as const), base: natural }) },
);

function mutate(archive: Uint8Array, change: Mutation): Uint8Array {
  const count = Math.max(1, Math.floor(archive.length / 512));
  switch (change.kind) {
    case "bit": {
      const bytes = archive.slice();
      const at = change.at % bytes.length;
      bytes[at] = (bytes[at] ?? 0) ^ (1 << change.bit);
      return bytes;
    }
    case "field": {
      const bytes = archive.slice();
      const [offset, length] = fields[change.field % fields.length] ?? [0, 0];
      const value = values[change.value % values.length] ?? "";
      const patch = typeof value === "string" ? new TextEncoder().encode(value) : value;
      for (const [index, byte] of patch.subarray(0, length).entries()) {
        const at = (change.block % count) * 512 + offset + index;
        if (at < bytes.length) bytes[at] = byte;
      }
      return bytes;
    }
    case "insert": {
      const at = (change.block % count) * 512;
      return concat(
        archive.subarray(0, at),
        blocks[change.what % blocks.length] ?? new Uint8Array(),
        archive.subarray(at),
      );
    }
    case "delete":
    case "double":
    case "swap": {
      const from = (change.block % count) * 512;
      const to = Math.min(archive.length, from + change.count * 512);
      const [front, middle, back] = [
        archive.subarray(0, from),
        archive.subarray(from, to),
        archive.subarray(to),
      ];
      if (change.kind === "delete") return concat(front, back);
      return change.kind === "double" ? concat(front, middle, middle, back) : concat(middle, front, back);
    }
    case "cut":
      return archive.subarray(0, change.at % archive.length);
    case "append":
      return concat(archive, bases[change.base % bases.length] ?? new Uint8Array());
  }
}

/** Gives every block that looks like a header the checksum that it should have, or nothing would get past it. */
function repairChecksums(archive: Uint8Array): Uint8Array {
  const bytes = archive.slice();
  for (let at = 0; at + 512 <= bytes.length; at += 512) {
    const block = bytes.subarray(at, at + 512);
    if (!/^[ 0-7]+\0? ?$/.test(String.fromCharCode(...block.subarray(148, 156)))) continue;
    block.fill(0x20, 148, 156);
    const sum = block.reduce((total, byte) => total + byte, 0);
    block.set(new TextEncoder().encode(`${sum.toString(8).padStart(6, "0")}\0 `), 148);
  }
  return bytes;
}

Deno.test("accepted mutants hold only whitelisted files inside the run, refused ones change nothing", async (t) => {
  const accepted = new Map<string, Uint8Array>();
  const count = { accepted: 0, refused: 0 };
  fc.assert(
    fc.property(
      fc.nat({ max: bases.length - 1 }),
      fc.array(mutation, { minLength: 1, maxLength: 4 }),
      fc.boolean(),
      (
        base,
        mutations,
        repaired,
      ) => {
        let archive = bases[base] ?? new Uint8Array();
        for (const change of mutations) {
          if (archive.length === 0) break;
          archive = mutate(archive, change);
        }
        if (repaired) archive = repairChecksums(archive);

        const disk = new MemoryDisk();
        disk.plant("/runs/r/config.yaml", { file: "old" });
        disk.plant("/outside", { file: "outside" });
        const before = disk.tree();
        try {
          accept(disk, archive, { patterns });
        } catch (error) {
          assert.ok(error instanceof Refusal, String(error));
          assert.deepEqual(disk.tree(), before);
          count.refused++;
          return;
        }
        count.accepted++;
        const reading = read(archive, { patterns });
        assert.ok("files" in reading);
        const after = disk.tree();
        assert.equal(after["/outside"], "outside");
        for (const { path, size } of reading.files) {
          assert.ok(matchesWhitelist(patterns, path));
          assert.ok(path.split("/").every((segment) => faultOfSegment(segment) === undefined));
          assert.equal(disk.content(`/runs/r/${path}`).length, size);
        }
        const expected = new Set(["config.yaml", ...reading.files.map(({ path }) => path)]);
        for (const [path, content] of Object.entries(after)) {
          assert.ok(
            path === "/outside" || content === "/" || expected.has(path.replace("/runs/r/", "")),
            path,
          );
        }
        if (accepted.size < 150) {
          accepted.set(
            reading.files.map(({ path, sha256 }) => path + sha256).join(),
            archive,
          );
        }
      },
    ),
    { numRuns: runs },
  );
  // Without both, the mutations would test nothing.
  assert.ok(count.accepted > runs / 100 && count.refused > runs / 10, JSON.stringify(count));

  const sample = Array.from(
    accepted.values(),
    (archive) => ({ archive, reading: read(archive, { patterns }) }),
  );
  const files = sample.map(({ reading }) => "files" in reading ? witnessed(reading.files) : []);
  await t.step({
    name: "GNU tar finds the same in a sample of the accepted",
    ignore: !await hasProgram("tar"),
    async fn() {
      for (const [index, { archive }] of sample.entries()) {
        assert.deepEqual(await readWithGnuTar(archive), files[index]);
      }
    },
  });
  await t.step({
    name: "Python finds the same in a sample of the accepted",
    ignore: !await hasProgram("python3"),
    async fn() {
      assert.deepEqual(await readWithPython(sample.map(({ archive }) => archive)), files);
    },
  });
});
