import type { RemoteConfig } from "../config/remote.ts";

export type GuardRules = Pick<RemoteConfig["push"], "max_file_mib" | "data_suffixes">;
export type GuardFault = "too_large" | "data_suffix";

/**
 * Clinical data must not slip out with the code: a file with the ending of a data format, or one too large to be
 * code, stops the push. Case is ignored (`SCAN.DCM`).
 */
export function guardFault(path: string, size: number, rules: GuardRules): GuardFault | undefined {
  const name = path.toLowerCase();
  if (rules.data_suffixes.some((suffix) => name.endsWith(suffix.toLowerCase()))) return "data_suffix";
  return size > rules.max_file_mib * 1024 * 1024 ? "too_large" : undefined;
}
