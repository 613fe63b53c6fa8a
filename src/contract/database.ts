/** The database handles of handlers. `src/postgres/database.ts` makes them. */
import type { NodePgQueryResultHKT } from "drizzle-orm/node-postgres";
import type { PgDatabase } from "drizzle-orm/pg-core";

/** A map of Drizzle tables and relations, as `typeof schema`. */
export type Schema = Record<string, unknown>;

export type Drizzle<S extends Schema> = PgDatabase<NodePgQueryResultHKT, S>;

/**
 * Drizzle over the call's one transaction, under the caller's role and identity.
 * The transaction opens with the first statement: read only for queries and GET routes, commits when the handler
 * returns, rolls back when it throws.
 */
export interface RequestDatabase<S extends Schema = Schema>
  extends Omit<Drizzle<S>, "execute" | "transaction" | "refreshMaterializedView"> {
  /** A savepoint inside the call's transaction: what `run` wrote is undone when it throws. */
  transaction<T>(run: (db: RequestDatabase<S>) => Promise<T>): Promise<T>;
  /** Always throws: raw SQL is not part of the request plane. Use the query builder, a SQL function, or `unsafeDb`. */
  execute(query: never): never;
}

/** Drizzle as the system role, past row-level security, each statement on its own unless `transaction` is used. */
export type SystemDatabase<S extends Schema = Schema> = Drizzle<S>;
