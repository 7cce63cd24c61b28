import assert from "node:assert/strict";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { type Launch, tell, toolkit } from "../cmd/story.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { absent, flipping, holder, quiet } from "../lab/scenarios.ts";

const library = join(toolkit, "mod.ts");

/** The program in the documentation of mod.ts, as one would copy it beside a project, and from where it imports. */
async function exampleProgram(): Promise<string> {
  const source = await Deno.readTextFile(library);
  const [block, ...others] = [...source.matchAll(/^ \* ```ts\n((?: \*.*\n)*?) \* ```$/gm)];
  assert.deepEqual(others, [], "one example");
  const program = block?.[1]?.replaceAll(/^ \* ?/gm, "") ?? "";
  assert.equal(program.split('"./mod.ts"').length, 2, "one import of the library");
  return program.replace('"./mod.ts"', JSON.stringify(pathToFileURL(library).href));
}

/** Starts the example with the permissions of `gpus` and the right to read the project, and no more. */
const launchExample: Launch = (lab, project, flags) => ({
  program: Deno.execPath(),
  args: [
    "run",
    "-q",
    ...flags,
    "--no-prompt",
    `--config=${join(toolkit, "deno.json")}`,
    "-P=gpus",
    `--allow-read=${project}`,
    ...(lab.ssh === "ssh" ? [] : [`--allow-run=${lab.ssh}`]),
    join(project, "free_gpus.ts"),
  ],
});

Deno.test({
  ...needing(
    ["ssh"],
    "the example of mod.ts passes the type check, prints the free GPUs, and tells what it could not see",
  ),
  async fn() {
    await using lab = await startLaboratory({
      jump: true,
      servers: [
        {
          name: "Newton",
          scenario: { gpus: [...flipping.gpus ?? [], ...quiet(1).gpus ?? [], ...holder.gpus ?? []] },
        },
        { name: "Stranger", behaviour: { refuseAuthentication: true } },
        { name: "Bare", scenario: absent },
        { name: "Archimedes", scenario: quiet(2), dataReady: false },
      ],
    });
    const project = await lab.project();
    await Deno.writeTextFile(join(project, "free_gpus.ts"), await exampleProgram());
    assert.deepEqual(await tell(lab, project, ["--check"], { launch: launchExample }), {
      code: 0,
      out: "Newton 1\nArchimedes 0\nArchimedes 1\n",
      err: "Stranger: authentication\nBare: not_installed\n",
      connections: 4,
    });

    await lab.project({ dir: project, config: { servers: [] } });
    const broken = await tell(lab, project, [], { launch: launchExample });
    assert.deepEqual({ ...broken, err: "" }, { code: 2, out: "", err: "", connections: 0 });
    assert.match(
      broken.err,
      /^\S*configs\/remote\.yaml:\d+:\d+: .*servers.*\n$/,
      "a sentence of the catalogue",
    );
  },
});
