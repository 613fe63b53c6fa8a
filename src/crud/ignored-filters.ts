/**
 * For development: a list ignores conditions that its resource does not allow, and so returns more rows than expected.
 * This logs each ignored name once.
 * Next hop: `docs/reference/filters.md` states what is ignored.
 */
import type { Logger } from "pino";
import type { CrudDefinition } from "../contract/crud.ts";

/** Names that were already logged, by log and resource. */
const noted = new WeakMap<Logger, Map<CrudDefinition, Set<string>>>();

/** The same limit as in `svc_hidden.filter_sql()`. */
const maxPatterns = 20;
const maxCharacters = 2_000;

/** @param input of `list`, as the client sent it */
export function noteIgnoredFilters(log: Logger, crud: CrudDefinition, input: unknown): void {
  const told = noted.get(log) ?? new Map<CrudDefinition, Set<string>>();
  const known = told.get(crud) ?? new Set<string>();
  noted.set(log, told.set(crud, known));
  const patterns = patternsIn(Object(input).filters, 0);
  if ((patterns.length > maxPatterns || patterns.join("").length > maxCharacters) && !known.has(tooMany)) {
    known.add(tooMany);
    log.warn(
      { operation: `${crud.prefix}.list`, patterns: patterns.length },
      "all filters are ignored: like and ilike take 20 patterns together, and 2,000 characters",
    );
  }
  for (const name of namesIn(Object(input).filters, 0)) {
    if (crud.allowedFilters.includes(name) || known.has(name) || known.size >= 100) continue;
    known.add(name);
    log.warn(
      { operation: `${crud.prefix}.list`, filter: name.slice(0, 64) },
      "a filter is ignored: name it in allowedFilters of createCrud, or leave it out",
    );
  }
}

/** Stands for the pattern limit in the set of names; no property name begins with a space. */
const tooMany = " patterns";

function patternsIn(filters: unknown, depth: number): string[] {
  if (typeof filters !== "object" || filters === null || depth > 5) return [];
  return Object.entries(filters).flatMap(([name, value]): string[] => {
    if (["OR", "AND"].includes(name)) {
      return Array.isArray(value) ? value.flatMap((one) => patternsIn(one, depth + 1)) : [];
    }
    const { op, value: pattern } = Object(value);
    return (op === "like" || op === "ilike") && typeof pattern === "string" ? [pattern] : [];
  });
}

function namesIn(filters: unknown, depth: number): string[] {
  if (typeof filters !== "object" || filters === null || depth > 5) return [];
  return Object.entries(filters).flatMap(([name, value]) =>
    ["OR", "AND"].includes(name) && Array.isArray(value) ? value.flatMap((one) => namesIn(one, depth + 1)) : [name],
  );
}
