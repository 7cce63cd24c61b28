import { Refusal } from "./refusal.ts";

/** What the records of a pax extended header say that matters here. */
export interface PaxRecords {
  readonly path?: Uint8Array;
  readonly size?: bigint;
}

// Keywords of POSIX.1-2024 that change neither name, kind nor size. What else has no vendor's name in front of it
// could mean anything.
const harmless = new Set(["atime", "charset", "comment", "ctime", "gid", "gname", "mtime", "uid", "uname"]);
// Vendors' keywords with which a reader would find another name, another size or another kind of file.
const harmful =
  /^GNU\.|^SCHILY\.(realsize|size|offset|filetype|dir|release|volhdr|path|linkpath)|^SUN\.holesdata$|^LIBARCHIVE\.symlinktype$/;

/**
 * Reads the body of an `x` or, with `global`, of a `g` header: records `LENGTH KEYWORD=VALUE\n`.
 *
 * @throws {Refusal} for records that are malformed, repeated, or say what two readers could understand differently
 */
export function parsePax(body: Uint8Array, global: boolean): PaxRecords {
  const seen = new Set<string>();
  let records: PaxRecords = {};
  for (let at = 0; at < body.length;) {
    const { keyword, value, end } = readRecord(body, at);
    at = end;
    if (seen.has(keyword)) throw new Refusal("extension_repeated");
    seen.add(keyword);
    judgeKeyword(keyword, global);
    if (keyword === "path") {
      // An empty value would delete the keyword, says POSIX; not every reader knows.
      if (value.length === 0) throw new Refusal("empty_name");
      if (value.includes(0)) throw new Refusal("nul_in_name");
      records = { ...records, path: value };
    } else if (keyword === "size") {
      const digits = String.fromCharCode(...value);
      if (!/^\d{1,20}$/.test(digits)) throw new Refusal("number");
      records = { ...records, size: BigInt(digits) };
    }
  }
  return records;
}

function judgeKeyword(keyword: string, global: boolean): void {
  if (keyword === "linkpath") throw new Refusal("symbolic_link");
  if (/^GNU\.sparse\.|^SCHILY\.realsize$|^SUN\.holesdata$/.test(keyword)) throw new Refusal("sparse");
  if (keyword === "path" || keyword === "size") {
    if (global) throw new Refusal("global_header");
    return;
  }
  const known = harmless.has(keyword) || (keyword.includes(".") && !harmful.test(keyword));
  if (!known) throw new Refusal(global ? "global_header" : "extension_keyword");
}

function readRecord(body: Uint8Array, start: number): { keyword: string; value: Uint8Array; end: number } {
  const malformed = () => new Refusal("extension_malformed");
  // Seven digits are more than the largest header that is read.
  const head = /^([1-9]\d{0,6}) /.exec(String.fromCharCode(...body.subarray(start, start + 8)));
  if (head?.[1] === undefined) throw malformed();
  const end = start + Number(head[1]);
  const content = start + head[0].length;
  if (end > body.length || end <= content || body[end - 1] !== 0x0a) throw malformed();
  const equals = body.indexOf(0x3d, content);
  if (equals <= content || equals >= end - 1) throw malformed();
  let keyword: string;
  try {
    keyword = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(
      body.subarray(content, equals),
    );
  } catch {
    throw malformed();
  }
  // deno-lint-ignore no-control-regex
  if (/[\u0000-\u0020\u007f]/.test(keyword)) throw malformed();
  return { keyword, value: body.slice(equals + 1, end - 1), end };
}
