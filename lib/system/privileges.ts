import {
  type AccessKind,
  accessKinds,
  inExecutable,
  type PermissionSet,
  permissionSets,
  permissionsFor,
  unionOf,
} from "./permission_sets.ts";

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

/**
 * Gives up, for the rest of the program's life, what the union of all verbs has and the verb that `word` names does
 * not need. Started with everything allowed (`deno run -A`), a program keeps whole the kinds of access that it needs.
 */
export function keepOnlyFor(word: string | undefined): void {
  const held = inExecutable(unionOf(Object.values(permissionSets)));
  const needed = inExecutable(permissionsFor(word));
  for (const privilege of privilegesToDrop(held, needed)) Deno.permissions.revokeSync(privilege);
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
