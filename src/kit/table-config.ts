/**
 * What a table declares, and what a schema declares with `relations()`. Drizzle runs the third argument of a table at each call, and makes its policies and indexes anew:
 * with hundreds of tables that was a large part of loading an application.
 */
import { createTableRelationsHelpers, extractTablesRelationalConfig, isTable, type SQL } from "drizzle-orm";
import { getTableConfig, type PgColumn, PgDialect, type PgTable } from "drizzle-orm/pg-core";
import { onePer } from "./one-per.ts";

/** @returns the same object at each call; do not change it @throws errors of the table's third argument */
export const tableConfig = onePer((table: PgTable) => getTableConfig(table));

/** The columns of a table's primary key; none without one. */
export function primaryKey(table: PgTable): PgColumn[] {
  const { columns, primaryKeys } = tableConfig(table);
  return [...columns.filter(({ primary }) => primary), ...primaryKeys.flatMap((key) => key.columns)];
}

/** A table or a type as declarations name it: always quoted. */
export const quotedName = (schema: string, name: string): string =>
  [schema, name].map((part) => `"${part.replaceAll('"', '""')}"`).join(".");

/** Columns that no two rows have in common, by their names in the database. `where`: no two of these rows. */
interface UniqueKey {
  columns: string[];
  where?: SQL | undefined;
}

/** Those of all constraints and indexes. An expression of an index has the name "". */
export function uniqueKeys(table: PgTable): UniqueKey[] {
  const { columns, primaryKeys, uniqueConstraints, indexes } = tableConfig(table);
  const names = (all: readonly object[]) => all.map((column) => ("name" in column ? String(column.name) : ""));
  return [
    ...columns.filter(({ primary, isUnique }) => primary || isUnique).map(({ name }) => ({ columns: [name] })),
    ...[...primaryKeys, ...uniqueConstraints].map((key) => ({ columns: names(key.columns) })),
    ...indexes
      .filter(({ config }) => config.unique)
      .map(({ config }) => ({ columns: names(config.columns), where: config.where })),
  ];
}

const dialect = new PgDialect();

/** As a migration writes it: without parameters. */
export const sqlText = (sql: SQL): string => dialect.sqlToQuery(sql.inlineParams()).sql;

/** Drizzle looks at every table of the schema for it. Takes the exports of the schema files. */
export const relationalConfig = onePer((schema: Readonly<Record<string, unknown>>) => {
  // Drizzle gives the relations of a table that is exported twice to one of its names.
  const names = new Map<unknown, string>();
  for (const [name, value] of Object.entries(schema)) if (isTable(value) && !names.has(value)) names.set(value, name);
  const isFirst = ([name, value]: [string, unknown]) => !isTable(value) || names.get(value) === name;
  const once = Object.fromEntries(Object.entries(schema).filter(isFirst));
  const config = extractTablesRelationalConfig(once, createTableRelationsHelpers);
  for (const [name, value] of Object.entries(schema)) {
    const table = config.tables[names.get(value) ?? ""];
    if (table) config.tables[name] = table;
  }
  return config;
});
