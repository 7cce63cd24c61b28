import assert from "node:assert/strict";
import { surveyShape } from "../../lib/cli/survey_json.ts";
import { startLaboratory } from "../lab/laboratory.ts";
import { openSshAvailable, startOpenSshLaboratory } from "../lab/openssh.ts";
import { needing } from "../lab/requirements.ts";
import {
  absent,
  busy,
  deadDriver,
  flipping,
  hanging,
  holder,
  mig,
  noReading,
  quiet,
} from "../lab/scenarios.ts";
import { tell } from "./story.ts";

Deno.test({
  ...needing(
    ["ssh"],
    "gpus tells the four states, the holders and the choice, over one connection for each server",
  ),
  async fn() {
    await using lab = await startLaboratory({
      jump: true,
      servers: [
        {
          name: "Newton",
          scenario: { gpus: [...flipping.gpus ?? [], ...holder.gpus ?? [], ...mig.gpus ?? []] },
        },
        { name: "Archimedes", scenario: quiet(1), priority: 2 },
        { name: "Gauss", scenario: quiet(2), priority: 0, dataReady: false },
      ],
    });
    const project = await lab.project();
    const ja = await tell(lab, project, ["gpus"], { language: "ja" });
    assert.equal(ja.code, 0);
    assert.equal(ja.connections, 3);
    assert.match(ja.out, /^Newton\n/);
    assert.match(
      ja.out,
      /0 +使用中 +断続的に使用・平均 \d+%・最大 74% +812 \/ 49140 MiB +bob 1\.5 時間 SM \d+%\n/,
    );
    assert.match(
      ja.out,
      /1 +空き（利用者あり） +メモリ確保のみ・平均 0%・最大 0% .* alice 27\.7 時間 SM 0%\n/,
    );
    assert.match(ja.out, /2 +状態不明 /);
    assert.match(ja.out, /Gauss（臨床データ未配置）\n/);
    assert.match(ja.out, /`run` が選ぶのは Archimedes の GPU 0（未使用）です\n$/);
    assert.ok(!ja.out.includes("\x1b"), "no colour in a pipe");
    assert.equal(ja.err, "3 台のサーバを 1 秒間観測しています\n");

    const en = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.match(en.out, /`run` would take Archimedes GPU 0 \(unused\)\n$/);
    assert.equal(en.err, "Asking 3 server(s)\n");

    const json = await tell(lab, project, ["gpus", "--json"]);
    const survey = surveyShape.parse(JSON.parse(json.out));
    assert.deepEqual(survey.choice, { server: "Archimedes", gpu: 0, state: "unused" });
    assert.deepEqual(survey.servers[0]?.gpus.map(({ state }) => state), ["busy", "idle_held", "unknown"]);
    assert.equal(survey.servers[0]?.gpus[1]?.processes[0]?.elapsed_sec, 99720);
  },
});

Deno.test({
  ...needing(
    ["ssh"],
    "gpus goes on without servers that are dead, silent, refusing, closed or without nvidia-smi",
  ),
  async fn() {
    await using lab = await startLaboratory({
      servers: [
        { name: "Dead", behaviour: { dead: true } },
        { name: "Silent", behaviour: { silent: true } },
        { name: "Stranger", behaviour: { refuseAuthentication: true } },
        { name: "Closed", behaviour: { accountClosed: true } },
        { name: "Broken", scenario: deadDriver },
        { name: "Bare", scenario: absent },
        { name: "Blind", scenario: noReading },
        {
          name: "Noisy",
          scenario: quiet(1),
          behaviour: { noise: "\x1b]0;title\x07(base) hi\r\nno line end" },
        },
      ],
    });
    const project = await lab.project({ config: { connect_timeout_sec: 1 } });
    const { code, out } = await tell(lab, project, ["gpus"]);
    assert.equal(code, 0);
    assert.match(out, /^Dead {2}unreachable: the connection was refused \(.*Connection refused\)$/m);
    assert.match(out, /^Silent {2}unreachable: no answer in time/m);
    assert.match(out, /^Stranger {2}unreachable: the login was refused \(permission denied\)/m);
    assert.match(out, /^Closed {2}unreachable: .* \(This account is currently not available\.\)$/m);
    assert.match(out, /^Broken {2}the NVIDIA driver is not loaded/m);
    assert.match(out, /^Bare {2}nvidia-smi is not installed there/m);
    assert.match(out, /^Blind\n.*\n +0 +unknown +not one sample was obtained/m);
    assert.match(out, /`run` would take Noisy GPU 0 \(unused\)\n$/);
  },
});

Deno.test({
  ...needing(["ssh"], "gpus fails with every reason when no server can be reached"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Dead", behaviour: { dead: true } }, { name: "Late", behaviour: { dead: true } }],
    });
    const project = await lab.project();
    const en = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.equal(en.code, 1);
    assert.match(
      en.err,
      /error: None of the servers can be reached\n {2}Dead: .*refused.*\n {2}Late: .*\nhint: Is sshd/,
    );
    const ja = await tell(lab, project, ["gpus", "--observe", "0"], { language: "ja" });
    assert.match(ja.err, /エラー: どのサーバにも接続できません\n {2}Dead: 接続不可：接続を拒否されました/);
    const json = await tell(lab, project, ["gpus", "--observe", "0", "--json"]);
    assert.equal(json.code, 1);
    assert.deepEqual(JSON.parse(json.out).servers.map((server: { reachable: boolean }) => server.reachable), [
      false,
      false,
    ]);
  },
});

Deno.test({
  ...needing(["ssh"], "gpus keeps a hanging nvidia-smi from the other servers' results"),
  async fn() {
    await using lab = await startLaboratory({
      servers: [{ name: "Stuck", scenario: hanging }, { name: "Newton", scenario: busy }],
    });
    const project = await lab.project();
    const { code, out } = await tell(lab, project, ["gpus", "--observe", "0"]);
    assert.equal(code, 0);
    assert.match(out, /^Stuck {2}nvidia-smi does not answer$/m);
    assert.match(out, /^ +0 +busy +in constant use, mean 97%, max 97%/m);
    assert.match(out, /`run` would find no free GPU now\n$/);
  },
});

Deno.test.each([["zsh"], ["fish"], ["bash"]])("gpus works through the login shell %s", async (shell) => {
  if (needing(["ssh", shell], "").ignore) return;
  await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: quiet(1), shell }] });
  const { code, out } = await tell(lab, await lab.project(), ["gpus", "--observe", "0"]);
  assert.equal(code, 0);
  assert.match(out, /`run` would take Newton GPU 0 \(unused\)/);
});

const openSsh = openSshAvailable();
Deno.test({
  name: "gpus works through a real OpenSSH bastion",
  ignore: !openSsh.available,
  async fn() {
    await using lab = await startOpenSshLaboratory({
      jump: true,
      servers: [{ name: "Newton", scenario: flipping }, { name: "Archimedes", scenario: quiet(1) }],
    });
    const { code, out, connections } = await tell(lab, await lab.project(), ["gpus"]);
    assert.equal(code, 0);
    assert.equal(connections, 2);
    assert.match(out, /`run` would take Archimedes GPU 0 \(unused\)\n$/);
  },
});
