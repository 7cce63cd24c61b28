/** Where the fake Hub keeps large files: another origin, with signed addresses instead of tokens. */

import { json, slice } from "./fake_hub_faults.ts";
import { sha256 } from "./fake_hub_state.ts";

export class FakeCdn {
  /** By SHA-256. */
  readonly objects = new Map<string, Uint8Array>();

  async answer(request: Request, url: URL, headers: Headers): Promise<Response> {
    const [, verb, oid = "", part = "0"] = url.pathname.split("/");
    // As S3 does: a signed address and a token are two ways to log in.
    if (request.headers.has("authorization")) {
      await request.body?.cancel();
      return json(400, { error: "Only one auth mechanism allowed" });
    }
    if (request.method === "GET") {
      const bytes = this.objects.get(oid);
      return bytes === undefined ? json(404, {}) : slice(bytes, headers, { etag: `"${oid}"` });
    }
    const body = new Uint8Array(await request.arrayBuffer());
    if (verb === "part") {
      this.objects.set(`${oid}/${part}`, body);
      return new Response(null, { status: 200, headers: { etag: `"${part}"` } });
    }
    const bytes = verb === "upload" ? body : this.#joined(oid);
    if (sha256(bytes) !== oid) return json(400, { error: "The content has another hash" });
    this.objects.set(oid, bytes);
    return json(200, {});
  }

  #joined(oid: string): Uint8Array {
    const parts: Uint8Array[] = [];
    for (let part = 1; this.objects.has(`${oid}/${part}`); part++) {
      parts.push(this.objects.get(`${oid}/${part}`) as Uint8Array);
    }
    const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const bytes of parts) {
      whole.set(bytes, at);
      at += bytes.length;
    }
    return whole;
  }
}
