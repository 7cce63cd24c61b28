/**
 * The process of the simulated laboratory's ssh servers: `deno run -A tests/lab/ssh_server.ts SPEC.json`.
 *
 * The servers live in a process of their own because ssh2 leaves key material open in its process, which the test
 * sanitizers rightly refuse, and because a client under test must not share an event loop with its server.
 */

import { readFile } from "node:fs/promises";
import { appendFileSync } from "node:fs";
import process from "node:process";
import { createInterface } from "node:readline";
import type { LabEvent, Order, ProcessSpec, Reply } from "./spec.ts";
import { SshHost } from "./ssh_host.ts";

async function main(specFile: string): Promise<void> {
  const spec: ProcessSpec = JSON.parse(await readFile(specFile, "utf8"));
  // Synchronous: an event stands in the file before the client can see its effect.
  const record = (event: Omit<LabEvent, "time">) =>
    appendFileSync(spec.eventsFile, `${JSON.stringify({ time: new Date().toISOString(), ...event })}\n`);
  const reply = (message: Reply) => process.stdout.write(`${JSON.stringify(message)}\n`);

  const hosts = new Map<string, SshHost>();
  for (const server of spec.servers) {
    const host = new SshHost(server, record);
    hosts.set(server.name, host);
    reply({ server: server.name, port: await host.start() });
  }
  for await (const line of createInterface({ input: process.stdin })) {
    const order: Order = JSON.parse(line);
    const host = hosts.get(order.server);
    if (!host) throw new Error(`Cannot obey: no server is named '${order.server}'`);
    reply({ server: order.server, port: await obey(host, order) });
  }
  // The parent has gone, whichever way it ended.
  process.exit(0);
}

function obey(host: SshHost, order: Order): Promise<number> | number {
  switch (order.do) {
    case "start":
      return host.start();
    case "stop":
      return host.stop();
    case "drop":
      return host.drop();
    case "behave":
      return host.behave(order.behaviour);
  }
}

if (import.meta.main) await main(Deno.args[0] ?? "");
