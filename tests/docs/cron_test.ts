import assert from "node:assert/strict";
import { surveyShape } from "../../lib/cli/survey_json.ts";
import { toolkit } from "../cmd/story.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";

const pages = await Promise.all(
  ["cron.md", "cron.ja.md"].map((name) => Deno.readTextFile(`${toolkit}docs/${name}`)),
);
const [english = "", japanese = ""] = pages;

/** Escape codes, carriage returns of a progress line, and Deno's own warnings. */
// deno-lint-ignore no-control-regex
const unfitForMail = new RegExp("\\x1b|\\r|experimental|unstable|^warning", "im");

/** The blocks of a language, such as `crontab`, in a page. */
function blocks(page: string, language: string): string[] {
  return [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map((
    [, text = ""],
  ) => text);
}

const [crontab = ""] = blocks(english, "crontab");
const commands = crontab.split("\n").filter((line) => /^[\d*]/.test(line))
  .map((line) => line.split(/ {2}/)[1] ?? "");
const [plist = ""] = blocks(english, "xml");
const programArguments = [
  .../<array>([\s\S]*)<\/array>/.exec(plist)?.[1]?.matchAll(/<string>(.*)<\/string>/g) ?? [],
].map(([, word = ""]) => word);

/** A command of the page in its place here, run as cron does: from nowhere, with next to no environment or terminal. */
async function runAsCron(command: string, project: string) {
  const here = command.replaceAll("/home/me/.deno/bin/deno", Deno.execPath())
    .replaceAll("/home/me/tias-remote/", toolkit).replaceAll("/home/me/project", project);
  const cache = Deno.env.get("DENO_DIR");
  const { code, stdout, stderr } = await new Deno.Command("setsid", {
    args: ["-w", "/bin/sh", "-c", here],
    cwd: "/",
    clearEnv: true,
    env: {
      HOME: Deno.env.get("HOME") ?? "/",
      PATH: "/usr/bin:/bin",
      ...(cache === undefined ? {} : { DENO_DIR: cache }),
    },
    stdin: "null",
  }).output();
  return { code, out: new TextDecoder().decode(stdout), err: new TextDecoder().decode(stderr) };
}

Deno.test("both pages about schedules have the same headings, blocks and table", () => {
  for (const language of ["crontab", "xml", "bat", "sh"]) {
    assert.ok(blocks(english, language).length === 1, language);
    assert.deepEqual(blocks(japanese, language), blocks(english, language));
  }
  for (const pattern of [/^#+ /gm, /^\| \d+/gm]) {
    assert.deepEqual(japanese.match(pattern), english.match(pattern));
  }
});

Deno.test({
  ...needing(
    ["ssh", "setsid"],
    "the crontab's lines run from /, in an empty environment, without a terminal",
  ),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    const [gpus = "", doctor = "", ...others] = commands;
    assert.deepEqual(others, []);

    const surveyed = await runAsCron(gpus, project);
    assert.deepEqual(surveyed, { code: 0, out: "", err: "Observing 1 server(s) for 1 s\n" });
    const survey = surveyShape.parse(JSON.parse(await Deno.readTextFile(`${project}/gpus.json`)));
    assert.deepEqual(survey.choice, { server: "Newton", gpu: 0, state: "unused" });

    const examined = await runAsCron(doctor, project);
    assert.deepEqual({ code: examined.code, err: examined.err }, { code: 0, err: "" });
    assert.match(examined.out, /problem {2}data_ready is true, but there is no /, "the mail");

    const table = await runAsCron(gpus.replace(/ --json.*/, ""), project);
    assert.equal(table.code, 0);
    assert.match(table.out, /unused/);
    for (const { out, err } of [examined, table]) {
      assert.doesNotMatch(out + err, unfitForMail);
    }
  },
});

Deno.test({
  ...needing(["ssh", "setsid"], "the launchd agent's program runs in the environment that launchd gives"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    assert.equal(programArguments.length, 9);
    const { code, out } = await runAsCron(programArguments.map((word) => `'${word}'`).join(" "), project);
    assert.equal(code, 0);
    surveyShape.parse(JSON.parse(out));
  },
});
