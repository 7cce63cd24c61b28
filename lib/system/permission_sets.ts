/**
 * What each verb may touch, as `deno.json` declares it: the one source for `deno run -P=VERB`, for the flags of the
 * executables, for what the umbrella gives up, and for what `permissions` tells.
 */
import configuration from "../../deno.json" with { type: "json" };

/** The kinds of access that a set can name; all else is denied to every verb. */
export const accessKinds = ["read", "write", "net", "run", "env", "sys"] as const;
export type AccessKind = (typeof accessKinds)[number];

/** What a program may touch. Paths are relative to the project. */
export interface PermissionSet extends Readonly<Record<AccessKind, readonly string[]>> {
  /** Variables that libraries ask for and are told to be unset. */
  readonly ignoredEnv: readonly string[];
}

export const nothing: PermissionSet = {
  read: [],
  write: [],
  net: [],
  run: [],
  env: [],
  sys: [],
  ignoredEnv: [],
};

/** The sets of `deno.json` by the names of the verbs, in their order. */
export const permissionSets: Readonly<Record<string, PermissionSet>> = Object.fromEntries(
  Object.entries(configuration.permissions).map(([verb, set]) => [verb, readPermissionSet(set)]),
);

/** The permissions that the umbrella is left with when its first word is `word`: those of that verb, else of none. */
export function permissionsFor(word: string | undefined): PermissionSet {
  const none = permissionSets["permissions"] ?? nothing;
  return word !== undefined && Object.hasOwn(permissionSets, word) ? permissionSets[word] ?? none : none;
}

/**
 * Reads one entry of `permissions`.
 *
 * @throws {Error} for what cannot be narrowed later or would go unnoticed: `true`, `all`, `deny`, unknown kinds
 */
export function readPermissionSet(entry: Readonly<Record<string, unknown>>): PermissionSet {
  const set: Record<AccessKind, readonly string[]> & { ignoredEnv: readonly string[] } = { ...nothing };
  for (const [kind, value] of Object.entries(entry)) {
    if (!isAccessKind(kind)) throw new Error(`Cannot use a permission set that names ${kind}`);
    const { allow = [], ignore = [], ...others } = listsOf(value);
    if (Object.keys(others).length > 0 || (kind !== "env" && words(kind, ignore).length > 0)) {
      throw new Error(`Cannot use a permission set whose ${kind} is more than a list`);
    }
    set[kind] = words(kind, allow);
    if (kind === "env") set.ignoredEnv = words(kind, ignore);
  }
  return set;
}

/** A list stands for `{ "allow": list }`; `true` and other values are handed on, to be refused. */
function listsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : { allow: value };
}

function isAccessKind(kind: string): kind is AccessKind {
  return (accessKinds as readonly string[]).includes(kind);
}

function words(kind: AccessKind, value: unknown): readonly string[] {
  if (Array.isArray(value) && value.every((word) => typeof word === "string")) return value;
  throw new Error(`Cannot use a permission set whose ${kind} is not a list of words`);
}

/** All that any of the sets allows: what a program of several verbs is started with. */
export function unionOf(sets: readonly PermissionSet[]): PermissionSet {
  const all = (list: (set: PermissionSet) => readonly string[]) => [...new Set(sets.flatMap(list))];
  const env = all((set) => set.env);
  return {
    read: all((set) => set.read),
    write: all((set) => set.write),
    net: all((set) => set.net),
    run: all((set) => set.run),
    env,
    sys: all((set) => set.sys),
    ignoredEnv: all((set) => set.ignoredEnv).filter((name) => !env.includes(name)),
  };
}

/** How many folders above the current one an executable looks for the project in. */
export const levelsAbove = 8;

/**
 * A set as an executable holds it. Its relative paths mean the current folder, which may lie deep in the project, so
 * the `configs` folders further up are added: nothing else there can be read.
 */
export function inExecutable(set: PermissionSet): PermissionSet {
  if (!set.read.some((path) => path === "." || path === "./configs")) return set;
  const above = Array.from({ length: levelsAbove }, (_, level) => `${"../".repeat(level + 1)}configs`);
  return { ...set, read: [...set.read, ...above] };
}
