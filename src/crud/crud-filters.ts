/**
 * The `filters` of a generated list: their types, and the one step in TypeScript. SQL decides what is allowed and
 * valid. Here only values that jsonb cannot hold are removed, so that SQL can always parse the text.
 * Next hop: `sql/crud/filter_sql.sql`; `docs/reference/filters.md` states the language.
 */
import type { PgTable } from "drizzle-orm/pg-core";
import type { CrudDefinition } from "../contract/crud.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { isoOf, maxLevels } from "./wire-kinds.ts";

/** All operators of filters. The kind of a column decides which of them it accepts. */
export const filterOperators = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "like", "ilike"] as const;

type ColumnOf<T extends PgTable, K> = K extends keyof T["_"]["columns"] ? T["_"]["columns"][K] : never;
type Row<T extends PgTable> = T["$inferSelect"];
type Nullable<V> = V | null;

/**
 * A date may also be ISO 8601 text, and a bigint decimal text. The other way round, columns that Drizzle reads as text take
 * a number or a Date.
 */
type Accepted<V, Column> = V extends Date
  ? Date | string
  : V extends bigint
    ? bigint | number | string
    : V extends string
      ? V | AcceptedBeside<Column>
      : V;
type AcceptedBeside<Column> = Column extends { _: { columnType: "PgNumeric" } }
  ? number
  : Column extends { _: { columnType: "PgDateString" | "PgTimestampString" } }
    ? Date
    : never;
/** The same for the columns of `T` that a caller writes. */
export type AcceptedRow<T extends PgTable, R> = { [K in keyof R]: Accepted<R[K], ColumnOf<T, K>> } & {};

/** Numbers and dates, also those that Drizzle returns as strings. */
type IsOrdered<Column> = Column extends { _: { dataType: "number" | "bigint" | "date" } }
  ? true
  : Column extends { _: { columnType: "PgNumeric" | "PgDateString" | "PgTimestampString" } }
    ? true
    : false;

/** Conditions on every kind of column. */
type Equal<V> = Nullable<V> | { op: "eq" | "ne"; value: Nullable<V> };
/** Compiler messages show the value's type instead of the column's, which would fill many lines. */
type Exact<V> = Equal<V> | { op: "in" | "nin"; value: readonly Nullable<V>[] };
type Ordered<V> = Exact<V> | { op: "gt" | "gte" | "lt" | "lte"; value: V };
type Text<V> = Exact<V> | { op: "like" | "ilike"; value: string };
/** To Drizzle, a `numeric` and a date in string mode are strings, too. */
type OrderedText<V> = Ordered<V> | { op: "like" | "ilike"; value: string };

/** Drizzle takes apart what travels as text. */
type IsShape<Column> = Column extends { _: { columnType: "PgPointTuple" | "PgPointObject" | "PgLine" | "PgLineABC" } }
  ? true
  : false;

type Condition<Column, V> =
  IsShape<Column> extends true
    ? Text<string>
    : Column extends { _: { dataType: "json" | "array" } }
      ? Equal<V>
      : Column extends { _: { dataType: "string" } }
        ? IsOrdered<Column> extends true
          ? OrderedText<V>
          : Text<V>
        : IsOrdered<Column> extends true
          ? Ordered<V>
          : Exact<V>;

/** The values that each of these properties may be compared with. */
export type ConditionsOf<T extends PgTable, Allowed extends keyof Row<T>> = {
  [K in Allowed]: Condition<ColumnOf<T, K>, Accepted<NonNullable<Row<T>[K]>, ColumnOf<T, K>>>;
};

interface Groups<Conditions> {
  OR?: readonly FiltersOf<Conditions>[];
  AND?: readonly FiltersOf<Conditions>[];
}

/** @typeParam Conditions what each property may be compared with */
export type FiltersOf<Conditions> = Partial<Conditions> & Groups<Conditions>;

