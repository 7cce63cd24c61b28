import assert from "node:assert/strict";
import { commandByHand } from "../../lib/ssh/by_hand.ts";
import { askSsh, destinationOf, findRoute, readRoute } from "../../lib/ssh/local.ts";
import { settle, testContext } from "../test_context.ts";
import { FakeProcess } from "./fake_process.ts";

function fakeSsh() {
  const processes: FakeProcess[] = [];
  const world = testContext({
    start(spec) {
      const process = new FakeProcess(spec);
      processes.push(process);
      return process;
    },
  });
  return { world, processes };
}

Deno.test("readRoute() reads where ssh goes, with either line end, and takes nothing else for it", () => {
  const answer = "user hasegawa\nhostname 192.168.23.14\nport 2222\nproxyjump labpc,other\n";
  const route = { host: "192.168.23.14", user: "hasegawa", port: 2222, jump: "labpc,other" };
  assert.deepEqual(readRoute(answer), route);
  assert.deepEqual(readRoute(answer.replaceAll("\n", "\r\n")), route);
  assert.equal(readRoute(answer.replace("labpc,other", "none"))?.jump, null);
  assert.equal(readRoute(answer.replace(/proxyjump.*\n/, ""))?.jump, null);
  assert.equal(readRoute(answer.replace("port 2222", "port many")), undefined);
  assert.equal(readRoute("gatewayports no\n"), undefined);
});

Deno.test("findRoute() asks ssh with the configuration's file, and takes no answer from an ssh that failed", async () => {
  const { world, processes } = fakeSsh();
  const route = findRoute(world, { ssh_config: "/lab/config" }, "newton");
  await settle();
  const [process] = processes;
  assert.deepEqual(process?.spec.args, ["-F", "/lab/config", "-G", "newton"]);
  assert.equal(process?.inputEnd, "closed");
  process?.print("user h\nhostname n\nport 22\n");
  process?.exit(255);
  assert.equal(await route, undefined);
});

Deno.test("askSsh() does not wait for an ssh that never answers", async () => {
  const { world, processes } = fakeSsh();
  const answer = askSsh(world, ["-V"]);
  await settle();
  assert.equal(processes[0]?.kills, 0);
  await world.clock.tick(10_000);
  assert.equal(processes[0]?.kills, 1);
  assert.equal((await answer).code, 143);
});

Deno.test("commandByHand() is one line for a shell, whatever the configuration holds", () => {
  assert.equal(
    commandByHand(
      { jump_host: "lab pc", connect_timeout_sec: 15, ssh_config: "/my lab/config" },
      { user: "h", address: "n" },
      "echo 'x'",
    ),
    `ssh -F '/my lab/config' -J 'lab pc' h@n 'echo '\\''x'\\'''`,
  );
});

Deno.test("destinationOf() tells only what the address does not", () => {
  const route = { host: "192.168.23.14", user: "h", port: 22, jump: null };
  assert.equal(destinationOf("192.168.23.14", route), null);
  assert.equal(destinationOf("newton", route), "192.168.23.14:22");
  assert.equal(destinationOf("192.168.23.14", { ...route, port: 2222 }), "192.168.23.14:2222");
  assert.equal(destinationOf("192.168.23.14", { ...route, jump: "b" }), "192.168.23.14:22 (ProxyJump b)");
  assert.equal(destinationOf("newton", undefined), null);
});
