/**
 * Checks the arguments of a generated list. SQL clamps numbers out of range and replaces an unknown `orderBy`. A wrong
 * type is an error with its path; invalid conditions in `filters` are ignored.
 * Next hop: `crud-filters.ts`, then `sql/crud/find_rows.sql`.
 */
import type { CrudDefinition, CrudStatement } from "../contract/crud.ts";
import { check, type Input, own, toObject } from "../kit/input-checks.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { toFilterJson } from "./crud-filters.ts";
import { getShape, listShape } from "./read-shape.ts";
import { relatedArguments } from "./related-arguments.ts";

/** Most characters of `search`, which is a pattern matched against every row. */
export const maxSearch = 1_000;

/** Counts code points; JavaScript's length counts some of them twice. */
const isLong = (text: string) => text.length > maxSearch && [...text].length > maxSearch;

/** Turns the input of a list into the argument of its SQL function. It throws VALIDATION_FAILED. */
export const listValues =
  (crud: CrudDefinition): CrudStatement["values"] =>
  (input) => [JSON.stringify(listArguments(crud, input))];

/** The shape of a list or get with these values, unless it is plain. */
export const shapeOf = (crud: CrudDefinition, operation: "list" | "get"): NonNullable<CrudStatement["shape"]> =>
  operation === "list"
    ? ([args]) => (args === "{}" ? undefined : listShape(crud, JSON.parse(String(args))))
    : ([id, args]) => (args === undefined ? undefined : getShape(crud, id ?? null, JSON.parse(String(args))));

/** @returns the SQL function's arguments: only those that were given, because a plain list has a faster path */
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
      isStorableText(value) ? value : refuse(key, "must be a string, without NUL or unpaired surrogates");

    take("page", (value) => toPageNumber(value) ?? refuse("page", "must be a number"));
    take("limit", (value) => toPageNumber(value) ?? refuse("limit", "must be a number"));
    take("orderBy", text("orderBy"));
    take("orderDir", (value) =>
      value === "asc" || value === "desc" ? value : refuse("orderDir", 'must be "asc" or "desc"'),
    );
    take("cursor", (value) => (value === null ? null : text("cursor")(value)));
    // Without the option the argument has no effect. Omitting it keeps the call on the faster path.
    take("search", (value) => {
      const search = text("search")(value);
      if (search !== undefined && isLong(search)) return refuse("search", `must have at most ${maxSearch} characters`);
      return crud.searchFields.length > 0 && search !== "" ? search : undefined;
    });
    take("filters", (value) =>
      crud.allowedFilters.length + crud.relations.size > 0 ? toFilterJson(value, crud) : undefined,
    );
    return { ...result, ...relatedArguments(crud, object, pageSize(crud, result.limit), issues) };
  });
}

/** As SQL clamps it. */
const pageSize = ({ defaultLimit, maxLimit }: CrudDefinition, limit: unknown = defaultLimit) =>
  Math.min(Math.max(limit as number, 1), maxLimit);

/** An integer small enough for SQL, which clamps it to the resource's limits. JSON has no Infinity. */
function toPageNumber(value: unknown): number | undefined {
  if (typeof value !== "number" || Number.isNaN(value)) return undefined;
  return Math.trunc(Math.min(Math.max(value, -1), 2 ** 31 - 1));
}
