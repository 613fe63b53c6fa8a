/** Values as text in a form that their column's type surely accepts, for the parameters of prepared statements. */
import type { ColumnDescription } from "../contract/crud.ts";
import { isStorableText } from "../kit/storable-text.ts";
import { isUuid } from "../kit/uuid.ts";

const isWithin = (value: unknown, least: number, most: number) =>
  Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
const day = /^\d{4}-\d\d-\d\d$/;
const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z$/;

/** JavaScript reads February 30 as a day in March, and PostgreSQL has no year 0. */
function isInstant(text: string): boolean {
  const time = Date.parse(text);
  return !Number.isNaN(time) && !text.startsWith("0000") && new Date(time).toISOString().startsWith(text.slice(0, 19));
}

/** @returns the value as PostgreSQL reads it; undefined: it is not usual */
export function exactText({ kind, castType, values }: ColumnDescription, value: unknown): string | undefined {
  const holds = (() => {
    switch (kind) {
      case "text":
        return isStorableText(value);
      case "boolean":
        return typeof value === "boolean";
      case "uuid":
        return isUuid(value);
      case "enum":
        return isStorableText(value) && values?.includes(value);
      case "integer":
        return castType === "integer" && isWithin(value, -2147483648, 2147483647);
      case "bigint":
        return Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d{1,18}$/.test(value));
      case "number":
        return (
          castType === "double precision" && Number.isFinite(value) && (value === 0 || Math.abs(Number(value)) > 1e-300)
        );
      case "numeric":
        return Number.isSafeInteger(value) || (typeof value === "string" && /^-?\d{1,100}(\.\d{1,100})?$/.test(value));
      case "timestamp":
        return typeof value === "string" && instant.test(value) && isInstant(value);
      case "date":
        return typeof value === "string" && day.test(value) && isInstant(`${value}T00:00:00Z`);
      default:
        return false;
    }
  })();
  return holds ? String(value) : undefined;
}
