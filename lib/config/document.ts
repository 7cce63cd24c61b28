import { type Document, isMap, isNode, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { ExitCode, type Message, message, UserError } from "../system/errors.ts";
import { sanitizeLine } from "../text/sanitize.ts";
import { readRule } from "./schema.ts";

/**
 * Reads a YAML 1.2 document and checks it against `schema`.
 *
 * @param file shown in errors, together with line and column (both from 1)
 * @throws {UserError} exit code 2; names file, line, column, key, what was found and what is allowed
 */
export function parseConfig<T>(source: string, file: string, schema: z.ZodType<T>): T {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };

  const broken = document.errors[0];
  if (broken !== undefined) {
    throw invalid(
      message("config.syntax", { place: at(broken.pos[0]), problem: sanitizeLine(broken.message) }),
    );
  }
  let value: unknown;
  try {
    value = document.toJS();
  } catch (cause) {
    // An alias without its anchor, or an alias bomb, which `yaml` refuses to expand.
    const problem = sanitizeLine((cause as Error).message);
    throw invalid(message("config.syntax", { place: at(lostAliasOffset(document)), problem }));
  }

  const result = schema.safeParse(value);
  if (result.success) return result.data;

  const issue = firstIssue(result.error.issues);
  const path = issue.path.filter((part) => typeof part !== "symbol");
  const key = keyName(path);
  if (issue.code === "unrecognized_keys") {
    const unknown = issue.keys[0] ?? "";
    const allowed = allowedKeys(schema, path);
    throw invalid(message("config.unknown_key", {
      place: at(keyOffset(document.contents, [...path, unknown])),
      key: sanitizeLine(keyName([...path, unknown])),
      allowed: allowed.join(", "),
    }));
  }
  const found = path.reduce<unknown>(
    (inner, part) => (inner as Record<string | number, unknown>)?.[part],
    value,
  );
  const place = at(valueOffset(document.contents, path));
  if (found === undefined && path.length > 0) {
    throw invalid(message("config.missing_key", { place, key }));
  }
  const allowed = readRule(issue.message);
  throw invalid(
    allowed === undefined
      ? message("config.invalid", { place, key: key || "(top)", found: show(found), problem: issue.message })
      : message("config.not_allowed", { place, key: key || "(top)", found: show(found) }),
    allowed,
  );
}

function invalid(text: Message, hint?: Message): UserError {
  return new UserError(text, { exit: ExitCode.Usage, hint: hint ?? message("config.hint") });
}

/** An unknown key explains a missing one (a typing error), so it is told first. */
function firstIssue(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  const issue = issues.find(({ code }) => code === "unrecognized_keys") ?? issues[0];
  if (issue === undefined) throw new Error("zod failed without an issue");
  return issue;
}

/** `servers[0].priority` from `["servers", 0, "priority"]`. */
function keyName(path: readonly (string | number)[]): string {
  return path.map((part, index) => typeof part === "number" ? `[${part}]` : index === 0 ? part : `.${part}`)
    .join("");
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return sanitizeLine(text.length > 60 ? `${text.slice(0, 57)}...` : text);
}

function lostAliasOffset(document: Document): number {
  let offset = 0;
  visit(document, {
    Alias(_key, alias) {
      if (alias.resolve(document) !== undefined) return undefined;
      offset = alias.range?.[0] ?? 0;
      return visit.BREAK;
    },
  });
  return offset;
}

/** Where the value at `path` stands; for a missing one, where the nearest enclosing value stands. */
function valueOffset(root: unknown, path: readonly (string | number)[]): number {
  let node = root;
  let offset = isNode(root) ? root.range?.[0] ?? 0 : 0;
  for (const part of path) {
    const inner = (node as { get?: (key: unknown, keepScalar: boolean) => unknown } | null)?.get?.(
      part,
      true,
    );
    if (!isNode(inner)) break;
    node = inner;
    offset = inner.range?.[0] ?? offset;
  }
  return offset;
}

function keyOffset(root: unknown, path: readonly (string | number)[]): number {
  const name = path.at(-1);
  let node = root;
  for (const part of path.slice(0, -1)) {
    node = (node as { get?: (key: unknown, keepScalar: boolean) => unknown } | null)?.get?.(part, true);
  }
  if (isMap(node)) {
    for (const { key } of node.items) {
      if (isNode(key) && (key as { value?: unknown }).value === name) return key.range?.[0] ?? 0;
    }
  }
  return valueOffset(root, path);
}

/** The keys that the schema knows at `path`, to tell beside an unknown one. */
function allowedKeys(schema: z.ZodType, path: readonly (string | number)[]): string[] {
  let inner = unwrap(schema);
  for (const part of path) {
    inner = unwrap(
      typeof part === "number"
        ? (inner as unknown as { element?: z.ZodType }).element
        : (inner as unknown as { shape?: Record<string, z.ZodType> }).shape?.[part],
    );
  }
  return Object.keys((inner as unknown as { shape?: Record<string, unknown> } | undefined)?.shape ?? {});
}

function unwrap(schema: z.ZodType | undefined): z.ZodType | undefined {
  let inner = schema as
    | (z.ZodType & { unwrap?: () => z.ZodType; def?: { type?: string; in?: z.ZodType } })
    | undefined;
  for (;;) {
    // An array's `unwrap` would give its element.
    if (inner?.def?.type === "array") return inner;
    const next = typeof inner?.unwrap === "function" ? inner.unwrap() : inner?.def?.in;
    if (next === undefined) return inner;
    inner = next as typeof inner;
  }
}
