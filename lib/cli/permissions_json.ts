import * as z from "zod";
import type { PermissionSet } from "../system/permission_sets.ts";

const words = z.array(z.string());

/** What `permissions --json` prints: for each verb what it can touch; paths that begin with a dot are the project's. */
export const permissionsShape = z.record(
  z.string(),
  z.strictObject({ read: words, write: words, net: words, run: words, env: words, sys: words }),
);

export type PermissionsJson = z.infer<typeof permissionsShape>;

/** The permission sets for programs; the same in both languages. */
export function permissionsJson(sets: Readonly<Record<string, PermissionSet>>): PermissionsJson {
  return Object.fromEntries(
    Object.entries(sets).map(([verb, { read, write, net, run, env, sys }]) => [
      verb,
      { read: [...read], write: [...write], net: [...net], run: [...run], env: [...env], sys: [...sys] },
    ]),
  );
}
