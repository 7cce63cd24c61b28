/** GNU tar and Python's tarfile as witnesses of what is in an archive. */

import { createHash } from "node:crypto";
import { join } from "node:path";
import type { ReadFile } from "./reading.ts";

export type WitnessedFile = Pick<ReadFile, "path" | "size" | "sha256">;

/** Path, size and hash only, in the order of their paths. */
export function witnessed(files: readonly WitnessedFile[]): WitnessedFile[] {
  return files.map(({ path, size, sha256 }) => ({ path, size, sha256 })).sort((a, b) =>
    a.path < b.path ? -1 : 1
  );
}

/** Whether a program is there; `tar` must be GNU's. */
export async function hasProgram(name: "tar" | "python3"): Promise<boolean> {
  try {
    const { success, stdout } = await new Deno.Command(name, { args: ["--version"], stderr: "null" })
      .output();
    return success && (name !== "tar" || new TextDecoder().decode(stdout).includes("GNU tar"));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

/** What GNU tar extracts; only for archives that were accepted. */
export async function readWithGnuTar(archive: Uint8Array): Promise<WitnessedFile[]> {
  const folder = await Deno.makeTempDir();
  try {
    const tar = new Deno.Command("tar", {
      args: ["-xf", "-", "--no-same-owner", "-C", folder],
      env: { TAR_OPTIONS: "", LC_ALL: "C.UTF-8" },
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
    // It may stop reading at the end of the archive, before its padding.
    await new Blob([archive.slice()]).stream().pipeTo(tar.stdin).catch(() => {});
    const { success } = await tar.status;
    if (!success) throw new Error("GNU tar refuses what was accepted");
    return witnessed(await filesBelow(folder, ""));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function filesBelow(folder: string, path: string): Promise<WitnessedFile[]> {
  const found: WitnessedFile[] = [];
  for await (const { name, isDirectory } of Deno.readDir(join(folder, path))) {
    const inner = path === "" ? name : `${path}/${name}`;
    if (isDirectory) {
      found.push(...await filesBelow(folder, inner));
      continue;
    }
    // An archive may take the right to read away from its owner.
    await Deno.chmod(join(folder, inner), 0o600);
    const bytes = await Deno.readFile(join(folder, inner));
    found.push({ path: inner, size: bytes.length, sha256: createHash("sha256").update(bytes).digest("hex") });
  }
  return found;
}

const pythonScript = `
import hashlib, io, json, sys, tarfile
for name in json.load(sys.stdin):
    files = []
    with tarfile.open(name, "r:", encoding="utf-8") as archive:
        for member in archive:
            if member.isfile():
                body = archive.extractfile(member).read()
                path = member.name[2:] if member.name.startswith("./") else member.name
                files.append({"path": path, "size": len(body), "sha256": hashlib.sha256(body).hexdigest()})
    print(json.dumps(files))
`;

/** What Python's tarfile reads from each archive, in one process. */
export async function readWithPython(archives: readonly Uint8Array[]): Promise<WitnessedFile[][]> {
  const folder = await Deno.makeTempDir();
  try {
    const names = archives.map((_, index) => join(folder, `${index}.tar`));
    for (const [index, name] of names.entries()) {
      await Deno.writeFile(name, archives[index] ?? new Uint8Array());
    }
    const python = new Deno.Command("python3", {
      args: ["-c", pythonScript],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const input = new Blob([JSON.stringify(names)]).stream().pipeTo(python.stdin);
    const { success, stdout, stderr } = await python.output();
    await input;
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim().split("\n").map((line) => witnessed(JSON.parse(line)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
