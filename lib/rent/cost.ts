/** What a run may take at most, in hours. */
export interface TimeLimits {
  readonly limitHours: number;
  readonly graceHours: number;
  readonly extensionHours: number;
}

/** Hours after which no Pod of this run can be there any more. */
export function longestHours({ limitHours, graceHours, extensionHours }: TimeLimits): number {
  return limitHours + graceHours + extensionHours;
}

/** The highest price an hour that keeps both caps, in US dollars. */
export function hourlyCap(limits: TimeLimits, caps: { maxHourlyUsd: number; maxTotalUsd: number }): number {
  return Math.min(caps.maxHourlyUsd, caps.maxTotalUsd / longestHours(limits));
}

/** US dollars for `seconds` at `hourlyUsd`. */
export function costOf(hourlyUsd: number, seconds: number): number {
  return hourlyUsd * seconds / 3600;
}

/** `$1.23`. Rounded up: a cost is never shown as less than it is. */
export function dollars(amount: number): string {
  return `$${(Math.ceil(amount * 100 - 1e-9) / 100).toFixed(2)}`;
}