/**
 * Filters of a table's rows: a value means equality, `{ op, value }` another comparison. Several keys are joined by
 * AND; `OR` and `AND` take arrays of filters, up to 5 levels deep. Conditions that the resource does not allow are
 * ignored.
 *
 * @typeParam Allowed properties of `allowedFilters`. (Default: all)
 * @example
 * const filters: CrudFilters<typeof tasks> = { done: false, OR: [{ priority: { op: "gte", value: 3 } }, { dueAt: null }] };
 */
export type CrudFilters<T extends PgTable, Allowed extends keyof Row<T> = keyof Row<T>> = FiltersOf<
  ConditionsOf<T, Allowed>
>;

/**
 * Filters as plain JSON. Conditions with values that jsonb cannot hold are omitted, like all invalid ones. Dates become
 * ISO 8601 text, bigints decimal text.
 *
 * @param input   decoded arguments: any shape, any type
 * @param crud    the resource, whose relations filters may follow. (Default: it has none)
 * @param depth   of an inner object of conditions and groups. (Default: 0)
 * @returns undefined when nothing is left
 */
export function toFilterJson(input: unknown, crud?: CrudDefinition, depth = 0): Record<string, unknown> | undefined {
  if (!isPlain(input) || depth > maxLevels) return undefined;
  const entries = Object.keys(input).flatMap((key): [string, unknown][] => {
    const value = input[key];
    if ((key === "OR" || key === "AND") && Array.isArray(value)) {
      // Per member: an invalid one must not remove the others.
      return [[key, value.flatMap((member) => toFilterJson(member, crud, depth + 2) ?? [])]];
    }
    const relation = crud?.relations.get(key);
    if (relation) {
      const followed = relation.many
        ? quantified(value, relation.target, depth + 1)
        : toFilterJson(value, relation.target, depth + 1);
      return followed ? [[key, followed]] : [];
    }
    const json = isStorableText(key) ? jsonOf(value, depth + 1) : undefined;
    return json === undefined ? [] : [[key, json]];
  });
  // fromEntries defines properties; assigning to `__proto__` would not.
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** `{ some, none, every }` of a relation. An empty filter stays: it asks whether there are rows at all. */
function quantified(input: unknown, target: CrudDefinition, depth: number): Record<string, unknown> | undefined {
  if (!isPlain(input)) return undefined;
  const entries = Object.entries(input).flatMap(([key, value]): [string, unknown][] => {
    const isEmpty = isPlain(value) && Object.keys(value).length === 0;
    const json = isEmpty ? {} : toFilterJson(value, target, depth + 1);
    return json === undefined ? [] : [[key, json]];
  });
  return Object.fromEntries(entries);
}

/** The value as JSON, or undefined when any part cannot be converted. */
function jsonOf(value: unknown, depth: number): unknown {
  switch (typeof value) {
    case "string":
      return isStorableText(value) ? value : undefined;
    case "number":
      return Number.isFinite(value) ? value : undefined;
    case "boolean":
      return value;
    case "bigint":
      return value.toString();
    case "object":
      break;
    default:
      return undefined;
  }
  if (value === null) return null;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? undefined : isoOf(value);
  if (depth > maxLevels) return undefined;
  if (Array.isArray(value)) {
    const items: unknown[] = [];
    for (const item of value) {
      // also visits holes, which `every` and `map` skip
      const json = jsonOf(item, depth + 1);
      if (json === undefined) return undefined;
      items.push(json);
    }
    return items;
  }
  if (!isPlain(value)) return undefined;
  const entries: [string, unknown][] = [];
  for (const key of Object.keys(value)) {
    const json = isStorableText(key) ? jsonOf(value[key], depth + 1) : undefined;
    if (json === undefined) return undefined;
    entries.push([key, json]);
  }
  return Object.fromEntries(entries);
}

/** False for Map, Set, URL, RegExp and other classes, which are not JSON. */
function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
