/** The inputs of generated mutations, made of the arguments of write fields. */
import { rangeOfCodec, TYPES } from "@dataplan/pg";
import type { ColumnDescription } from "../contract/crud.ts";
import type { ExposedTable } from "./exposed.ts";

export const verbs = ["create", "update", "remove"] as const;
export type Verb = (typeof verbs)[number];

/** The arguments of a write field, by name. */
type WriteArguments = Partial<Record<"id" | "input" | "patch" | "ifUnmodifiedSince", unknown>>;

/** Input of the procedure. */
export function inputOf(
  table: ExposedTable,
  verb: Verb,
  { id, input, patch, ifUnmodifiedSince }: WriteArguments,
): unknown {
  if (verb === "create") return wire(table, input ?? {});
  if (verb === "remove") return { id };
  return { ...wire(table, patch), id, ifUnmodifiedSince };
}

function wire({ crud }: ExposedTable, row: unknown): Record<string, unknown> {
  const columns = new Map(crud.columns.map((column) => [column.property, column]));
  return Object.fromEntries(
    Object.entries(row as object).map(([field, value]) => {
      const column = columns.get(field);
      return [field, column ? wireValue(column, value) : value];
    }),
  );
}

const range = rangeOfCodec(TYPES.text, "range", TYPES.text.sqlType);

/**
 * GraphQL has decoded bytes; the procedure expects base64. PostGraphile has objects for intervals, ranges and points, and
 * numbers for money and domains over numbers; the procedure expects the text that PostgreSQL reads.
 */
function wireValue(column: ColumnDescription, value: unknown): unknown {
  if (column.isArray && Array.isArray(value)) return value.map((item) => wireValue(column, item));
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (column.kind !== "text" || value === null || value === undefined || typeof value === "string") return value;
  if (typeof value !== "object") return String(value);
  if ("start" in value || "end" in value) return range.toPg(value as never);
  const codec = TYPES[column.castType.replace(/\W.*/, "") as keyof typeof TYPES];
  return codec ? String(codec.toPg(value as never)) : value;
}
