/**
 * The simulated laboratory: servers with GPUs that the system's real ssh reaches on the loopback interface.
 *
 * ```ts ignore
 * await using lab = await startLaboratory({ servers: [{ name: "Newton", scenario: holder }], jump: true });
 * const project = await lab.project();
 * ```
 */

import { join } from "node:path";
import { assembleLaboratory, type Control, makePremises, type Site } from "./common.ts";
import { findProgram } from "./system_path.ts";
import type { LabEvent } from "./spec.ts";
import { writeSshConfig } from "./ssh_config.ts";
import { SshProcess } from "./ssh_process.ts";
import type { Laboratory, LaboratoryOptions } from "./types.ts";

export type { Behaviour, LabEvent } from "./spec.ts";
export type * from "./types.ts";

/** Starts a laboratory whose ssh servers are npm's ssh2, in one process of their own. */
export async function startLaboratory(options: LaboratoryOptions): Promise<Laboratory> {
  await using starting = new AsyncDisposableStack();
  const premises = await makePremises(options, starting);
  const { root, user, userKeyFile, sites } = premises;
  const eventsFile = join(root, "events.log");
  await Deno.writeTextFile(eventsFile, "");
  const [process, ports] = await SshProcess.start({
    eventsFile,
    servers: sites.map(({ options: { name, behaviour = {} }, home, hostKeyFile }) => ({
      name,
      hostKeyFile,
      userKeyFile: `${userKeyFile}.pub`,
      users: [user],
      shell: home.shell,
      home: home.path,
      env: home.env,
      behaviour,
    })),
  }, join(root, "spec.json"));
  starting.use(process);
  const sshConfig = await writeSshConfig(
    root,
    userKeyFile,
    sites.map(({ options: { name }, address, hostKeyFile }) => (
      { alias: address, hostName: "127.0.0.1", port: ports.get(name) ?? 0, user, hostKeyFile }
    )),
  );
  const control = ({ options: { name: server } }: Site): Control => ({
    drop: () => process.order({ server, do: "drop" }),
    stop: () => process.order({ server, do: "stop" }),
    start: () => process.order({ server, do: "start" }),
    setBehaviour: (behaviour) => process.order({ server, do: "behave", behaviour }),
    events: async () => (await readEvents(eventsFile)).filter((event) => event.server === server),
  });
  return assembleLaboratory(premises, { ssh: await findProgram("ssh"), sshConfig, control }, starting.move());
}

async function readEvents(file: string): Promise<LabEvent[]> {
  const lines = (await Deno.readTextFile(file)).split("\n");
  return lines.flatMap((line) => line === "" ? [] : [JSON.parse(line)]);
}
