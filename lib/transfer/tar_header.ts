import { Refusal } from "./refusal.ts";

/**
 * One 512-byte header block of a tar archive, as POSIX.1-2024 `pax` (ustar), GNU tar (`tar-header` in its manual's
 * "Standard" page) and the seventh edition wrote it.
 */

export const blockBytes = 512;

/** Who wrote the header: the fields behind the type differ. */
export type HeaderFormat = "v7" | "ustar" | "gnu";

export interface TarHeader {
  readonly format: HeaderFormat;
  /** The type flag as a character; `"\0"` is the seventh edition's regular file. */
  readonly type: string;
  /** Bytes of the path: the name field, behind the prefix where the format has one. A part of the block itself. */
  readonly name: Uint8Array;
  /** Bytes of the body, exactly; it may be far beyond what any number type but this one holds. */
  readonly size: bigint;
  /** Whether the owner may run the file: all of the mode that a pull keeps. */
  readonly executable: boolean;
}

// Mode, owner, group, time of change, and a device's two numbers: of no use here, but a field that is no number makes
// other readers stop or go astray.
const plainNumbers = [[100, 108], [108, 116], [116, 124], [136, 148], [329, 337], [337, 345]] as const;

const slash = 0x2f;
const space = 0x20;

/**
 * Reads a header block, which must not be all zeros.
 *
 * @throws {Refusal} `checksum`, `magic`, `number`, `ambiguous_size`, `format_mixture` or `nul_in_name`
 */
export function parseHeader(block: Uint8Array): TarHeader {
  if (readOctal(block, 148, 156) !== checksum(block)) throw new Refusal("checksum");
  const format = headerFormat(block);
  const type = String.fromCharCode(block[156] ?? 0);
  const size = readSize(block, 124, 136, format);
  const mode = readOctal(block, 100, 108) ?? 0;
  for (const [start, end] of plainNumbers) refuseNonsense(block, start, end);
  // The name fields of extension headers are made up by their writers and mean nothing.
  const name = "xgLK".includes(type) ? new Uint8Array() : headerName(block, format);
  if (format !== "ustar") refuseMixture(block);
  return { format, type, name, size, executable: (mode & 0o100) !== 0 };
}

/** The sum of all bytes, the checksum's own field counted as spaces. Unsigned, as POSIX has it. */
function checksum(block: Uint8Array): number {
  let sum = 8 * space;
  for (let at = 0; at < blockBytes; at++) {
    if (at < 148 || at >= 156) sum += block[at] ?? 0;
  }
  return sum;
}

function headerFormat(block: Uint8Array): HeaderFormat {
  const magic = String.fromCharCode(...block.subarray(257, 265));
  if (magic === "ustar\x0000") return "ustar";
  if (magic === "ustar  \0") return "gnu";
  if (magic === "\0".repeat(8)) return "v7";
  throw new Refusal("magic");
}

// A field is given by its block and its place in it: a view of its own for each would be thousands of objects.

/** Octal digits, blanks in front, blanks or NULs behind. `undefined` for anything else, an empty field too. */
function readOctal(block: Uint8Array, start: number, end: number): number | undefined {
  const { digits, value } = scanOctal(block, start, end);
  return digits > 0 ? value : undefined;
}

/** Accepts digits, nothing at all, or the binary form. @throws {Refusal} `number` */
function refuseNonsense(block: Uint8Array, start: number, end: number): void {
  const isBinary = block[start] === 0x80 || block[start] === 0xff;
  if (!isBinary && scanOctal(block, start, end).digits < 0) throw new Refusal("number");
}

/**
 * The number of octal digits in a field and what they mean; -1 digits where something else is in it. A field has
 * twelve bytes at most, so that the value is exact.
 */
function scanOctal(block: Uint8Array, start: number, end: number): { digits: number; value: number } {
  let at = start;
  while (at < end && block[at] === space) at++;
  const first = at;
  let value = 0;
  for (; at < end; at++) {
    const digit = (block[at] ?? 0) - 0x30;
    if (digit < 0 || digit > 7) break;
    value = value * 8 + digit;
  }
  const digits = at - first;
  while (at < end && (block[at] === space || block[at] === 0)) at++;
  return { digits: at === end ? digits : -1, value };
}

/**
 * GNU's binary form (first bit set) is for sizes that eleven octal digits cannot tell. Anywhere else, another reader
 * would take the bytes for something else.
 */
function readSize(block: Uint8Array, start: number, end: number, format: HeaderFormat): bigint {
  const first = block[start] ?? 0;
  if ((first & 0x80) === 0) {
    const size = readOctal(block, start, end);
    if (size === undefined) throw new Refusal("number");
    return BigInt(size);
  }
  if (first !== 0x80) throw new Refusal("number");
  const size = block.subarray(start + 1, end).reduce((value, byte) => value * 256n + BigInt(byte), 0n);
  if (format !== "gnu" || size < 8n ** 11n) throw new Refusal("ambiguous_size");
  return size;
}

function headerName(block: Uint8Array, format: HeaderFormat): Uint8Array {
  const name = untilNul(block, 0, 100);
  if (format !== "ustar") return name;
  // Star keeps two times at the end of the prefix field and signs the block.
  const star = String.fromCharCode(...block.subarray(508, 512)) === "tar\0";
  const prefix = untilNul(block, 345, star ? 476 : 500);
  if (prefix.length === 0) return name;
  const whole = new Uint8Array(prefix.length + 1 + name.length);
  whole.set(prefix);
  whole[prefix.length] = slash;
  whole.set(name, prefix.length + 1);
  return whole;
}

/** A text field up to its first NUL. What stands behind it would be read by some and not by others. */
export function untilNul(bytes: Uint8Array, start: number, end: number): Uint8Array {
  const nul = bytes.indexOf(0, start);
  if (nul === -1 || nul >= end) return bytes.subarray(start, end);
  if (!isZero(bytes, nul, end)) throw new Refusal("nul_in_name");
  return bytes.subarray(start, nul);
}

/**
 * Behind the names, GNU's header may have two times and a sparse map where POSIX has the prefix of the name, and the
 * seventh edition had nothing. Some readers look at the magic, and some (Python's tarfile) take whatever is there for
 * a prefix; so there must be nothing.
 */
function refuseMixture(block: Uint8Array): void {
  if (!isZero(block, 345, 512)) throw new Refusal("format_mixture");
}

/** Whether all bytes from one place to another are zero. (A plain loop: `every` calls a function for each of them.) */
export function isZero(bytes: Uint8Array, start = 0, end = bytes.length): boolean {
  for (let at = start; at < end; at++) {
    if (bytes[at] !== 0) return false;
  }
  return true;
}
