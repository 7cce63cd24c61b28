/**
 * Takes the uploader's place on a simulated Pod where there is no Python with `huggingface_hub`: the same orders, the
 * same last line, by the JavaScript library.
 */

import { commit, createRepo, listFiles, modelInfo } from "@huggingface/hub";
import { join } from "node:path";

interface Order {
  readonly repo: string;
  readonly folder: string;
  readonly checkpoint: string;
  readonly exclude: readonly string[];
}

async function* filesBelow(folder: string, path = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(folder, path))) {
    const inner = path === "" ? name : `${path}/${name}`;
    if (isDirectory) yield* filesBelow(folder, inner);
    else yield inner;
  }
}

async function upload(order: Order): Promise<Record<string, unknown>> {
  const hubUrl = Deno.env.get("HF_ENDPOINT") ?? "";
  const accessToken = (await Deno.readTextFile(Deno.env.get("HF_TOKEN_PATH") ?? "")).trim();
  const access = { hubUrl, accessToken };
  await createRepo({ ...access, repo: order.repo, private: true }).catch(() => {});
  const { private: isPrivate } = await modelInfo({ ...access, name: order.repo });
  if (isPrivate !== true) return { outcome: "not_private", detail: "", paths: [] };
  const operations = [];
  for await (const path of filesBelow(order.checkpoint)) {
    if (order.exclude.includes(path.split("/")[0] ?? "")) continue;
    const content = new Blob([await Deno.readFile(join(order.checkpoint, path))]);
    operations.push({ operation: "addOrUpdate", path: `${order.folder}/${path}`, content } as const);
  }
  const done = await commit({
    ...access,
    repo: order.repo,
    title: `Add ${order.folder}`,
    operations,
    useXet: false,
  });
  const files = [];
  for await (
    const { type, path, size, oid, lfs } of listFiles({
      ...access,
      repo: order.repo,
      path: order.folder,
      recursive: true,
      revision: done?.commit.oid ?? "main",
    })
  ) {
    if (type === "directory") continue;
    files.push({ path: path.slice(order.folder.length + 1), size, oid, sha256: lfs?.oid ?? null });
  }
  return { outcome: "uploaded", commit: done?.commit.oid, count: files.length, files };
}

if (import.meta.main) {
  const result = await upload(JSON.parse(Deno.env.get("TIAS_UPLOAD") ?? "{}")).catch((fault) => ({
    outcome: String(fault).includes("storage limit") ? "storage_full" : "failed",
    detail: String(fault),
  }));
  await Deno.stdout.write(new TextEncoder().encode(`TIAS_UPLOAD_RESULT ${JSON.stringify(result)}\n`));
  Deno.exit(result.outcome === "uploaded" ? 0 : 1);
}
