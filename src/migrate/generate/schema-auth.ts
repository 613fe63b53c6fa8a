/**
 * Additions of better-auth's plugins to schema auth, for the application's migrations: whole tables, and columns of the
 * library's own tables. A snapshot lists the latter as tables with only these columns; the platform owns the rest.
 * Next hop: `schema-snapshot.ts` compares them like the application's own tables.
 */
import { sql } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import { type AuthColumn, type AuthTable, authTables } from "../../auth/auth-tables.ts";
import { coreTables } from "../../auth/plugins/plugin-names.ts";
import type { AuthDefinition } from "../../contract/auth.ts";
import type { Privileges, Snapshot, Table } from "./snapshot.ts";

const schema = pg.pgSchema("auth");

/** Drizzle tables of the plugins' additions. Their properties are the column names. */
export function pluginTables(definition: AuthDefinition): pg.PgTable[] {
  const all = authTables(definition).filter(({ isForeign }) => !isForeign);
  return all.flatMap((table) => {
    const added = table.columns.filter(({ origin }) => origin === "plugin");
    return table.isCore && added.length === 0 ? [] : [build(table, added, all)];
  });
}

function build(table: AuthTable, added: readonly AuthColumn[], all: readonly AuthTable[]): pg.PgTable {
  const columns: Record<string, pg.PgColumnBuilderBase> = table.isCore ? {} : { id: pg.text("id").primaryKey() };
  for (const column of added) columns[column.name] = buildColumn(column, all);
  return schema.table(table.name, columns, (built) => {
    const named = built as unknown as Record<string, pg.PgColumn>;
    const indexes = table.indexes.flatMap(({ name, columns: names, unique }) => {
      const [first, ...rest] = names.flatMap((column) => named[column] ?? []);
      // An index that includes a platform column is the platform's to create.
      return first && rest.length === names.length - 1
        ? [(unique ? pg.uniqueIndex(name) : pg.index(name)).on(first, ...rest)]
        : [];
    });
    return table.isCore ? indexes : [...indexes, forTheLibrary()];
  });
}

/** As in the platform's sql/policies/auth.*.sql: the library may access all rows, and no other role the table. */
const forTheLibrary = () =>
  pg.pgPolicy("all_auth", { for: "all", to: "svc_auth", using: sql`true`, withCheck: sql`true` });

function buildColumn({ name, type, notNull, default: value, references }: AuthColumn, all: readonly AuthTable[]) {
  const plain = {
    text: () => pg.text(name),
    boolean: () => pg.boolean(name),
    integer: () => pg.integer(name),
    bigint: () => pg.bigint(name, { mode: "number" }),
    timestamp: () => pg.timestamp(name, { withTimezone: true }),
    jsonb: () => pg.jsonb(name),
  }[type]() as pg.PgTextBuilderInitial<string, [string, ...string[]]>;
  let column = notNull ? plain.notNull() : plain;
  if (value !== undefined)
    column = column.default(type === "timestamp" ? sql`now()` : (value as string)) as typeof plain;
  if (references) column = column.references(() => target(references, all), { onDelete: references.onDelete });
  return column;
}

/** A foreign key only needs the name of its target, so a table with that one column suffices. */
function target({ table, column }: NonNullable<AuthColumn["references"]>, all: readonly AuthTable[]): pg.AnyPgColumn {
  const found = all.find(({ key, name }) => key === table || name === table);
  const name = found?.columns.find(({ property }) => property === column)?.name ?? column;
  return schema.table(found?.name ?? table, { target: pg.text(name) }).target;
}

/** The privileges that the library needs, as on its own tables. */
export function libraryPrivileges({ columns }: Table): Record<string, Privileges> {
  const all = Object.keys(columns);
  return { svc_auth: { select: true, delete: true, insert: all, update: all } };
}

const coreKeys = coreTables.map((name) => `auth.${name}`);

export const isCoreKey = (key: string): boolean => coreKeys.includes(key);

/** Adds the library's own tables to both snapshots: they exist with or without columns of plugins. */
export function alignCore(before: Snapshot, after: Snapshot): [before: Snapshot, after: Snapshot] {
  const [first, second] = [structuredClone(before), structuredClone(after)];
  for (const key of coreKeys) {
    const some = first.tables[key] ?? second.tables[key];
    if (!some) continue;
    first.tables[key] ??= bare(some);
    second.tables[key] ??= bare(some);
  }
  return [first, second];
}

const bare = (table: Table): Table => ({
  ...structuredClone(table),
  columns: {},
  indexes: {},
  foreignKeys: {},
  compositePrimaryKeys: {},
  uniqueConstraints: {},
  checkConstraints: {},
});
