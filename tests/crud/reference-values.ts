/** Reads and compares the values of reference-filter.ts, as simply as possible and independent of the SQL. */
import type { FilterColumn } from "./filter-table.ts";

/** Numbers as [digits, decimals], instants in microseconds, days in days, JSON and arrays as text. */
type Value = string | boolean | number | bigint | [bigint, number] | null;

/** A stored value always has its column's form, except that a float may be NaN or infinite. */
export const readStored = (column: FilterColumn, value: unknown): Value =>
  value === null ? null : value === "NaN" ? Number.NaN : (readValue(column, value) as Value);

/** A filter is beyond a limit. */
export class Refused extends Error {}

/** undefined when the value is not of the column's form. */
export function readValue(column: FilterColumn, value: unknown): Value | undefined {
  if (!column.array) return readSingle(column, value);
  if (!Array.isArray(value)) return undefined;
  if (value.length > 1000) throw new Refused();
  const single = { ...column, array: false };
  const read = (item: unknown) => (fits(column, item) ? readSingle(single, item) : undefined);
  const items = value.map((item) => (item === null ? null : read(item)));
  return items.includes(undefined)
    ? undefined
    : JSON.stringify(items, (_, item) => (typeof item === "bigint" ? `${item}n` : item));
}

export const isFraction = (value: unknown) => typeof value === "number" && !Number.isInteger(value);

/**
 * Whether an array of the column can contain this number. Arrays are compared as a whole, so it must have the elements'
 * form.
 */
function fits({ kind, type }: FilterColumn, value: unknown): boolean {
  if (typeof value !== "number" || (kind !== "integer" && kind !== "bigint")) return true;
  const limit = kind === "bigint" ? 2 ** 53 : type === "smallint" ? 32768 : 2147483648;
  return Number.isInteger(value) && value >= -limit && value < limit;
}

function readSingle({ kind, type, values }: FilterColumn, value: unknown): Value | undefined {
  const text = typeof value === "string" ? value : undefined;
  const number = typeof value === "number" ? value : undefined;
  switch (kind) {
    case "text":
      return type.startsWith("char") ? text?.replace(/ +$/, "") : text; // compares without padding
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "uuid":
      return text && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text) ? text.toLowerCase() : undefined;
    case "enum":
      return text !== undefined && values?.includes(text) ? text : undefined;
    case "integer": // any number has a place among whole numbers
      return number === undefined ? undefined : decimal(String(number));
    case "bigint": {
      if (number !== undefined) return Math.abs(number) < 2 ** 53 ? decimal(String(number)) : undefined;
      if (!/^-?\d{1,19}$/.test(text ?? "")) return undefined;
      const whole = BigInt(text as string);
      return whole >= -(2n ** 63n) && whole < 2n ** 63n ? [whole, 0] : undefined;
    }
    case "number": {
      const rounded = type === "real" ? Math.fround(number as number) : number;
      return Number.isFinite(rounded) ? rounded : undefined;
    }
    case "numeric":
      if (number !== undefined) return decimal(String(number));
      return text && /^-?\d+(\.\d+)?$/.test(text) ? decimal(text) : undefined;
    case "timestamp":
      return instant(value);
    case "date": {
      const micros = instant(value);
      return micros === undefined ? undefined : floor(micros, 86_400_000_000n);
    }
    case "json":
      return canonical(value);
  }
  return undefined;
}

function decimal(text: string): [bigint, number] {
  const [digits = "", exponent = "0"] = text.split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  const shift = Number(exponent) - fraction.length;
  const number = BigInt(whole + fraction);
  return shift > 0 ? [number * 10n ** BigInt(shift), 0] : [number, -shift];
}

const iso =
  /^(\d{4,6})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:Z|([+-])(0\d|1[0-4])(?::?([0-5]\d))?)?)?$/;

