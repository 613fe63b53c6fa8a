/** Checks the input of searches: each mistake is a 400 that names the part and the accepted values. Next hop: `context.ts`. */
import { is } from "drizzle-orm";
import { PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import type { HybridSearchOptions, SearchFeedback } from "../contract/search.ts";
import { byNearness } from "../kit/nearest.ts";
import { boolean, integer, must, number, oneOf } from "../kit/options.ts";
import { SvcError } from "../kit/svc-error.ts";
import { type ResolvedScope, refusal } from "./scope.ts";
import { onlyCorpus, type SearchTable } from "./searchable.ts";

const weight = number(0, 1_000).default(1);

const tuningSchema = z.strictObject({
  keywordCandidateLimit: integer(1, 1_000).optional(),
  vectorCandidateLimit: integer(1, 1_000).optional(),
  fusion: z
    .strictObject({
      mode: oneOf(["rrf", "convex"]).default("convex"),
      k: integer(1, 1_000).default(60),
      weights: z
        .strictObject({ keyword: weight, vector: weight })
        .refine(({ keyword, vector }) => keyword + vector > 0, must("above 0 for at least one of keyword and vector"))
        .prefault({}),
    })
    .prefault({}),
});

const feedbackSchema = z.strictObject({
  documents: integer(1, 20).default(3),
  terms: integer(1, 30).default(30),
  weight: number(0, 1).default(0.2),
} satisfies Record<keyof SearchFeedback, z.ZodType>);

/** The members that depend on the table; the functions below check them. */
const checkedLater = z.unknown().optional();

/** The options of all three searches: one object may be used for each of them, and contain the query. */
export const searchOptions = z
  .strictObject({
    query: checkedLater,
    scope: checkedLater,
    limit: integer(1, 100).default(10),
    offset: integer(0, 10_000).default(0),
    filters: checkedLater,
    fields: checkedLater,
    prefix: boolean().default(false),
    snippets: boolean().default(false),
    // In the form that `svc.search_keyword()` takes; null without.
    feedback: z
      .custom<boolean | SearchFeedback>(
        (given) => typeof given === "boolean" || (typeof given === "object" && given !== null && !Array.isArray(given)),
        must("true, false or { documents, terms, weight }"),
      )
      .default(false)
      .transform((given) => (given === true ? {} : given || null))
      .pipe(feedbackSchema.nullable()),
    vector: checkedLater,
    vectorField: checkedLater,
    tuning: tuningSchema.prefault({}),
  } satisfies Record<keyof HybridSearchOptions | "query", z.ZodType>)
  .prefault({});

/** @throws SvcError BAD_REQUEST for a table that is unknown or not searchable */
export function searchTable(known: ReadonlyMap<string, SearchTable>, table: unknown): SearchTable {
  const tables = [...known.entries()];
  const found = is(table, PgTable)
    ? tables.find(([, one]) => one.table === table)
    : (tables.find(([name]) => name === table) ?? tables.find(([, one]) => one.name === `"public"."${table}"`));
  if (found) return found[1];
  const names = tables.map(([name]) => name);
  const [nearest] = typeof table === "string" ? byNearness(table, names) : names;
  throw new SvcError("BAD_REQUEST", '"table" must be a searchable table.', {
    hint: nearest ? `There is "${nearest}".` : "Declare one with searchable() in its definition.",
    issues: [{ path: ["table"], message: "must be a searchable table" }],
  });
}

/** A table without a column for a part has one fixed value. Another value would never find anything, so it is refused. */
export function checkScope(table: SearchTable, scope: ResolvedScope): ResolvedScope {
  if (!table.corpus && scope.corpus !== onlyCorpus)
    throw refusal("scope.corpus", `"${onlyCorpus}": the table has no other corpus`);
  if (table.always && scope.visibility !== table.always) {
    throw refusal("scope.visibility", `"${table.always}": all rows of the table are that`);
  }
  if (!table.visibilities.includes(scope.visibility)) {
    throw refusal("scope.visibility", `one of ${table.visibilities.join(", ")}: rows of the table have no other`);
  }
  if (!table.owner && scope.owner !== null)
    throw refusal("scope.ownerUserId", "undefined: rows of the table have no owner");
  return scope;
}

/** At most 2,000 characters: longer text is a document, not a query. */
export function checkQuery(query: unknown): string {
  if (typeof query === "string" && query.trim() !== "" && query.length <= 2_000 && !query.includes("\0")) return query;
  throw refusal("query", "a text of 1 to 2000 characters, without NUL");
}

/** Database names of the searched fields; all declared ones if none are given. */
export function checkFields(table: SearchTable, fields: unknown): string[] {
  if (fields === undefined) return table.fields;
  const expected = `some of ${table.fields.join(", ")}`;
  if (!Array.isArray(fields) || fields.length === 0) throw refusal("fields", expected);
  return fields.map((field) => {
    const name = columnOf(table, field)?.name;
    if (name === undefined || !table.fields.includes(name)) throw refusal("fields", expected);
    return name;
  });
}

/** The name of the compared vector column, and the vector as text for pgvector. */
export function checkVector(
  table: SearchTable,
  vector: unknown,
  vectorField: unknown,
): { field: string; text: string } {
  const names = [...table.vectors.keys()];
  const field = vectorField === undefined && names.length === 1 ? names[0] : columnOf(table, vectorField)?.name;
  const dimensions = field === undefined ? undefined : table.vectors.get(field);
  if (field === undefined || dimensions === undefined) {
    throw refusal(
      "vectorField",
      names.length > 0 ? `one of ${names.join(", ")}` : "a vector column, and the table has none",
    );
  }
  const expected = `${dimensions ?? "some"} finite numbers, not all of them zero`;
  const isVector =
    Array.isArray(vector) &&
    vector.length > 0 &&
    vector.length === (dimensions ?? vector.length) &&
    vector.length <= 16_000 &&
    vector.every((one) => typeof one === "number" && Number.isFinite(Math.fround(one))) &&
    vector.some((one) => Math.fround(one) !== 0);
  if (!isVector) throw refusal("vector", expected);
  return { field, text: `[${vector.map((one) => Math.fround(one)).join(",")}]` };
}

/** In the form that `svc_hidden.search_condition()` takes. */
export function checkFilters(table: SearchTable, filters: unknown): object[] {
  if (filters === undefined) return [];
  if (typeof filters !== "object" || filters === null || Array.isArray(filters)) throw refusal("filters", "an object");
  const entries = Object.entries(filters);
  if (entries.length > 50) throw refusal("filters", "at most 50 columns");
  return entries.flatMap(([name, filter]) => {
    const path = `filters.${name}`;
    const column = columnOf(table, name);
    if (!column) throw refusal(path, "a filter on a column of the table");
    const { name: columnName, castType: type, kind, isArray: array, values = null } = column;
    const described = { name: columnName, type, kind, array, values };
    return operations(path, filter).map(([op, value]) => ({ column: described, op, value: jsonOf(path, value) }));
  });
}

function operations(path: string, filter: unknown): [string, unknown][] {
  if (filter instanceof Date) return [["eq", filter]];
  if (typeof filter !== "object" || filter === null) return [["eq", filter]];
  const [kind, ...more] = Object.keys(filter);
  const operand = (filter as Record<string, unknown>)[kind ?? ""];
  if (more.length === 0 && operand !== undefined) {
    if (kind === "eq") return [["eq", operand]];
    if (isListed(kind) && Array.isArray(operand) && operand.length <= 1_000) return [[kind, operand]];
    if (kind === "range" && typeof operand === "object" && operand !== null) {
      const bounds = Object.entries(operand).filter(([, value]) => value !== undefined);
      if (bounds.length > 0 && bounds.every(([op]) => ["gt", "gte", "lt", "lte"].includes(op))) return bounds;
    }
  }
  throw refusal(path, filterForms);
}

const filterForms =
  "a value, { eq }, { in: […] }, { range: { gt, gte, lt, lte } } or, for an array column, { contains: […] } or { overlaps: […] }";

/** JSON has no bigint, and makes null of undefined, NaN and an invalid date: null would find the rows without a value. */
function jsonOf(path: string, value: unknown): unknown {
  if (Array.isArray(value)) return value.map((one) => jsonOf(path, one));
  if (typeof value === "bigint") return String(value);
  if (value !== null && (JSON.stringify(value) ?? "null") === "null") throw refusal(path, filterForms);
  return value;
}

const isListed = (kind: string | undefined) => kind === "in" || kind === "contains" || kind === "overlaps";

/** A column may be named by its property or by its database name. */
const columnOf = (table: SearchTable, name: unknown) =>
  table.columns.find(({ property }) => property === name) ?? table.columns.find((column) => column.name === name);
