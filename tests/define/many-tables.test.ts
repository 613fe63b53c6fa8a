// If this file fails, applications with hundreds of tables take seconds to load, at each save under `svc dev`.
import { integer, type PgTable, pgTable, serial, text } from "drizzle-orm/pg-core";
import pg from "pg";
import { expect, test } from "vitest";
import { crudFile } from "../../src/crud/crud-sql.ts";
import { followedTables } from "../../src/crud/followed-tables.ts";
import { createCrudFactory, createSvcProcedureBuilders, defineApi, openRls } from "../../src/index.ts";
import { requestDatabases, systemDatabase } from "../../src/postgres/database.ts";
import { searchFile } from "../../src/search/search-sql.ts";

test("the third argument of a table runs once for svc, however many tables there are", () => {
  const runs = new Map<string, number>();
  const tables: Record<string, PgTable> = {};
  for (const name of ["a", "b", "c", "d"]) {
    const before = Object.values(tables).at(-1) as (PgTable & { id: never }) | undefined;
    const columns = { id: serial("id").primaryKey(), title: text("title"), parentId: integer("parent_id") };
    if (before) columns.parentId.references(() => before.id);
    tables[name] = pgTable(name, columns, () => {
      runs.set(name, (runs.get(name) ?? 0) + 1);
      return openRls({ read: "anyone", write: "anyone" });
    });
  }
  const createCrud = createCrudFactory(createSvcProcedureBuilders(), tables);
  const include = (name: string) => (name === "a" ? {} : { include: ["parent"] });
  const define = (name: string, table: PgTable) => createCrud(table as never, include(name) as never);
  const procedures = Object.entries(tables).map(([name, table]) => [name, define(name, table)]);
  const api = defineApi({ procedures: Object.fromEntries(procedures) });
  for (const crud of api["~svc"].crud) crudFile(crud);
  followedTables(api, tables);
  searchFile(tables);
  // Drizzle itself runs it once more, for relations().
  expect([...runs.values()]).toEqual([2, 2, 2, 2]);

  // Of the service, and of its worker.
  for (let process = 1; process <= 2; process++) {
    requestDatabases(tables, true);
    systemDatabase(new pg.Pool(), tables);
  }
  expect([...runs.values()]).toEqual([2, 2, 2, 2]);
});
