/** Bytes for a person: `512 B`, `1.4 MiB`, cut to one decimal. */
export function sizeText(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return unit === 0 ? `${value} B` : `${(Math.floor(value * 10) / 10).toFixed(1)} ${units[unit]}`;
}
