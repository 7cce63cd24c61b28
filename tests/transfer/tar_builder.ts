/** Builds tar archives byte by byte, sound ones and others, so that tests say what is in them. */

const blockBytes = 512;
const encoder = new TextEncoder();

/** One entry of an archive; every field may be made wrong. */
export interface Entry {
  readonly name?: string | Uint8Array;
  /** Type flag; default `0`. */
  readonly type?: string;
  readonly body?: string | Uint8Array;
  /** Default: the body's length. A text is put into the field as it is. */
  readonly size?: number | string | Uint8Array;
  readonly mode?: number;
  readonly link?: string;
  readonly prefix?: string;
  /** Default `ustar`. */
  readonly format?: "ustar" | "gnu" | "v7";
  /** Bytes to put over the finished header, by offset, before the checksum is computed. */
  readonly patch?: Readonly<Record<number, string | Uint8Array>>;
  /** Added to the right checksum. */
  readonly checksumError?: number;
  /** Fills the last block of the body up; default zeros. */
  readonly fill?: number;
}

/** An archive of `entries`, with its two zero blocks at the end. */
export function tar(...entries: readonly (Entry | Uint8Array)[]): Uint8Array {
  return concat(...entries.map((part) => part instanceof Uint8Array ? part : entry(part)), end);
}

/** The end of an archive. */
export const end = new Uint8Array(2 * blockBytes);

/** Header and body of one entry. */
export function entry(options: Entry): Uint8Array {
  const body = bytesOf(options.body ?? "");
  const filled = new Uint8Array(Math.ceil(body.length / blockBytes) * blockBytes).fill(options.fill ?? 0);
  filled.set(body);
  return concat(header({ size: body.length, ...options }), filled);
}

/** A header block alone. */
export function header(options: Entry): Uint8Array {
  const block = new Uint8Array(blockBytes);
  const put = (offset: number, value: string | Uint8Array) => block.set(bytesOf(value), offset);
  const format = options.format ?? "ustar";
  put(0, bytesOf(options.name ?? "").subarray(0, 100));
  put(100, octal(options.mode ?? 0o644, 8));
  put(108, octal(0, 8));
  put(116, octal(0, 8));
  put(124, typeof options.size === "number" ? octal(options.size, 12) : options.size ?? octal(0, 12));
  put(136, octal(0, 12));
  put(156, options.type ?? "0");
  put(157, options.link ?? "");
  if (format === "ustar") put(257, "ustar\x0000");
  if (format === "gnu") put(257, "ustar  \0");
  put(345, options.prefix ?? "");
  for (const [offset, value] of Object.entries(options.patch ?? {})) put(Number(offset), value);
  block.fill(0x20, 148, 156);
  const sum = block.reduce((total, byte) => total + byte, 0) + (options.checksumError ?? 0);
  put(148, `${sum.toString(8).padStart(6, "0")}\0 `);
  return block;
}

/** A pax header (`x`, or `g` for all that follows) with records in their order. */
export function pax(
  records: readonly (readonly [string, string | Uint8Array])[],
  type: "x" | "g" = "x",
): Uint8Array {
  return entry({ name: "pax", type, body: concat(...records.map(([key, value]) => record(key, value))) });
}

/** A pax header with a body as it is. */
export function rawPax(body: string | Uint8Array, type: "x" | "g" = "x"): Uint8Array {
  return entry({ name: "pax", type, body });
}

/** GNU's long name. */
export function longName(name: string | Uint8Array, type: "L" | "K" = "L"): Uint8Array {
  return entry({
    name: "././@LongLink",
    type,
    format: "gnu",
    body: concat(bytesOf(name), new Uint8Array(1)),
  });
}

/** GNU's binary form of a size. */
export function base256(size: bigint): Uint8Array {
  const field = new Uint8Array(12);
  let rest = size;
  for (let at = 11; at > 0; at--) {
    field[at] = Number(rest & 255n);
    rest >>= 8n;
  }
  field[0] = 0x80;
  return field;
}

export function concat(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

export function bytesOf(value: string | Uint8Array): Uint8Array {
  return typeof value === "string" ? encoder.encode(value) : value;
}

/** One character, one byte. */
export function latin1(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function record(key: string, value: string | Uint8Array): Uint8Array {
  const content = concat(bytesOf(` ${key}=`), bytesOf(value), bytesOf("\n"));
  let length = content.length;
  while (String(length).length + content.length !== length) length = String(length).length + content.length;
  return concat(bytesOf(String(length)), content);
}

function octal(value: number, width: number): string {
  return value.toString(8).padStart(width - 1, "0") + "\0";
}
