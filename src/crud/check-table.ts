/**
 * Checks what Drizzle takes for granted about a table. Types are not checked at run time, and without this a table of
 * another database would be missing in migrations without a word.
 */
import { getTableColumns, getTableName, is, type Table } from "drizzle-orm";
import { PgColumn, type PgTable } from "drizzle-orm/pg-core";
import { DefinitionError } from "../kit/definition-error.ts";
import { tableConfig } from "../kit/table-config.ts";

/** @param file that exports it @throws DefinitionError for a table of another database, and for a third argument that returns nothing */
export function checkTable(table: Table, file?: string): asserts table is PgTable {
  const name = getTableName(table);
  const at = file === undefined ? "" : `${file}: `;
  const foreign = Object.values(getTableColumns(table)).find((column) => !is(column, PgColumn));
  if (foreign) {
    throw new DefinitionError(`The column "${foreign.name}" of table "${name}" is not one of PostgreSQL.`, {
      hint: `${at}Import pgTable and the columns from drizzle-orm/pg-core.`,
    });
  }
  try {
    tableConfig(table as PgTable);
  } catch (error) {
    if (!(error instanceof TypeError && error.message.includes("undefined or null to object"))) throw error;
    throw new DefinitionError(`The third argument of table "${name}" returns nothing.`, {
      hint: `${at}Return its policies: (t) => ownerRls(t.userId), or with braces (t) => { return ownerRls(t.userId); }.`,
    });
  }
}
