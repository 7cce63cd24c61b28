import assert from "node:assert/strict";
import { join } from "node:path";
import { en } from "../../lib/text/en.ts";
import { ja } from "../../lib/text/ja.ts";

const keys = Object.keys(en) as (keyof typeof en)[];

/** What Japanese spells as English does: nothing else may stand in a sentence that is the same in both. */
const shared: readonly string[] = ["GPU", "GPUs", "Pod", "SM", "MiB", "GiB"];

function placeholders(text: string): string[] {
  return [...text.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).sort();
}

Deno.test("both catalogues have the same keys, in whatever order", () => {
  assert.deepEqual(Object.keys(ja).sort(), [...keys].sort());
});

Deno.test("each sentence has the same placeholders in both languages", () => {
  // One language may repeat a name, neither may lack one.
  const differing = keys.filter((key) =>
    String([...new Set(placeholders(en[key]))]) !== String([...new Set(placeholders(ja[key]))])
  );
  assert.deepEqual(differing, []);
});

Deno.test("each sentence is written in its own language", () => {
  const ownWords = (text: string) =>
    (text.replaceAll(/\{\w+\}/g, "").match(/[A-Za-z]{2,}/g) ?? []).filter((word) => !shared.includes(word));
  assert.deepEqual(keys.filter((key) => en[key] === ja[key] && ownWords(en[key]).length > 0), []);
  const japanese = /[\u3040-\u30ff\u4e00-\u9fff]/;
  assert.deepEqual(keys.filter((key) => japanese.test(en[key])), []);
  // A Japanese entry without a Japanese character is a command line or a unit at most.
  assert.deepEqual(
    keys.filter((key) =>
      !japanese.test(ja[key]) &&
      /[A-Za-z]{2,} [A-Za-z]{2,} [A-Za-z]{2,}/.test(ja[key].replaceAll(/`[^`]*`|\{\w+\}/g, ""))
    ),
    [],
  );
});

Deno.test("no sentence begins or ends with a blank, holds a line break, or leaves a quote open", () => {
  for (const [language, catalogue] of Object.entries({ en, ja })) {
    for (const [key, text] of Object.entries(catalogue)) {
      assert.equal(text, text.trim(), `${language} ${key}`);
      assert.doesNotMatch(text, /[\n\r\t]/, `${language} ${key}`);
      assert.equal(text.split("`").length % 2, 1, `${language} ${key}`);
      assert.doesNotMatch(text.replaceAll(/\{\w+\}/g, ""), /[{}]/, `${language} ${key}`);
    }
  }
});

Deno.test("no message of one sentence ends with a full stop, in either language", () => {
  const isStopped = (text: string) =>
    /^[^.]*\.$/.test(text.replaceAll(/`[^`]*`|\.{3}|\w\.\w/g, "")) || /^[^。]*。$/.test(text);
  const messages = keys.filter((key) => !key.includes(".comment."));
  assert.deepEqual(messages.filter((key) => isStopped(en[key]) || isStopped(ja[key])), []);
});

/** The text of every module but the catalogues themselves. */
async function sources(): Promise<string> {
  const root = join(import.meta.dirname ?? ".", "..", "..");
  const texts: string[] = [];
  const visit = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = join(folder, name);
      if (isDirectory) await visit(path);
      else if (name.endsWith(".ts") && !/^(en|ja)(_\w+)?\.ts$/.test(name)) {
        texts.push(await Deno.readTextFile(path));
      }
    }
  };
  await visit(join(root, "lib"));
  await visit(join(root, "cmd"));
  return texts.join("\n");
}

Deno.test("each sentence is said somewhere", async () => {
  const source = await sources();
  const literals = new Set([...source.matchAll(/["'`]([a-z][\w.]*)["'`]/g)].map(([, text]) => text));
  const templates = [...source.matchAll(/["'`]?([\w.]*)\$\{[^{}]*\}([\w.]*)`/g)]
    .filter(([, before = "", after = ""]) => before.includes(".") || /^\.[a-z_]+$/.test(after))
    .map(([, before = "", after = ""]) => (key: string) =>
      // `${id}.hint` belongs to each `id` that is said.
      before === ""
        ? key.endsWith(after) && literals.has(key.slice(0, -after.length))
        : key.startsWith(before) &&
          key.endsWith(after) && /^\w+$/.test(key.slice(before.length, key.length - after.length))
    );
  assert.deepEqual(keys.filter((key) => !literals.has(key) && !templates.some((fits) => fits(key))), []);
});
