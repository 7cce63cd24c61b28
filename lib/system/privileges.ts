import { type AccessKind, accessKinds, type PermissionSet } from "./permission_sets.ts";

/**
 * What a program that was started with `held` gives up when it needs only `needed`.
 *
 * Deno takes away what is asked for together with whatever implies it, so a path inside one that is needed stays: to
 * give up `configs` would be to give up the whole project.
 */
export function privilegesToDrop(held: PermissionSet, needed: PermissionSet): Deno.PermissionDescriptor[] {
  return accessKinds.flatMap((kind) => {
    if (needed[kind].length === 0) return [descriptor(kind)];
    return held[kind]
      .filter((word) => !needed[kind].some((other) => implies(kind, other, word)))
      .map((word) => descriptor(kind, word));
  });
}

/** Gives privileges up for the rest of the program's life. */
export async function drop(privileges: readonly Deno.PermissionDescriptor[]): Promise<void> {
  for (const privilege of privileges) await Deno.permissions.revoke(privilege);
}

function implies(kind: AccessKind, allowed: string, word: string): boolean {
  if (allowed === word) return true;
  if (kind === "net") return word.startsWith(`${allowed}:`);
  if (kind !== "read" && kind !== "write") return false;
  const inside = word.startsWith("./") || word === "." ? word : "";
  return allowed === "." ? inside !== "" : word.startsWith(`${allowed}/`);
}

function descriptor(kind: AccessKind, word?: string): Deno.PermissionDescriptor {
  switch (kind) {
    case "read":
    case "write":
      return { name: kind, ...(word === undefined ? {} : { path: word }) };
    case "net":
      return { name: kind, ...(word === undefined ? {} : { host: word }) };
    case "run":
      return { name: kind, ...(word === undefined ? {} : { command: word }) };
    case "env":
      return { name: kind, ...(word === undefined ? {} : { variable: word }) };
    case "sys":
      return {
        name: kind,
        ...(word === undefined ? {} : { kind: word as Deno.SysPermissionDescriptor["kind"] & string }),
      };
  }
}
