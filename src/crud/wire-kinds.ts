/**
 * The wire formats of column values, with a check for each. A PostgreSQL type finds its format by name; unknown types
 * travel as text.
 */
import type { WireKind } from "../contract/crud.ts";
import { isIsoDate, isIsoTime } from "../kit/iso-time.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { isUuid } from "../kit/uuid.ts";

interface WireForm {
  /** Ends the sentence "… must be". */
  expects: string;
  /** The value as sent to SQL inside JSON, or undefined when the input is invalid. */
  accept(value: unknown, values: readonly string[] | undefined): unknown;
}

const base64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

const isDate = (value: unknown): value is Date => value instanceof Date && value.getUTCFullYear() > 0;
/** ISO 8601 without JavaScript's sign before years after 9999. */
export const isoOf = (date: Date) => date.toISOString().replace(/^\+0*/, "");

/**
 * Levels of JSON in the arguments of a call (src/http/wire.ts checks them). Imported files and hooks are checked here: JSON.stringify
 * fails on very deep values.
 */
export const maxLevels = 64;

/** Values that JSON can hold. A Map or a bigint would be changed or lost. */
function isJsonValue(value: unknown, level = 1): boolean {
  if (typeof value !== "object" || value === null) {
    return value === null || isStorableText(value) || typeof value === "boolean" || Number.isFinite(value);
  }
  if (level > maxLevels) return false;
  const isInner = (one: unknown) => isJsonValue(one, level + 1);
  if (Array.isArray(value)) return value.every(isInner);
  const prototype: unknown = Object.getPrototypeOf(value); // null: of an object in GraphQL's variables
  return (prototype === null || prototype === Object.prototype) && Object.entries(value).flat().every(isInner);
}

export const wireForms: Record<WireKind, WireForm> = {
  integer: {
    expects: "an integer between -2147483648 and 2147483647",
    accept: (value) => (Number.isInteger(value) && Math.abs((value as number) + 0.5) < 2 ** 31 ? value : undefined),
  },
  bigint: {
    expects: "a whole number of 64 bits, as a decimal string, a bigint or a safe integer",
    accept(value) {
      if (typeof value === "number" ? !Number.isSafeInteger(value) : typeof value !== "bigint") {
        if (typeof value !== "string" || !/^-?\d{1,19}$/.test(value)) return undefined;
      }
      const number = BigInt(value as string);
      return BigInt.asIntN(64, number) === number ? number.toString() : undefined;
    },
  },
  number: { expects: "a finite number", accept: (value) => (Number.isFinite(value) ? value : undefined) },
  numeric: {
    expects: "a number, or a decimal string",
    accept(value) {
      if (Number.isFinite(value)) return String(value);
      return typeof value === "string" && /^-?\d{1,1000}(\.\d{1,1000})?$/.test(value) ? value : undefined;
    },
  },
  boolean: { expects: "true or false", accept: (value) => (typeof value === "boolean" ? value : undefined) },
  text: {
    expects: "a string, without NUL or unpaired surrogates",
    // Checked here, the error names the field.
    accept: (value) => (isStorableText(value) ? value : undefined),
  },
  uuid: { expects: "a UUID", accept: (value) => (isUuid(value) ? value : undefined) },
  enum: {
    expects: "one of the allowed values",
    accept: (value, values) => (typeof value === "string" && values?.includes(value) ? value : undefined),
  },
  timestamp: {
    expects: "an ISO 8601 timestamp",
    accept(value) {
      if (isDate(value)) return isoOf(value);
      return typeof value === "string" && isIsoTime(value) ? value : undefined;
    },
  },
  date: {
    expects: "a date as YYYY-MM-DD",
    accept(value) {
      if (isDate(value)) return isoOf(value).split("T", 1)[0];
      return typeof value === "string" && isIsoDate(value) ? value : undefined;
    },
  },
  json: {
    expects: `a JSON value of at most ${maxLevels} levels, without NUL or unpaired surrogates in its texts`,
    accept: (value) => (isJsonValue(value) ? value : undefined),
  },
  bytes: {
    expects: "base64 text or bytes",
    accept(value) {
      if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
      return typeof value === "string" && base64.test(value) ? value : undefined;
    },
  },
  vector: {
    expects: "an array of finite numbers",
    accept: (value) => (Array.isArray(value) && value.length > 0 && value.every(Number.isFinite) ? value : undefined),
  },
};

/** Kinds with an order that filters, pages and measures use. */
export const orderedKinds = new Set<WireKind>(["integer", "bigint", "number", "numeric", "timestamp", "date"]);

// biome-ignore format: a table
const kindsByType: Record<string, WireKind> = {
  smallint: "integer", integer: "integer", smallserial: "integer", serial: "integer",
  bigint: "bigint", bigserial: "bigint",
  real: "number", "double precision": "number",
  numeric: "numeric", decimal: "numeric",
  boolean: "boolean", uuid: "uuid",
  timestamp: "timestamp", "timestamp with time zone": "timestamp", date: "date",
  json: "json", jsonb: "json", bytea: "bytes",
  vector: "vector", halfvec: "vector",
};

/**
 * @param sqlType as declared, for example `varchar(40)`
 * @param values  the column's enum values, if it has any
 */
export function wireKind(sqlType: string, values: readonly string[] | undefined): WireKind {
  const name = sqlType.toLowerCase().replace(/\s*\([^)]*\)/, "");
  return kindsByType[name] ?? (values && values.length > 0 ? "enum" : "text");
}
