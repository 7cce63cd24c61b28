import assert from "node:assert/strict";
import { alignRows, padEnd, width } from "../../lib/text/table.ts";

Deno.test.each([
  ["", 0],
  ["abc", 3],
  ["未使用", 6],
  ["GPU 0 空き", 10],
  ["ｱｲｳ", 3],
  ["が", 2],
  ["か\u3099", 2],
  ["\u001b[32m未使用\u001b[0m", 6],
  ["😀", 2],
])("width() of %s is %i", (text, expected) => {
  assert.equal(width(text), expected);
});

Deno.test("padEnd() fills up by columns, and cuts nothing off", () => {
  assert.equal(padEnd("未使用", 8), "未使用  ");
  assert.equal(padEnd("abcdef", 3), "abcdef");
});

Deno.test("alignRows() sets cells under each other, whatever their script and colour", () => {
  const rows = alignRows([
    ["GPU", "状態", "利用者"],
    ["0", "\u001b[32m未使用\u001b[0m", ""],
    ["10", "空き（利用者あり）", "alice 27.7 時間"],
  ]);
  assert.deepEqual(rows, [
    "GPU  状態                利用者",
    "0    \u001b[32m未使用\u001b[0m",
    "10   空き（利用者あり）  alice 27.7 時間",
  ]);
  assert.equal(width("GPU  状態                "), width("10   空き（利用者あり）  "));
});

Deno.test("alignRows() aligns named columns to the right", () => {
  assert.deepEqual(alignRows([["名", "MiB"], ["a", "3"], ["bbb", "81920"]], [1]), [
    "名     MiB",
    "a        3",
    "bbb  81920",
  ]);
});

Deno.test("alignRows() takes rows of different lengths, and none at all", () => {
  assert.deepEqual(alignRows([["a"], ["b", "c"], []]), ["a", "b  c", ""]);
  assert.deepEqual(alignRows([]), []);
});
