/** The database handles of handlers. `src/postgres/database.ts` makes them. */
import type { NodePgQueryResultHKT } from "drizzle-orm/node-postgres";
import type { PgDatabase } from "drizzle-orm/pg-core";

/**
 * A map of Drizzle tables and relations, as `typeof schema`. `any` and not `unknown`: for `unknown` the compiler infers the
 * type of every table before it answers about one handler.
 */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Schema = Record<string, any>;

type Drizzle<S extends Schema> = PgDatabase<NodePgQueryResultHKT, S>;

/**
 * Drizzle in the call's one transaction, with the caller's role and identity. The first statement opens the transaction. It is
 * read-only for queries and GET routes, commits when the handler returns, and rolls back when it throws.
 */
export interface RequestDatabase<S extends Schema = Schema>
  extends Omit<Drizzle<S>, "execute" | "transaction" | "refreshMaterializedView"> {
  /** A savepoint inside the call's transaction: if `run` throws, its writes are rolled back. */
  transaction<T>(run: (db: RequestDatabase<S>) => Promise<T>): Promise<T>;
  /** Always throws: requests cannot run raw SQL. Use the query builder, a SQL function, or `unsafeDb`. */
  execute(query: never): never;
}

/** Drizzle as the system role, without row-level security. Each statement commits by itself unless `transaction` is used. */
export type SystemDatabase<S extends Schema = Schema> = Drizzle<S>;
