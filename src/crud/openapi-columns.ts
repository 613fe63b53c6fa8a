/**
 * JSON Schemas of generated CRUD's columns: in rows, in input and in filters. The formats are those of `src/crud/wire-kinds.ts`.
 */
import type { ColumnDescription, WireKind } from "../contract/crud.ts";
import { type JsonSchema, objectOf } from "../kit/json-schema.ts";
import { orderedKinds } from "./wire-kinds.ts";

const wholeNumber = "^-?[0-9]+$";

/** Formats in rows. */
const forms: Record<WireKind, JsonSchema> = {
  integer: { type: "integer", minimum: -(2 ** 31), maximum: 2 ** 31 - 1 },
  bigint: { type: "string", pattern: wholeNumber },
  number: { type: "number" },
  numeric: { type: "string", description: "A decimal number." },
  boolean: { type: "boolean" },
  text: { type: "string" },
  uuid: { type: "string", format: "uuid" },
  enum: { type: "string" },
  timestamp: { type: "string", format: "date-time" },
  date: { type: "string", format: "date" },
  json: {},
  bytes: { type: "string", contentEncoding: "base64" },
  vector: { type: "array", items: { type: "number" }, minItems: 1 },
};

/** Formats of input, where they differ from rows. */
const accepted: Partial<Record<WireKind, JsonSchema>> = {
  bigint: { type: ["string", "integer"], pattern: "^-?[0-9]{1,19}$", description: "A whole number of 64 bits." },
  numeric: { type: ["string", "number"], pattern: "^-?[0-9]+(\\.[0-9]+)?$", description: "A decimal number." },
};

const acceptedForm = ({ kind, conversion }: ColumnDescription): JsonSchema =>
  kind === "numeric" && conversion === "bigint"
    ? { type: ["string", "integer"], pattern: wholeNumber, description: "A whole number." }
    : (accepted[kind] ?? forms[kind]);

/** A column of a row. */
export const rowSchema = (column: ColumnDescription): JsonSchema => whole(column, single(column, forms[column.kind]));

/** The schema in `create` and `update`. */
export function inputSchema(column: ColumnDescription): JsonSchema {
  if (column.kind === "json" && column.notNull && !column.isArray) return { not: { type: "null" } };
  return whole(column, single(column, acceptedForm(column)));
}

/** The id of `get`, `update` and `remove`. */
export const idSchema = (id: ColumnDescription): JsonSchema => single(id, acceptedForm(id));

function single({ kind, type, values }: ColumnDescription, form: JsonSchema): JsonSchema {
  const [name = "", ...numbers] = type
    .toLowerCase()
    .split(/[(,)]/)
    .map((part) => part.trim());
  const [size = Number.NaN, scale = 0] = numbers.filter(Boolean).map(Number);
  if (kind === "enum") return { ...form, enum: [...(values ?? [])] };
  if (kind === "integer" && name.startsWith("small")) return { ...form, minimum: -(2 ** 15), maximum: 2 ** 15 - 1 };
  if (name === "real") return { ...form, ...within(largestReal) };
  if (kind === "vector") {
    const items = { type: "number", ...within(name === "halfvec" ? 65_519 : largestReal) };
    return { ...form, items, ...(!Number.isNaN(size) && { minItems: size, maxItems: size }) };
  }
  if (Number.isNaN(size)) return { ...form };
  if (kind === "text") return /char|^bit/.test(name) ? { ...form, maxLength: size } : { ...form };
  const behind = [form.type].flat().includes("integer") ? 0 : scale;
  return kind === "numeric" ? { ...form, ...digits(size - scale, behind) } : { ...form };
}

/** Of 32 bits. */
const largestReal = 3.4028234663852886e38;
const within = (most: number) => ({ minimum: -most, maximum: most });

/** A pattern for numbers of limited precision. Extra fraction digits are rounded; one more integer digit is allowed. */
function digits(before: number, behind: number): JsonSchema {
  if (before < 0) return {};
  const fraction = behind > 0 ? `(\\.[0-9]{1,${behind}})?` : "";
  const [start, most] = before === 0 ? ["0", 1 - 10 ** -behind] : [`[0-9]{1,${before}}`, 10 ** before - 1];
  return { pattern: `^-?${start}${fraction}$`, ...within(most) };
}

function whole({ isArray, dimensions, notNull }: ColumnDescription, value: JsonSchema): JsonSchema {
  let schema = isArray ? { type: "array", items: orNull(value) } : value;
  for (let level = 1; level < dimensions; level++) schema = { type: "array", items: schema };
  return notNull ? schema : orNull(schema);
}

export function orNull(schema: JsonSchema): JsonSchema {
  if (schema.$ref) return { anyOf: [schema, { type: "null" }] };
  if (schema.type === undefined) return schema; // any type, so null too
  const types = [schema.type].flat();
  return { ...schema, type: [...types, "null"], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] }) };
}

/** A condition in `filters`: a value, or `{ op, value }` (docs/reference/filters.md). */
export function filterSchema(column: ColumnDescription): JsonSchema {
  const { kind, isArray } = column;
  const value = inputSchema({ ...column, notNull: false });
  const plain = inputSchema({ ...column, notNull: true });
  const operator = (op: string[], of: JsonSchema) => objectOf({ op: { type: "string", enum: op }, value: of });
  const anyOf = [value, operator(["eq", "ne"], value)];
  if (kind !== "json" && !isArray) {
    anyOf.push(operator(["in", "nin"], { type: "array", items: value, maxItems: 1000 }));
    if (orderedKinds.has(kind)) anyOf.push(operator(["gt", "gte", "lt", "lte"], plain));
    if (kind === "text") anyOf.push(operator(["like", "ilike"], { type: "string", maxLength: 1000 }));
  }
  return { anyOf };
}
