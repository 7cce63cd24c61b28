import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { alice, flipping, quiet } from "../lab/scenarios.ts";
import { tell, toolkit } from "../cmd/story.ts";

const read = (file: string) => Deno.readTextFileSync(`${toolkit}${file}`);
const files = { en: read("README.md"), ja: read("README.ja.md") };

Deno.test("both READMEs have the same headings, tables, commands and links", () => {
  const skeleton = (text: string) => ({
    headings: text.match(/^#+(?= )/gm),
    rows: text.split(/^## /m).map((part) => part.match(/^\|/gm)?.length ?? 0),
    points: text.match(/^(?:- |\d\. )/gm)?.length,
    commands: (text.match(/^\$ .*?(?=\s*#|$)/gm) ?? []).map((line) => line.trim()),
    verbs: text.match(/^\| `[^`]+`/gm),
    links: [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link?.replace(".ja.md", ".md")).sort(),
  });
  assert.deepEqual(skeleton(files.ja), skeleton(files.en));
});

Deno.test.each(Object.entries(files))("every file that README %s links to exists", (_language, text) => {
  for (const [, link = ""] of text.matchAll(/\]\(([^)#]+)\)/g)) {
    if (!link.startsWith("https://")) Deno.statSync(`${toolkit}${link}`);
  }
});

Deno.test("README lists every verb of the program with all of its flags", async () => {
  for await (const { name } of Deno.readDir(`${toolkit}cmd`)) {
    const verb = name.replace(".ts", "");
    if (verb === "tias_remote") continue;
    const row = files.en.split("\n").find((line) =>
      line.startsWith(`| \`${verb} `) || line.startsWith(`| \`${verb}\``)
    );
    assert.ok(row !== undefined, `${verb} is not in the table of commands`);
    if (verb === "init") continue;
    const { stdout } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-q", "-A", `${toolkit}cmd/${verb}.ts`, "--help", "--lang", "en"],
    }).output();
    const usage = new TextDecoder().decode(stdout).split("FLAGS")[0] ?? "";
    const short: Record<string, string> = { lines: "-n", follow: "-f" };
    for (const [, flag = ""] of usage.matchAll(/--([a-z-]+)/g)) {
      if (["config", "lang", "help", "version", "verbose"].includes(flag)) continue;
      assert.ok(row.includes(`--${flag}`) || row.includes(short[flag] ?? "\0"), `${verb} --${flag}`);
    }
  }
});

Deno.test({
  ...needing(["ssh"], "the table of GPUs in both READMEs is what the program prints"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [
        {
          name: "Newton",
          scenario: {
            gpus: [...flipping.gpus ?? [], { frames: [{ utilization: 0, memory: 520 }], processes: [alice] }],
          },
        },
        { name: "Archimedes", scenario: quiet(1) },
      ],
    });
    const project = await lab.project({ config: { gpu_free: { observe_sec: 2, sample_interval_ms: 200 } } });
    for (const language of ["en", "ja"] as const) {
      const { out } = await tell(lab, project, ["gpus"], { language });
      const shown = /\$ tias-remote gpus\n([\s\S]*?)```/.exec(files[language])?.[1];
      // How often the flipping one was met above zero depends on the moment.
      const steady = (text: string | undefined) =>
        text?.replaceAll(/(mean |平均 )\d+%/g, "$1?%").replaceAll(/SM \d+%/g, "SM ?%");
      assert.equal(steady(out), steady(shown));
    }
  },
});
