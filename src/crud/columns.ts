/**
 * Describes a table's columns for generated CRUD: their names on both sides, their wire format, and the input they
 * accept. On the wire a timestamp is an ISO 8601 string in UTC, `numeric` and `bigint` are strings, `bytea` is base64,
 * a vector is an array of numbers.
 * Next hop: `crud.ts` checks input with this, `src/crud/crud-sql.ts` writes SQL from it.
 */
import { getTableColumns, is, SQL } from "drizzle-orm";
import { type AnyPgColumn, PgArray, type PgColumn, PgEnumColumn, type PgTable } from "drizzle-orm/pg-core";
import type { ColumnDescription, Conversion, WireKind } from "../contract/crud.ts";
import { dateOf } from "../kit/iso-time.ts";
import { quotedName, sqlText } from "../kit/table-config.ts";
import { columnLimit, wholeOf } from "./column-limits.ts";
import { wireKind } from "./wire-kinds.ts";

/** Kinds whose values are not plain JSON in the application's code. */
const converted = new Set<WireKind>(["timestamp", "date", "bigint", "numeric", "bytes"]);

/** Properties that callers cannot write: the database or the session sets them. */
const managedProperties = new Set(["id", "userId", "createdAt", "updatedAt"]);

/** Describes the columns of a Drizzle table, in the order of their declaration. */
export function describeColumns(table: PgTable): ColumnDescription[] {
  return Object.entries(getTableColumns(table)).map(([property, column]) => {
    const base = elementOf(column);
    const [elementType = "", ...dimensions] = column.getSQLType().split("[");
    const isArray = dimensions.length > 0;
    const kind = wireKind(elementType, base.enumValues);
    const conversion = conversionOf(kind, base);
    const isShape = conversion !== null && shapes.has(conversion);
    return {
      property,
      name: column.name,
      type: column.getSQLType(),
      castType: castType(base, elementType) + (isArray ? "[]" : ""),
      kind,
      isArray,
      dimensions: dimensions.length,
      notNull: column.notNull,
      defaultSql: defaultSql(column) ?? (isNumbered(base) ? "default" : null),
      numbered: column.default === undefined && isNumbered(base),
      limit:
        kind === "numeric" && conversion === "bigint" ? wholeOf(columnLimit(elementType)) : columnLimit(elementType),
      values: base.enumValues,
      managed:
        managedProperties.has(property) ||
        column.generated !== undefined ||
        column.generatedIdentity?.type === "always",
      unique: column.primary || column.isUnique,
      generate: column.defaultFn,
      toApplication: (value) => (isShape || converted.has(kind) ? typed(value, base, conversion) : value),
      fromDriver: (value) => (value === null || value === undefined ? value : column.mapFromDriverValue(value)),
      conversion,
      ...(isShape && { toText: (value: unknown) => (Object(value) === value ? base.mapToDriverValue(value) : value) }),
    };
  });
}

/** @param value on the wire, or an array of such values @param column of the value */
function typed(value: unknown, column: PgColumn, conversion: Conversion | null): unknown {
  if (Array.isArray(value)) return value.map((item) => typed(item, column, conversion));
  if (value === null) return null;
  if (conversion === "bytes") {
    const bytes = column.mapFromDriverValue(Buffer.from(value as string, "base64"));
    return bytes instanceof Uint8Array ? bytes : value; // a hook returns what the column takes from callers
  }
  // Drizzle reads what the driver sends, and would take the offset of a text for a part of the time.
  return conversion === "date" ? dateOf(value as string) : column.mapFromDriverValue(value);
}

/** The column of an array's elements, also of an array of arrays; the column itself if it is no array. */
function elementOf(column: PgColumn): PgColumn {
  return is(column, PgArray) ? elementOf((column as unknown as { baseColumn: PgColumn }).baseColumn) : column;
}

/** A sample wire value of each kind whose type in the application depends on the column's `mode`. */
const samples: Partial<Record<WireKind, string>> = {
  timestamp: "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  bigint: "1",
  numeric: "1",
  number: "1", // PostgreSQL's JSON writes NaN and the infinities as texts
};

/** The same of types whose values Drizzle takes apart. */
const shapeSamples: Record<string, string> = { point: "(1,2)", line: "{1,2,3}" };
const shapes = new Set<Conversion>(["numbers", "xy", "abc"]);

function conversionOf(kind: WireKind, column: PgColumn): Conversion | null {
  if (kind === "bytes") return "bytes";
  const sample = samples[kind] ?? shapeSamples[column.getSQLType()];
  if (sample === undefined) return null;
  const value: unknown = column.mapFromDriverValue(sample);
  if (value instanceof Date) return "date";
  if (Array.isArray(value)) return "numbers";
  if (typeof value === "object" && value !== null) return "x" in value ? "xy" : "abc";
  return typeof value === "bigint" || typeof value === "number" ? (typeof value as Conversion) : null;
}

const storedTypes: Record<string, string> = {
  serial: "integer",
  smallserial: "smallint",
  bigserial: "bigint",
  char: "bpchar", // alone, "char" means one character
  character: "bpchar",
  bit: '"bit"', // alone, "bit" means one bit; and a cast to bit(3) cuts the others off, where a value must be refused
  vector: "extensions.vector",
  halfvec: "extensions.halfvec",
};

function castType(column: PgColumn, declared: string): string {
  const type = declared.replace(/\s*\([^)]*\)/, "");
  if (!is(column, PgEnumColumn)) return storedTypes[type] ?? type;
  const { enumName, schema = "public" } = column.enum;
  return quotedName(schema, enumName);
}

/** As the `DEFAULT` of a migration. */
export function defaultSql(column: AnyPgColumn): string | null {
  const { default: value } = column;
  if (value === undefined || value === null) return null;
  if (is(value, SQL)) return sqlText(value);
  return literal(column.mapToDriverValue(value));
}

const isNumbered = (column: PgColumn) =>
  column.getSQLType().endsWith("serial") || column.generatedIdentity !== undefined;

/** A value as a SQL literal, typed by the context of the assignment. */
function literal(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return `'\\x${Buffer.from(value).toString("hex")}'`;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `'${text.replaceAll("'", "''")}'`;
}
