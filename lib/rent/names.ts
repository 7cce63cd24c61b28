import type { Context } from "../system/context.ts";
import { randomToken } from "../system/token.ts";
import type { Pod } from "./runpod_schema.ts";
import { podVariable } from "./watchdog_script.ts";

/** Letters, digits, `_`, `.`, `-`; begins with a letter or digit: one folder of `lab/` and a part of a Pod's name. */
export function isLogName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/.test(name);
}

/** A name that no other Pod has, ever: by it a Pod is found again after a request whose answer was lost. */
export function newPodName(world: Pick<Context, "random">, prefix: string, log: string): string {
  return `${prefix}-${log}-${randomToken(world).slice(0, 8)}`;
}

/** The log that a Pod of this prefix belongs to; `undefined` for a Pod that is not ours. */
export function logOfPod(pod: Pick<Pod, "name" | "env">, prefix: string): string | undefined {
  // The mark alone could be copied with a template, the name alone could be anyone's: both are needed.
  if (pod.env[podVariable.name] !== pod.name || !pod.name.startsWith(`${prefix}-`)) return undefined;
  const log = /^(.+)-[0-9a-f]{8}$/.exec(pod.name.slice(prefix.length + 1))?.[1];
  return log !== undefined && isLogName(log) ? log : undefined;
}

/** Unix times of a Pod of ours: when its watchdog acts, and the latest to which that can be put off. */
export function deadlinesOf(
  pod: Pick<Pod, "env">,
): { readonly deadline: number; readonly last: number } | undefined {
  const [deadline, extension] = [podVariable.deadline, podVariable.extension].map((name) =>
    /^\d{1,11}$/.test(pod.env[name] ?? "") ? Number(pod.env[name]) : undefined
  );
  return deadline === undefined ? undefined : { deadline, last: deadline + (extension ?? 0) };
}
