/**
 * Limits of a declared type: the length of a text, the range of a number, the length of a vector. PostgreSQL would
 * reject the same values, but without naming the column.
 * Next hop: `columns.ts` keeps it with the column, `crud-input.ts` checks values with it.
 */
import type { ColumnLimit } from "../contract/crud.ts";

/** @param sqlType of a column, or of an array's items, as declared: `varchar(40)` */
export function columnLimit(sqlType: string): ColumnLimit | undefined {
  const [, name = "", given] = /^([a-z ]+?)\s*(?:\(([\d, ]+)\))?$/.exec(sqlType.toLowerCase()) ?? [];
  const [first, second = 0] = given?.split(",").map(Number) ?? [];
  switch (name) {
    case "smallint":
    case "smallserial":
      return { expects: "an integer between -32768 and 32767", holds: (value) => isBetween(value, -32768, 32767) };
    case "real":
      return { expects: "a number that a real can hold", holds: isReal };
    case "char":
    case "character":
      return textOf(first ?? 1);
    case "varchar":
    case "character varying":
      return first === undefined ? undefined : textOf(first);
    case "numeric":
    case "decimal":
      return first === undefined ? undefined : numericOf(first, second);
    case "vector":
      return vectorOf(first, (value) => Number.isFinite(Math.fround(value as number)));
    case "halfvec":
      return vectorOf(first, (value) => Math.abs(value as number) < 65_520); // rounds to 65504 at most
    default:
      return undefined;
  }
}

/** Of a `numeric` in Drizzle's mode `bigint`, whose readers fail at a fraction. */
export const wholeOf = (limit: ColumnLimit | undefined): ColumnLimit => ({
  expects: `a whole number${limit ? `, and ${limit.expects}` : ""}`,
  holds: (value) => /^-?\d+$/.test(decimal(value as string)) && (limit?.holds(value) ?? true),
});

const isBetween = (value: unknown, least: number, most: number) =>
  typeof value === "number" && value >= least && value <= most;

/** Within the range of 32-bit floats; PostgreSQL also rejects values that are too small. */
function isReal(value: unknown): boolean {
  const near = Math.fround(value as number);
  return Number.isFinite(near) && (near !== 0 || value === 0);
}

/** PostgreSQL removes trailing spaces that do not fit. */
function textOf(most: number): ColumnLimit {
  return {
    expects: `at most ${most} characters`,
    // The UTF-16 length is never smaller, so a text that is short by it needs no counting.
    holds: (value) =>
      (value as string).length <= most || [...(value as string)].slice(most).every((one) => one === " "),
  };
}

/** PostgreSQL rounds to the scale first, half away from zero. */
function numericOf(precision: number, scale: number): ColumnLimit {
  const limit = 10n ** BigInt(precision);
  return {
    expects: `a number of at most ${precision - scale} digits before the point`,
    holds(value) {
      const [, whole = "0", part = ""] = /^-?(\d+)(?:\.(\d+))?$/.exec(decimal(value as string)) ?? [];
      const kept = BigInt(whole + part.slice(0, scale).padEnd(scale, "0"));
      return kept + ((part[scale] ?? "0") >= "5" ? 1n : 0n) < limit;
    },
  };
}

/** A number as decimal text, without an exponent. */
function decimal(text: string): string {
  if (!text.includes("e")) return text;
  return Math.abs(Number(text)) < 1 ? Number(text).toFixed(100) : BigInt(Number(text)).toString();
}

function vectorOf(length: number | undefined, fits: (value: unknown) => boolean): ColumnLimit {
  return {
    expects: length === undefined ? "an array of numbers in range" : `an array of ${length} numbers in range`,
    holds: (value) => Array.isArray(value) && (length === undefined || value.length === length) && value.every(fits),
  };
}
