/**
 * `ctx.db` and `ctx.unsafeDb`: Drizzle over the call's transaction, and over the system pool.
 * Next hop: `src/postgres/transaction.ts`.
 */

import type { RelationalSchemaConfig, SQL, TablesRelationalConfig } from "drizzle-orm";
import { NodePgDatabase, NodePgDriver, NodePgSession, NodePgTransaction } from "drizzle-orm/node-postgres";
import { PgDialect } from "drizzle-orm/pg-core";
import type pg from "pg";
import type { RequestDatabase, Schema, SystemDatabase } from "../contract/database.ts";
import { misuseError } from "../kit/misuse-error.ts";
import { onePer } from "../kit/one-per.ts";
import { relationalConfig } from "../kit/table-config.ts";
import { checkTables, gatedPool } from "./anonymous-gate.ts";
import { correctColumns } from "./column-values.ts";
import { onePlanFits } from "./one-plan.ts";
import { unlimited } from "./silence.ts";
import type { RequestTransaction } from "./transaction.ts";
import { watchWrites } from "./unsent-writes.ts";

/** Creates request databases; the shared setup is computed once. */
export type CreateRequestDatabase = (
  transaction: RequestTransaction,
  /** Collects the texts of the statements. (Default: nobody does) */
  texts?: Set<string>,
) => RequestDatabase;

/**
 * @param schema     the application's tables and relations, for `db.query.…`; may be empty
 * @param production as in `misuseError`
 */
export function requestDatabases(schema: Schema, production: boolean): CreateRequestDatabase {
  const dialect = new PgDialect();
  const relational = relationalSchema(schema);
  const fitsOnePlan = onePlanFits(schema);
  /** A helpful error, not the security boundary: that is the login role, which has no more privileges than the caller. */
  const refuseRawSql = (): never => {
    throw misuseError("ctx.db", rawSql, production);
  };
  /** LOCK TABLE, LISTEN, NOTIFY and SET need privileges that requests may have, or none. None of them is a query. */
  const requireQuery = (text: string | undefined) => {
    if (!isQuery.test(text ?? "")) refuseRawSql();
  };

  return (transaction, texts) => {
    // Drizzle uses only this method of its client.
    const client = {
      query: async (config: pg.QueryConfig, values?: unknown[]) => {
        requireQuery(config.text);
        checkTables(config.text);
        texts?.add(config.text);
        // A name that the application gives by `prepare` may be that of another statement: it says only that this one is kept.
        const isKept = config.name !== undefined || fitsOnePlan(config.text);
        return transaction.query({ ...config, name: undefined, isKept }, values);
      },
    } as unknown as pg.PoolClient;
    const session = Object.assign(new NodePgSession(client, dialect, relational), {
      execute: refuseRawSql,
      // Drizzle's own would use execute.
      count: async (query: SQL) => {
        const { sql: text, params: values } = dialect.sqlToQuery(query);
        const { rows } = await client.query({ text, values });
        return Number(rows[0].count);
      },
    });
    const database: RequestDatabase = Object.assign(new NodePgTransaction(dialect, session, undefined), {
      query: relationalQueries(relational.schema, () => new NodePgTransaction(dialect, session, relational).query),
      transaction: <T>(run: (db: RequestDatabase) => Promise<T>) => transaction.savepoint(() => run(database)),
      execute: refuseRawSql,
      refreshMaterializedView: refuseRawSql,
    }) as unknown as RequestDatabase;
    if (!production) watchWrites(database);
    return database;
  };
}

/** `db.query`, made when it is used: it has an object for each table, and most calls use none. @param tables by name */
function relationalQueries(tables: object, make: () => object): object {
  let made: object | undefined;
  return new Proxy(tables, {
    get(_tables, table) {
      made ??= make();
      return Reflect.get(made, table);
    },
  });
}

/** Every statement of the query builder begins like this. */
const isQuery = /^\s*\(*\s*(select|insert|update|delete|with)\b/i;

const rawSql =
  "no raw SQL runs here. Use the query builder (sql`…` fragments inside it are fine), put the statement into a function " +
  "in sql/ and call it by db.select({ … }).from(sql`…`), or use ctx.unsafeDb for audited administration.";

/** Drizzle as `svc_system`. */
export function systemDatabase(pool: pg.Pool, schema: Schema): SystemDatabase {
  const dialect = new PgDialect();
  const relational = relationalSchema(schema);
  const client = gatedPool(unlimited(pool));
  const session = new NodePgDriver(client, dialect).createSession(relational);
  return Object.assign(new NodePgDatabase(dialect, session, relational as never), {
    $client: client,
  }) as unknown as SystemDatabase;
}

/**
 * What Drizzle knows of a schema, for `db.query`, as `drizzle()` makes it. A service and its worker need four databases of one schema:
 * it is computed once.
 */
const relationalSchema = onePer((schema: Schema): RelationalSchemaConfig<TablesRelationalConfig> => {
  correctColumns(schema);
  const { tables, tableNamesMap } = relationalConfig(schema);
  return { fullSchema: schema, schema: tables, tableNamesMap };
});
