import assert from "node:assert/strict";
import { join } from "node:path";
import { readUploadOutcome, uploadTask } from "../../lib/hub/upload_script.ts";
import { lookScript, startTaskScript } from "../../lib/rent/pod_scripts.ts";
import { readTrainingLook } from "../../lib/rent/training_look.ts";
import { FakeHub } from "../lab/fake_hub.ts";
import { needingHubPython, pythonWithHub } from "../lab/python.ts";
import { waitUntil } from "../lab/waiting.ts";
import { transcriptOf } from "./remote.ts";

Deno.test({
  ...needingHubPython("an upload runs as a task of the Pod; its token is in no log and no file that stays"),
  async fn() {
    const root = await Deno.makeTempDir({ prefix: "pod-" });
    await using hub = new FakeHub();
    try {
      const home = join(root, "home");
      await Deno.mkdir(join(home, ".local/bin"), { recursive: true });
      const python = `#!/bin/sh\nexec ${pythonWithHub} "$@"\n`;
      await Deno.writeTextFile(join(home, ".local/bin/python3"), python, { mode: 0o755 });
      await Deno.mkdir(join(root, "checkpoints/1499/params"), { recursive: true });
      await Deno.writeTextFile(join(root, "checkpoints/1499/params/data"), "x".repeat(3000));
      const task = { folder: join(root, "tasks"), name: "upload", log: join(root, "upload.log") };
      const id = Array.from(
        crypto.getRandomValues(new Uint8Array(16)),
        (b) => b.toString(16).padStart(2, "0"),
      ).join("");
      const order = uploadTask({
        repo: "hasegawa/checkpoints",
        folder: "1499",
        checkpoint: join(root, "checkpoints/1499"),
        exclude: ["train_state"],
        seconds: 60,
        endpoint: hub.url,
        scratch: root,
      });
      await transcriptOf(startTaskScript({ ...task, id, cwd: root, token: hub.token, ...order }), { home });
      let log = "";
      await waitUntil(async () => {
        const look = readTrainingLook(await transcriptOf(lookScript(task), { home }));
        log = look?.logTail ?? "";
        return look?.exitCode !== null;
      });
      const outcome = readUploadOutcome(log);
      assert.equal(outcome.kind, "uploaded", log);
      assert.equal(hub.repo("hasegawa/checkpoints").head.files.has("1499/params/data"), true);
      assert(!log.includes(hub.token));
      await assert.rejects(Deno.stat(`/dev/shm/tias-remote-${id}`), Deno.errors.NotFound);
      const { stdout } = await new Deno.Command("grep", { args: ["-rl", hub.token, root] }).output();
      assert.equal(new TextDecoder().decode(stdout), "");
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
});
