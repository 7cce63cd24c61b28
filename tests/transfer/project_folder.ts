import { dirname, join } from "node:path";
import type { PushArchive } from "../../lib/transfer/pack.ts";
import { temporaryFolder } from "../shell.ts";

/** What a test puts into a folder: text of a file, `null` for a folder, `{ link }`, or a file with its mode. */
export type Content = string | null | { readonly link: string } | {
  readonly text: string | Uint8Array;
  readonly mode: number;
};

/** A folder with this in it; removed at the end of the test. */
export async function folderWith(
  contents: Readonly<Record<string, Content>>,
): Promise<{ readonly path: string } & AsyncDisposable> {
  const folder = await temporaryFolder();
  for (const [path, content] of Object.entries(contents)) {
    const target = join(folder.path, path);
    await Deno.mkdir(content === null ? target : dirname(target), { recursive: true });
    if (content === null) continue;
    if (typeof content === "string") await Deno.writeTextFile(target, content);
    else if ("link" in content) await Deno.symlink(content.link, target);
    else {
      const bytes = typeof content.text === "string" ? new TextEncoder().encode(content.text) : content.text;
      await Deno.writeFile(target, bytes);
      // Apart from the umask.
      await Deno.chmod(target, content.mode);
    }
  }
  return folder;
}

/** Every path below `root` with what is there: `name/`, `name -> target`, or `name: text`. */
export async function listTree(root: string): Promise<string[]> {
  const lines: string[] = [];
  const visit = async (folder: string, prefix: string) => {
    for await (const entry of Deno.readDir(folder)) {
      const path = join(folder, entry.name);
      const name = `${prefix}${entry.name}`;
      if (entry.isSymlink) lines.push(`${name} -> ${await Deno.readLink(path)}`);
      else if (entry.isDirectory) {
        lines.push(`${name}/`);
        await visit(path, `${name}/`);
      } else lines.push(`${name}: ${await Deno.readTextFile(path)}`);
    }
  };
  await visit(root, "");
  return lines.sort();
}

export async function bytesOf(archive: PushArchive): Promise<Uint8Array> {
  return new Uint8Array(
    await new Response(archive.stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer(),
  );
}
