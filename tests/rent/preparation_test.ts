import assert from "node:assert/strict";
import { join } from "node:path";
import { podSshConfig } from "../../lib/rent/pod_connection.ts";
import { listForSending, preparationSteps } from "../../lib/rent/preparation.ts";
import { extendScript, isProved, readSign, signScript } from "../../lib/rent/watchdog_link.ts";
import { UserError } from "../../lib/system/errors.ts";
import { exampleRecipe } from "./recipe.ts";
import { transcriptOf } from "./remote.ts";

Deno.test("preparationSteps() sets up, sends, prepares, in this order", async () => {
  const steps = preparationSteps(await exampleRecipe());
  assert.deepEqual(steps.map((step) => step.kind === "task" ? step.name : step.from), [
    "setup-1",
    "setup-2",
    "pi05",
    "data/trim_corr",
    "prepare",
  ]);
});

Deno.test("listForSending() takes a folder without what is excluded, or one file", async () => {
  const root = await Deno.makeTempDir({ prefix: "send-" });
  try {
    await Deno.mkdir(join(root, "code/.venv"), { recursive: true });
    await Deno.mkdir(join(root, "code/sub/__pycache__"), { recursive: true });
    await Deno.writeTextFile(join(root, "code/.venv/x"), "x");
    await Deno.writeTextFile(join(root, "code/sub/__pycache__/x"), "x");
    await Deno.writeTextFile(join(root, "code/sub/a.sh"), "echo", { mode: 0o755 });
    await Deno.symlink("sub/a.sh", join(root, "code/link"));
    const list = await listForSending(root, { from: "code", exclude: [".venv", "__pycache__"] });
    assert.deepEqual(list.map(({ path, kind, size, executable }) => [path, kind, size, executable]), [
      ["link", "link", 0, false],
      ["sub", "directory", 0, false],
      ["sub/a.sh", "file", 4, true],
    ]);
    const [one] = await listForSending(root, { from: join(root, "code/sub/a.sh"), exclude: [] });
    assert.equal(one?.path, "a.sh");
    await assert.rejects(listForSending(root, { from: "gone", exclude: [] }), UserError);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("podSshConfig() is one host with keys of its own, and ssh reads its paths as they are", async () => {
  const folder = await Deno.makeTempDir({ prefix: "ssh 100% " });
  try {
    const pod = { name: "tias-train-x-00000000", host: "203.0.113.9", port: 10_341, restarts: 0 };
    await Deno.writeTextFile(
      join(folder, "config"),
      podSshConfig(pod, join(folder, "key"), join(folder, "known")),
    );
    const { stdout } = await new Deno.Command("ssh", {
      args: ["-G", "-F", join(folder, "config"), pod.name],
      stdin: "null",
    }).output();
    const shown = new TextDecoder().decode(stdout);
    for (
      const line of [
        "hostname 203.0.113.9",
        "port 10341",
        "user root",
        "stricthostkeychecking accept-new",
        "hostkeyalias tias-train-x-00000000",
        `userknownhostsfile ${join(folder, "known").replace("%", "%%")}`,
      ]
    ) {
      assert.ok(
        shown.split("\n").some((each) =>
          each === line || each.replaceAll("%%", "%") === line.replaceAll("%%", "%")
        ),
        line,
      );
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("readSign() reads what the watchdog notes, and takes an old or strange sign for no proof", async () => {
  const folder = await Deno.makeTempDir({ prefix: "alive-" });
  try {
    assert.equal(readSign(await transcriptOf(signScript(join(folder, "none")))), undefined);
    const now = Math.floor(Date.now() / 1000);
    const write = (text: string) => Deno.writeTextFile(join(folder, "alive"), text);
    await write(`now=${now}\nuntil=${now + 100}\nproof=200\n`);
    const sign = readSign(await transcriptOf(signScript(folder)));
    assert.ok(isProved(sign));
    assert.equal(sign.until, now + 100);
    for (const [age, proof] of [[1000, "200"], [0, "403"], [0, "000"], [0, "x"]] as const) {
      await write(`now=${now - age}\nuntil=${now + 100}\nproof=${proof}\n`);
      assert.ok(!isProved(readSign(await transcriptOf(signScript(folder)))), `${age} ${proof}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("extendScript() asks by the file, and says what the watchdog made of it", async () => {
  const folder = await Deno.makeTempDir({ prefix: "alive-" });
  try {
    const now = Math.floor(Date.now() / 1000);
    await Deno.writeTextFile(join(folder, "alive"), `now=${now}\nuntil=${now + 50}\nproof=200\n`);
    const sign = readSign(await transcriptOf(extendScript(folder, now + 50, 1)));
    assert.equal(sign?.until, now + 50);
    assert.equal(await Deno.readTextFile(join(folder, "extend")), `${now + 50}\n`);
    // One that is not taken is told as it is.
    assert.equal(readSign(await transcriptOf(extendScript(folder, now + 500, 1)))?.until, now + 50);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
