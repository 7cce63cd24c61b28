import assert from "node:assert/strict";
import fc from "fast-check";
import { parseConfig } from "../../lib/config/document.ts";
import { commonJump, type Draft, faultOfField, remoteYaml, suggestedName } from "../../lib/config/draft.ts";
import { remoteSchema } from "../../lib/config/remote.ts";
import { textsIn } from "../../lib/text/texts.ts";

const draft: Draft = {
  jump: "labpc",
  sshConfig: null,
  servers: [
    {
      name: "Newton",
      address: "newton",
      user: "hasegawa",
      dataReady: true,
      goesTo: "192.168.23.14:22",
    },
    { name: "Archimedes", address: "192.168.23.15", user: "hasegawa", dataReady: false, goesTo: null },
  ],
  remoteDir: "~/work/TIASJudgeModel",
  dataDir: "~/data/TIASJudgeModel",
  uv: "~/.local/bin/uv",
};

function load(text: string) {
  return parseConfig(text, "remote.yaml", remoteSchema);
}

Deno.test.each([["en"], ["ja"]] as const)("remoteYaml() in %s is loaded as it was meant", (language) => {
  const text = remoteYaml(textsIn(language), draft);
  const config = load(text);
  assert.equal(config.jump_host, "labpc");
  assert.deepEqual(config.servers.map(({ name, priority, data_ready }) => [name, priority, data_ready]), [
    ["Newton", 1, true],
    ["Archimedes", 2, false],
  ]);
  assert.deepEqual(config, load(text.replaceAll(/#.*/g, "")), "comments say nothing that matters");
  assert.match(text, /address: newton +# .*192\.168\.23\.14:22/);
});

Deno.test("remoteYaml() shows the optional settings with the values that hold without them", () => {
  const text = remoteYaml(textsIn("en"), draft);
  const [required = "", optional = ""] = text.split(/^# Optional.*\n/m);
  const shown = optional.replaceAll(/^# /gm, "");
  assert.match(
    shown,
    /^pull:\n {2}whitelist: \[ figures\/\*\.png, [\s\S]*\npush:\n[\s\S]*\njobs:\n {2}tmux_socket: tias-remote\n$/,
  );
  assert.deepEqual(load(required + shown), load(required));
});

Deno.test("remoteYaml() writes whatever its fields allow so that it is read back the same", () => {
  const word = (field: Parameters<typeof faultOfField>[0]) =>
    fc.oneof(
      fc.constantFrom(
        "yes",
        "null",
        "~",
        "123",
        "0x1F",
        "1e3",
        "a: b",
        "a #b",
        "'",
        '"',
        "{x}",
        "日本",
        "~/x y",
      ),
      fc.string(),
    )
      .filter((text) => faultOfField(field, text) === undefined);
  fc.assert(fc.property(
    fc.record({
      jump: fc.option(word("jump_host")),
      name: word("name"),
      address: word("address"),
      user: word("user"),
      remoteDir: word("remote_dir"),
      dataDir: word("data_dir"),
      uv: word("uv"),
      goesTo: fc.option(fc.string()),
      dataReady: fc.boolean(),
    }),
    ({ jump, remoteDir, dataDir, uv, ...server }) => {
      const config = load(
        remoteYaml(textsIn("ja"), { jump, sshConfig: null, servers: [server], remoteDir, dataDir, uv }),
      );
      assert.equal(config.jump_host, jump);
      assert.deepEqual(config.servers, [{
        name: server.name,
        address: server.address,
        user: server.user,
        priority: 1,
        remote_dir: remoteDir,
        data_dir: dataDir,
        uv,
        data_ready: server.dataReady,
      }]);
    },
  ));
});

Deno.test.each([
  ["newton", "newton"],
  ["newton.lab.example", "newton"],
  ["192.168.23.14", undefined],
  ["fe80::1", undefined],
  ["日本", undefined],
])("suggestedName() makes of %s the name %s", (host, name) => {
  assert.equal(suggestedName(host), name);
});

Deno.test("commonJump() is the one that all share", () => {
  assert.equal(commonJump(new Set(["labpc"])), "labpc");
  assert.equal(commonJump(new Set(["labpc", null])), null);
  assert.equal(commonJump(new Set(["labpc", "other"])), null);
  assert.equal(commonJump(new Set()), null);
});
