/**
 * Checks the arguments of a generated list. Numbers out of range are clamped and an unknown `orderBy` falls back, both in
 * SQL; a wrong type is refused with the path; inside `filters` nothing is refused, only ignored.
 * Next hop: `crud-filters.ts`, then `sql/crud/find_rows.sql`.
 */
import type { CrudDefinition } from "../contract/crud.ts";
import { check, type Input, own, toObject } from "../kit/input-checks.ts";
import { toFilterJson } from "./crud-filters.ts";

/** Characters of `search`: it is looked for in the text of every row, as a pattern of a filter is. */
export const maxSearch = 1_000;

/** In whole characters, of which JavaScript counts some twice. */
const isLong = (text: string) => text.length > maxSearch && [...text].length > maxSearch;

/** @returns what the SQL function takes: only what was given, so that the plain list stays on its short way */
export function listArguments(crud: CrudDefinition, input: unknown): Input {
  if (input === undefined || input === null) return {};
  return check((issues) => {
    const object = toObject(input, issues);
    const result: Input = {};
    const take = (key: string, read: (value: unknown) => unknown) => {
      const value = own(object, key);
      if (value === undefined || (value === null && key !== "cursor")) return;
      const taken = read(value);
      if (taken !== undefined) result[key] = taken;
    };
    const refuse = (path: string, message: string): undefined => {
      issues.push({ path: [path], message });
    };
    const text = (key: string) => (value: unknown) =>
      typeof value === "string" && !value.includes("\0") && value.isWellFormed()
        ? value
        : refuse(key, "must be a string of whole characters without NUL");

    take("page", (value) => toPageNumber(value) ?? refuse("page", "must be a number"));
    take("limit", (value) => toPageNumber(value) ?? refuse("limit", "must be a number"));
    take("orderBy", text("orderBy"));
    take("orderDir", (value) =>
      value === "asc" || value === "desc" ? value : refuse("orderDir", 'must be "asc" or "desc"'),
    );
    take("cursor", (value) => (value === null ? null : text("cursor")(value)));
    // Without the option an argument has no effect; leaving it out keeps the call on its short way.
    take("search", (value) => {
      const search = text("search")(value);
      if (search !== undefined && isLong(search)) return refuse("search", `must have at most ${maxSearch} characters`);
      return crud.searchFields.length > 0 && search !== "" ? search : undefined;
    });
    take("filters", (value) => (crud.allowedFilters.length > 0 ? toFilterJson(value) : undefined));
    return result;
  });
}

/** Whole, and small enough for SQL, which clamps it to what the resource allows. Infinity has no JSON. */
function toPageNumber(value: unknown): number | undefined {
  if (typeof value !== "number" || Number.isNaN(value)) return undefined;
  return Math.trunc(Math.min(Math.max(value, -1), 2 ** 31 - 1));
}