/** Microseconds since 1970. */
function instant(value: unknown): bigint | undefined {
  const match = typeof value === "string" ? iso.exec(value) : null;
  if (!match) return undefined;
  const part = (index: number) => BigInt(match[index] ?? 0);
  const [year, month, day] = [part(1), part(2), part(3)];
  const leap = (year % 4n === 0n && year % 100n !== 0n) || year % 400n === 0n;
  const lengths = [31n, leap ? 29n : 28n, 31n, 30n, 31n, 30n, 31n, 31n, 30n, 31n, 30n, 31n];
  const length = lengths[Number(month) - 1];
  if (year === 0n || length === undefined || day === 0n || day > length) return undefined;

  const before = year - 1n;
  const days = before * 365n + before / 4n - before / 100n + before / 400n - 719_162n;
  const dayOfYear = lengths.slice(0, Number(month) - 1).reduce((sum, one) => sum + one, day - 1n);
  const seconds = ((days + dayOfYear) * 24n + part(4)) * 3600n + part(5) * 60n + part(6);
  const offset = (part(9) * 60n + part(10)) * (match[8] === "-" ? -60n : 60n);
  const fraction = BigInt(Math.round(Number(`0.${match[7] ?? 0}`) * 1e6));
  const micros = (seconds - offset) * 1_000_000n + fraction;
  return micros < 9_224_318_016_000_000_000n ? micros : undefined; // the end of the year 294276
}

const floor = (value: bigint, unit: bigint) => (value - (((value % unit) + unit) % unit)) / unit;

/** JSON with sorted keys: equal values have equal texts. */
function canonical(value: unknown): string | undefined {
  if (nesting(value) > 64) return undefined;
  return JSON.stringify(value, (_, item) => {
    if (!isPlain(item)) return item;
    return Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

const nesting = (value: unknown): number =>
  typeof value === "object" && value !== null ? 1 + Math.max(0, ...Object.values(value).map(nesting)) : 0;

/** Null equals null. As in PostgreSQL, NaN equals itself and comes after all other numbers. */
export function compare(a: Value | undefined, b: Value | undefined): number {
  if (a === b) return 0;
  if (a == null || b == null) return a == null ? 1 : -1;
  if (typeof a === "number" && typeof b === "number" && (Number.isNaN(a) || Number.isNaN(b))) {
    return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    const scale = Math.max(a[1], b[1]);
    return compare(a[0] * 10n ** BigInt(scale - a[1]), b[0] * 10n ** BigInt(scale - b[1]));
  }
  return a === b ? 0 : a < b ? -1 : 1;
}

/** `%` any text, `_` one character, a backslash takes the next character literally. Case: A to Z. */
export function readPattern(pattern: string, ignoreCase: boolean): ((text: string) => boolean) | null {
  if (!pattern.isWellFormed()) return null;
  if ([...pattern].length > 1000) throw new Refused();
  const lower = (text: string) => (ignoreCase ? text.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) : text);
  const characters = [...lower(pattern)];
  let source = "";
  for (let index = 0; index < characters.length; index++) {
    let character = characters[index] as string;
    if (character === "%") source += "[^]*";
    else if (character === "_") source += "[^]";
    else {
      if (character === "\\") character = characters[++index] ?? "";
      if (character === "") return null; // an escape of nothing
      source += character.replace(/[\\^$.*+?()[\]{}|]/, "\\$&");
    }
  }
  const expression = new RegExp(`^${source}$`, "u");
  return (text) => expression.test(lower(text));
}

export const likeText = ({ type }: FilterColumn, text: string) => (type === "char(4)" ? text.padEnd(4) : text);

/** Dates as ISO 8601 text and bigints as decimal text, as every column takes them. */
export function toText(value: unknown): unknown {
  if (value instanceof Date) return value.toISOString().replace(/^\+0*/, "");
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return value.map(toText);
  return isPlain(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, toText(item)])) : value;
}

/** Whether PostgreSQL's JSON can represent it, with dates and bigints as text. */
export function isJson(value: unknown): boolean {
  if (value === null || typeof value === "boolean" || typeof value === "bigint") return true;
  if (typeof value === "string") return !value.includes("\0") && value.isWellFormed();
  if (typeof value === "number") return Number.isFinite(value);
  if (value instanceof Date) return !Number.isNaN(value.getTime());
  if (Array.isArray(value)) return Array.from(value).every(isJson);
  return isPlain(value) && Object.entries(value).every(([key, item]) => isJson(key) && isJson(item));
}

export function isPlain(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  return Object.getPrototypeOf(value) === Object.prototype || Object.getPrototypeOf(value) === null;
}
