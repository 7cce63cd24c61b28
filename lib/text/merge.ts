/**
 * All entries of `parts` in one object without a prototype. `{ ...a, ...b }` would do, but takes V8 some ten
 * milliseconds for hundreds of keys, at every start: it makes a new shape for each.
 */
export function merge<const Parts extends readonly object[]>(...parts: Parts): Merged<Parts> {
  return Object.assign(Object.create(null), ...parts);
}

type Merged<Parts> = Parts extends readonly [infer First, ...infer Rest] ? First & Merged<Rest> : unknown;
