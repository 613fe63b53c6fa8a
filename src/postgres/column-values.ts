/**
 * Corrects how Drizzle 0.45 reads and writes values of some columns, so that `ctx.db` gives what PostgreSQL holds. Drizzle takes a null
 * in an array for a value: "NULL" in an array of an enum, 0 in one of numbers, and an error in one of bigints. It parses a text
 * of a json column again, so that "1" becomes 1. It writes bytes in an array as text. It reads the year 0001 as 2001, and an infinite
 * timestamp as the year 2000. It fails on a numeric in mode bigint that is no whole number, such as NaN.
 */
import { Column, getTableColumns, getViewSelectedFields, is } from "drizzle-orm";
import {
  PgArray,
  type PgColumn,
  PgDate,
  PgJson,
  PgJsonb,
  PgNumericBigInt,
  PgTable,
  PgTimestamp,
  PgView,
} from "drizzle-orm/pg-core";
import pg from "pg";
import type { Schema } from "../contract/database.ts";

/** Changes the columns of the application's tables and views, not the classes of Drizzle, which others may use. */
export function correctColumns(schema: Schema): void {
  for (const declared of Object.values(schema)) {
    const fields = is(declared, PgTable)
      ? getTableColumns(declared)
      : is(declared, PgView)
        ? getViewSelectedFields(declared)
        : {};
    for (const field of Object.values(fields)) if (is(field, Column)) correct(field as PgColumn);
  }
}

function correct(column: PgColumn): void {
  // The driver has parsed it.
  if (is(column, PgJson) || is(column, PgJsonb)) column.mapFromDriverValue = (value) => value;
  if (is(column, PgTimestamp) || is(column, PgDate)) {
    column.mapFromDriverValue = (value) => (typeof value === "string" ? readTime(value) : value);
  }
  if (is(column, PgNumericBigInt)) (column as PgColumn).mapFromDriverValue = readWhole;
  if (!is(column, PgArray)) return;
  const { baseColumn } = column as unknown as { baseColumn: PgColumn };
  correct(baseColumn);
  const read = (item: unknown) => (item === null ? null : baseColumn.mapFromDriverValue(item));
  column.mapFromDriverValue = (value: unknown) =>
    (typeof value === "string" ? parseArray(value) : (value as unknown[])).map(read);
  if (is(baseColumn, PgArray)) return;
  const write = baseColumn.mapToDriverValue.bind(baseColumn);
  baseColumn.mapToDriverValue = (value) => {
    const written = write(value);
    return written instanceof Uint8Array ? `\\x${Buffer.from(written).toString("hex")}` : written;
  };
}

/** Any other number stays a text, as in the SDK: one such row must not cost the caller the others. */
const readWhole = (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : text) as bigint;

/**
 * As ISO 8601, because JavaScript guesses at other texts; without an offset in UTC. Years before Christ and infinity become an invalid
 * date, as in the SDK.
 */
function readTime(text: string): Date {
  const parts = /^(\d{4,6})(-\d\d-\d\d)(?:[T ]([\d:.]+)(?:Z|([+-]\d\d):?(\d\d)?)?)?$/.exec(text);
  if (!parts) return new Date(Number.NaN);
  const [, year = "", day, clock = "00:00", hours = "+00", minutes = "00"] = parts;
  return new Date(`${year.length > 4 ? `+${year.padStart(6, "0")}` : year}${day}T${clock}${hours}:${minutes}`);
}

const textArray: number = 1009;
/** An array of a type that the driver does not know, as texts and nulls: as it reads arrays of text. */
const parseArray = pg.types.getTypeParser(textArray) as (text: string) => unknown[];
