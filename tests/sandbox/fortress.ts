/** A home with secrets, a project in it, and a server that counts who comes: what the attacks aim at. */
import { dirname, join } from "node:path";
import type { Targets } from "./attack.ts";

export interface Fortress extends AsyncDisposable {
  readonly home: string;
  readonly project: string;
  /** Attempts that no verb may bring off, whatever its permissions. */
  readonly targets: Targets;
  /** Connections so far. */
  visitors(): number;
  /** Files that an attack has made or changed. */
  damage(): Promise<string[]>;
}

const secret = "secret\n";

export async function buildFortress(): Promise<Fortress> {
  const home = await Deno.makeTempDir({ prefix: "tias-remote-fortress-" });
  const project = join(home, "work", "project");
  const files = [
    ".ssh/id_ed25519",
    ".ssh/config",
    "work/beside.txt",
    "work/project2/configs/remote.yaml",
    "work/project/configs/remote.yaml",
    "work/project/src/code.py",
    "work/project/runs/exp1/config.yaml",
    "work/project/data/patient.txt",
  ];
  for (const file of files) {
    await Deno.mkdir(dirname(join(home, file)), { recursive: true });
    await Deno.writeTextFile(join(home, file), secret);
  }
  let visitors = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => {
    visitors++;
    return new Response("welcome");
  });
  const at = (...paths: string[]) => paths.map((path) => join(home, path));
  return {
    home,
    project,
    targets: {
      read: [
        ...at(".ssh/id_ed25519", ".ssh/config", "work/beside.txt", "work/project2/configs/remote.yaml"),
        "/etc/passwd",
        "../beside.txt",
        "configs/../../beside.txt",
      ],
      list: [...at(".ssh", "work"), "/", ".."],
      write: [
        ...at(".ssh/authorized_keys", "work/beside.txt", "work/project/src/code.py"),
        "deno.json",
        "../new.txt",
      ],
      run: ["ls", "/bin/sh", Deno.execPath()],
      port: server.addr.port,
      env: ["PATH", "SHELL", "SSH_AUTH_SOCK", "AWS_SECRET_ACCESS_KEY"],
    },
    visitors: () => visitors,
    async damage() {
      const found: string[] = [];
      const visit = async (folder: string) => {
        for await (const { name, isDirectory } of Deno.readDir(folder)) {
          const path = join(folder, name);
          if (isDirectory) await visit(path);
          else if (!files.includes(path.slice(home.length + 1)) || await Deno.readTextFile(path) !== secret) {
            found.push(path.slice(home.length + 1));
          }
        }
      };
      await visit(home);
      return found;
    },
    async [Symbol.asyncDispose]() {
      await server.shutdown();
      await Deno.remove(home, { recursive: true });
    },
  };
}
