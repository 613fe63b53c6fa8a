/**
 * Rows of generated CRUD arrive as PostgreSQL wrote them: plain JSON. The generated `api.ts` lists the columns that
 * have other types in the application, and this file converts them.
 */

/** By property: the type that the text is converted to, or the conversions of related rows. */
export interface Conversions {
  readonly [property: string]: keyof typeof convert | (() => Conversions);
}

/** Of a point, `(1,2)`, or a line, `{1,2,3}`. */
const numbers = (value: string) => value.slice(1, -1).split(",").map(Number);
const named = (names: string) => (value: string) =>
  Object.fromEntries(numbers(value).map((number, index) => [names[index], number]));

const convert = {
  // JavaScript wants a sign and six digits for years after 9999.
  date: (value: string) => new Date(value.replace(/^\d{5,6}/, (year) => `+${year.padStart(6, "0")}`)),
  // A numeric column may hold NaN: one such row must not cost the caller the whole list.
  bigint: (value: string) => (/^-?\d+$/.test(value) ? BigInt(value) : value),
  number: Number,
  numbers,
  xy: named("xy"),
  abc: named("abc"),
  bytes: (value: string): Uint8Array => Uint8Array.from(atob(value), (character) => character.charCodeAt(0)),
};

/** Converts a row or null, or the rows in `{ data }`. @param name of the operation, which says whether it answers with several */
export function convertRows(result: unknown, columns: Conversions, name: string): unknown {
  if (typeof result !== "object" || result === null) return result;
  if (!/\.(list|createMany)$/.test(name)) return convertRow(result as Record<string, unknown>, columns);
  const { data } = result as { data: Record<string, unknown>[] };
  return { ...result, data: data.map((row) => convertRow(row, columns)) };
}

function convertRow(row: Record<string, unknown>, columns: Conversions): object {
  const converted = { ...row };
  for (const [property, kind] of Object.entries(columns)) {
    if (property in converted) converted[property] = convertValue(converted[property], kind);
  }
  return converted;
}

function convertValue(value: unknown, kind: Conversions[string]): unknown {
  if (Array.isArray(value)) return value.map((item) => convertValue(item, kind));
  if (typeof kind === "function")
    return typeof value === "object" && value !== null ? convertRow(value as Record<string, unknown>, kind()) : value;
  return typeof value === "string" ? convert[kind](value) : value;
}
