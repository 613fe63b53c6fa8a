/**
 * `audited()`: declares a table whose changes are kept. It is for the author's schema; `svc codegen` writes the declarations
 * into the application's `sql/history.sql`.
 * Next hop: `src/history/history-sql.ts`, `sql/history/note_change.sql`.
 */
import { getTableName, is } from "drizzle-orm";
import { type AnyPgColumn, getTableConfig, PgColumn, type PgPolicy, PgTable } from "drizzle-orm/pg-core";
import { z } from "zod";
import { DefinitionError } from "../kit/definition-error.ts";
import { checkOptions, must, type ShapeOf } from "../kit/options.ts";
import { primaryKey } from "../kit/table-config.ts";
import { quote } from "../postgres/schema-names.ts";

export interface AuditedOptions {
  /** Columns whose values are not kept: entries say only that they changed. (Default: none) */
  omit?: AnyPgColumn[];
}

/** A declared table. Columns are named as in the database. */
export interface AuditedTable {
  /** Schema and name, quoted. */
  name: string;
  /** The primary key. */
  keys: string[];
  omit: string[];
}

const columns = must("a list of columns, such as [t.iban]");
const optionsSchema = z.strictObject({
  omit: z
    .array(
      z.custom<AnyPgColumn>((value) => is(value, PgColumn), "must be a column of the table"),
      columns,
    )
    .default([]),
} satisfies ShapeOf<AuditedOptions>);

/** Where `audited` leaves the columns to omit: it is called whenever Drizzle reads the third argument of a table. */
let declared: AnyPgColumn[][] = [];

/**
 * Keeps what changes in the table's rows, with who changed it: in the transaction of the change, also from jobs and psql.
 * `createCrud(table, { history: true })` shows it to those who see the row.
 *
 * @returns an empty list: it adds nothing to the table itself
 * @throws DefinitionError for an option that is no column
 * @example
 * (t) => [...ownerRls(t.userId), ...audited({ omit: [t.iban] })]
 */
export function audited(options: AuditedOptions = {}): PgPolicy[] {
  declared.push(checkOptions("audited", optionsSchema, options).omit);
  return [];
}

/** @returns null for a table without a declaration @throws DefinitionError for one that cannot be audited */
export function auditedTable(table: PgTable): AuditedTable | null {
  declared = [];
  const { name, schema = "public" } = getTableConfig(table);
  const [omit, ...others] = declared;
  declared = [];
  if (!omit) return null;
  const keys = primaryKey(table).map((column) => column.name);
  const fail = (problem: string, hint: string) => {
    throw new DefinitionError(`audited: ${name} ${problem}`, { hint });
  };
  if (others.length > 0) fail("is declared twice.", "Call audited once, with all columns in omit.");
  if (keys.length === 0) {
    fail("has no primary key.", 'Entries name rows by it. Add one, such as uuid("id").primaryKey().defaultRandom().');
  }
  const strange = omit.find((column) => getTableName(column.table) !== name);
  if (strange) fail(`omits "${strange.name}", which is a column of another table.`, "Name columns of the argument t.");
  const key = omit.find((column) => keys.includes(column.name));
  if (key)
    fail(`omits "${key.name}", which is part of its key.`, "Entries name rows by their key. Leave it out of omit.");
  return { name: `${quote(schema)}.${quote(name)}`, keys, omit: omit.map((column) => column.name) };
}

/** The audited tables among a schema's exports, each once. */
export function auditedTables(schema: Readonly<Record<string, unknown>>): AuditedTable[] {
  const tables = Object.values(schema).flatMap((value) => (is(value, PgTable) ? (auditedTable(value) ?? []) : []));
  return [...new Map(tables.map((one) => [one.name, one])).values()];
}
