/**
 * Corrects defaults in the snapshot of drizzle-kit: it keeps a bigint, which JSON does not have, and puts the quotes and
 * backslashes of JSON and arrays unescaped into SQL, which PostgreSQL refuses.
 * Next hop: `schema-snapshot.ts`.
 */
import { is, SQL } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import { defaultSql } from "../../crud/columns.ts";
import { tableConfig } from "../../kit/table-config.ts";
import type { Table } from "./snapshot.ts";

export function correctDefaults(table: PgTable, taken: Table): void {
  for (const column of tableConfig(table).columns) {
    const [kept, given] = [taken.columns[column.name], column.default];
    if (!kept || given === undefined || given === null || is(given, SQL)) continue;
    const type = column.getSQLType();
    const isJson = type === "json" || type === "jsonb";
    const isBytes = given instanceof Uint8Array;
    const breaks =
      (isJson || type.endsWith("]")) && (typeof given === "string" || /['"\\]/.test(textOf(given, isJson)));
    if (typeof given === "bigint" || isBytes || breaks) {
      kept.default = `${defaultSql(column)}${isJson ? `::${type}` : ""}`;
    }
  }
}

/** What may break: JSON itself has double quotes, which need no escape in SQL. */
const textOf = (given: unknown, isJson: boolean): string =>
  isJson ? JSON.stringify(given).replaceAll(/["\\]/g, "") : [given].flat(9).map(String).join();
