import assert from "node:assert/strict";
import { startLaboratory } from "../lab/laboratory.ts";
import { needing } from "../lab/requirements.ts";
import { quiet } from "../lab/scenarios.ts";
import { type Launch, tell, toolkit } from "./story.ts";

const umbrella: Launch = (_lab, _project, command) => ({
  program: Deno.execPath(),
  args: ["run", "-q", "-A", `${toolkit}cmd/tias_remote.ts`, ...command],
});

Deno.test({
  ...needing(["ssh"], "the program of all verbs does as a script what each verb's own script does"),
  async fn() {
    await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1) }] });
    const project = await lab.project();
    const twice = async (...command: string[]) => {
      const own = await tell(lab, project, command);
      const whole = await tell(lab, project, command, { launch: umbrella });
      assert.deepEqual({ ...whole, out: steady(whole.out) }, { ...own, out: steady(own.out) });
      return own;
    };
    assert.match((await twice("gpus", "--observe", "0")).out, /`run` would take Newton GPU 0/);
    assert.equal((await twice("push", "--dry-run")).out, "configs/remote.yaml\n");
    assert.equal((await twice("pull", "nothing")).code, 1);
    assert.match((await twice("permissions", "gpus")).out, /^gpus\n/);
  },
});

/** Figures of a survey may differ from one to the next. */
function steady(text: string): string {
  return text.replaceAll(/\d+ MiB|\d+%/g, "N");
}
