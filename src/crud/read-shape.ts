/**
 * Takes the arguments of a list or get apart: its shape, for which PostgreSQL writes a statement, and the values. Lists
 * of one shape have the same filters and operators, order, search and properties; gets the same key and properties.
 * Next hop: `prepared-read.ts` calls the statement, `sql/crud/list_statement.sql` and `get_statement.sql` write it.
 *
 * A value is taken only in a form that its column's type surely accepts and that svc_hidden.filter_value() takes
 * unchanged. Whatever is not usual gives undefined: then `sql/crud/find_rows.sql` or `find_row.sql` decides.
 */
import type { ColumnDescription, Compared, CrudDefinition, ReadShape } from "../contract/crud.ts";
import { isPlain } from "../kit/input-checks.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { findColumn } from "./crud-definition.ts";
import { exactText } from "./exact-text.ts";
import { readCursor } from "./read-cursor.ts";
import { orderedKinds } from "./wire-kinds.ts";

/** Conditions and the values of lists in a shape; beyond them a filter is not usual. */
const maxConditions = 30;
const maxListed = 100;
const maxPattern = 200;
/** With patterns of this length, fewer than svc_hidden.filter_sql() ignores a filter for: 20, or 2,000 characters. */
const maxPatterns = 10;
/** Characters of `include` and `select`. */
const maxRelated = 1_000;

const plain = new Set(["limit", "page"]);

/** @param args as `listArguments` made them @returns undefined for a plain list, and for an unusual one */
export function listShape(crud: CrudDefinition, args: Record<string, unknown>): ReadShape | undefined {
  const isPlainList = Number(args.page ?? 1) <= 1 && Object.keys(args).every((key) => plain.has(key));
  return isPlainList || crud.count === "estimated" ? undefined : shapeOfList(crud, args);
}

/**
 * @param args  as `listArguments` made them; a plain list has a shape, too
 * @param count "none" for a list without total. (Default: that of the resource, which is not estimated)
 */
export function shapeOfList(
  crud: CrudDefinition,
  args: Record<string, unknown>,
  count?: "none",
): ReadShape | undefined {
  const { limit = crud.defaultLimit, page = 1, orderBy, orderDir, search, filters = {}, select, include } = args;
  const isByCursor = "cursor" in args;
  const isFirst = isByCursor || Number(page) <= 1;
  if (isUnusual(select, include)) return undefined;

  const pageSize = Math.min(Math.max(Number(limit), 1), crud.maxLimit);
  const searched = typeof search === "string" ? [search] : [];
  // A plan for any number of rows is a bad one. So the number is in the text where nothing else prevents keeping the plan.
  const sized = isByCursor || (isFirst && search === undefined) ? readFilters(crud, filters, searched) : undefined;
  const start = isByCursor && sized ? readCursor(crud, args, sized.values) : undefined;
  if (isByCursor && !start) return undefined;
  const isKept = sized?.compared !== undefined && search === undefined && start?.suitsAll !== false;
  const isSized = isKept || isByCursor;
  const skipped = String(isFirst ? 0 : (Number(page) - 1) * pageSize);
  const { conditions, values, compared } =
    (isSized ? sized : readFilters(crud, filters, [String(pageSize), skipped, ...searched])) ?? {};
  if (!conditions || !values) return undefined;
  const isColumn = findColumn(crud, orderBy) !== undefined;
  const shape = {
    ...(isColumn && { orderBy }),
    orderDir,
    ...(search !== undefined && { search: true }),
    ...(isSized && { limit: pageSize }),
    ...(start && { cursor: start.at }),
    filters: conditions,
    select,
    include,
    count,
  };
  return readShape("list_statement", crud, shape, values, isKept ? compared : undefined);
}

/** @param args of a get by something else than the id alone: {by, select, include} @param id null for another key */
export function getShape(
  crud: CrudDefinition,
  id: string | number | null,
  args: Record<string, unknown>,
): ReadShape | undefined {
  const { select, include } = args;
  const key = id === null ? args.by : { id };
  if (!isPlain(key) || isUnusual(select, include)) return undefined;
  const values = Object.entries(key).map(([name, value]) => {
    const column = findColumn(crud, name);
    return column && exactText(column, value);
  });
  if (values.length === 0 || values.includes(undefined)) return undefined;
  // A key finds one row at most, whatever its value is.
  return readShape("get_statement", crud, { by: Object.keys(key), select, include }, values as string[], []);
}

