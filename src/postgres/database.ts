/**
 * `ctx.db` and `ctx.unsafeDb`: Drizzle over the call's transaction, and over the system pool.
 * Next hop: `src/postgres/transaction.ts`.
 */
import { createTableRelationsHelpers, extractTablesRelationalConfig } from "drizzle-orm";
import { drizzle, NodePgSession, NodePgTransaction } from "drizzle-orm/node-postgres";
import { PgDialect } from "drizzle-orm/pg-core";
import type pg from "pg";
import type { RequestDatabase, Schema, SystemDatabase } from "../contract/database.ts";
import { misuseError } from "../kit/misuse-error.ts";
import type { RequestTransaction } from "./transaction.ts";

/** Makes request databases; what all of them share is worked out once. */
export type CreateRequestDatabase = (transaction: RequestTransaction) => RequestDatabase;

/**
 * @param schema     the application's tables and relations, for `db.query.…`; may be empty
 * @param production as in `mistake`
 */
export function requestDatabases(schema: Schema, production: boolean): CreateRequestDatabase {
  const dialect = new PgDialect();
  const { tables, tableNamesMap } = extractTablesRelationalConfig(schema, createTableRelationsHelpers);
  const relational = { fullSchema: schema, schema: tables, tableNamesMap };
  /** Courtesy, not the boundary: that is the login role, which may do nothing that the caller may not. */
  const refuseRawSql = (): never => {
    throw misuseError("ctx.db", rawSql, production);
  };
  /** LOCK TABLE, LISTEN, NOTIFY and SET ask for privileges that requests have, or for none. None of them is part of a query. */
  const requireQuery = (text: string | undefined) => {
    if (!isQuery.test(text ?? "")) refuseRawSql();
  };

  return (transaction) => {
    // Drizzle asks its client for one thing only.
    const client = {
      query: async (config: pg.QueryConfig, values?: unknown[]) => {
        requireQuery(config.text);
        return transaction.query(config, values);
      },
    } as unknown as pg.PoolClient;
    const session = new NodePgSession(client, dialect, relational);
    const database: RequestDatabase = Object.assign(new NodePgTransaction(dialect, session, relational), {
      transaction: <T>(run: (db: RequestDatabase) => Promise<T>) => transaction.savepoint(() => run(database)),
      execute: refuseRawSql,
      refreshMaterializedView: refuseRawSql,
    }) as unknown as RequestDatabase;
    return database;
  };
}

/** How everything begins that the query builder writes. */
const isQuery = /^\s*\(*\s*(select|insert|update|delete|with)\b/i;

const rawSql =
  "no raw SQL runs here. Use the query builder (sql`…` fragments inside it are fine), put the statement into a function " +
  "in sql/ and call it by db.select({ … }).from(sql`…`), or use ctx.unsafeDb for audited administration.";

/** Drizzle as `svc_system`. */
export function systemDatabase(pool: pg.Pool, schema: Schema): SystemDatabase {
  return drizzle({ client: pool, schema }) as unknown as SystemDatabase;
}