/** @param compared the values that decide about the plan; undefined: it is made for each call */
const readShape = (
  writer: ReadShape["writer"],
  crud: CrudDefinition,
  shape: object,
  values: string[],
  compared: Compared["values"] | undefined,
): ReadShape => ({
  writer,
  key: `${writer} ${crud.prefix} ${JSON.stringify(shape)}`,
  resource: `svc_crud.${crud.prefix}_resource`,
  shape,
  values,
  ...(compared && { compared: { crud, values: compared } }),
});

/** Whether relations have filters, or the caller asks for very many properties. */
function isUnusual(select: unknown, include: unknown): boolean {
  const related = JSON.stringify({ select, include });
  return related.length > maxRelated || related.includes('"filters":');
}

interface Reading {
  crud: CrudDefinition;
  values: string[];
  /** Values compared by equality; undefined as soon as a value is compared in another way. */
  compared: { column: string; value: string }[] | undefined;
  count: number;
  patterns: number;
}

/** @param before values of the statement before those of the filters @returns undefined for an unusual filter */
function readFilters(crud: CrudDefinition, filters: unknown, before: readonly string[]) {
  const reading: Reading = { crud, values: [...before], compared: [], count: 0, patterns: 0 };
  const conditions = conditionsOf(reading, filters, 0);
  return conditions && { conditions, values: reading.values, compared: reading.compared };
}

function conditionsOf(reading: Reading, filters: unknown, depth: number): object[] | undefined {
  if (!isPlain(filters) || depth > 5) return undefined;
  const result: object[] = [];
  for (const [key, value] of Object.entries(filters)) {
    const condition =
      key === "OR" || key === "AND" ? group(reading, key, value, depth) : comparison(reading, key, value);
    if (!condition || ++reading.count > maxConditions) return undefined;
    result.push(condition);
  }
  return result;
}

function group(reading: Reading, key: string, members: unknown, depth: number): object | undefined {
  if (!Array.isArray(members) || members.length === 0) return undefined;
  const groups = members.map((member) => conditionsOf(reading, member, depth + 1));
  return groups.every((conditions) => conditions?.length) ? { [key]: groups } : undefined;
}

function comparison(reading: Reading, property: string, condition: unknown): object | undefined {
  const { crud, values } = reading;
  const column = findColumn(crud, property);
  if (!column || column.isArray || !crud.allowedFilters.includes(property)) return undefined;
  const { op, value } = isPlain(condition) ? condition : { op: "eq", value: condition };
  const text = textOf(column, op, value);
  if (text === undefined) return undefined;
  if (text === null) return { column: property, op };
  if ((op === "like" || op === "ilike") && ++reading.patterns > maxPatterns) return undefined;
  if (op === "eq") reading.compared?.push({ column: column.name, value: canonical(column, text) });
  else reading.compared = undefined;
  return { column: property, op, at: values.push(text) };
}

/** @returns the value as PostgreSQL reads it; null: it compares with null; undefined: it is not usual */
function textOf(column: ColumnDescription, op: unknown, value: unknown): string | null | undefined {
  switch (op) {
    case "eq":
    case "ne":
      return value === null ? null : exactText(column, value);
    case "gt":
    case "gte":
    case "lt":
    case "lte":
      return orderedKinds.has(column.kind) ? exactText(column, value) : undefined;
    case "in":
    case "nin":
      return Array.isArray(value) ? listOf(column, value) : undefined;
    case "like":
    case "ilike":
      return column.kind === "text" && isStorableText(value) && value.length <= maxPattern && !value.endsWith("\\")
        ? value
        : undefined;
    default:
      return undefined;
  }
}

/** An array literal. https://www.postgresql.org/docs/current/arrays.html#ARRAYS-IO */
function listOf(column: ColumnDescription, values: unknown[]): string | undefined {
  if (values.length > maxListed) return undefined;
  const texts = values.map((value) => exactText(column, value));
  if (texts.includes(undefined)) return undefined;
  return `{${texts.map((text) => `"${text?.replaceAll(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** A value as PostgreSQL writes it, of those types that it writes in one form. */
function canonical({ kind }: ColumnDescription, text: string): string {
  if (kind === "bigint") return String(BigInt(text));
  return kind === "uuid" ? text.toLowerCase() : text;
}
