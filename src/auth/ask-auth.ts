/** Asks one function of schema auth, as svc_auth. Each is safe to send twice, so that it survives a lost connection. */
import type pg from "pg";
import { runStatement } from "../postgres/run-statement.ts";

/**
 * @param what behind `select`, such as "auth.has_session($1) as has"; the function names the prepared statement
 * @throws SvcError as `runStatement`
 */
export function askAuth<Row extends pg.QueryResultRow>(pool: pg.Pool, what: string, values: unknown[] = []) {
  return runStatement<Row>(pool, { ...statementOf(what, values), repeatable: true });
}

/**
 * Asks on a connection that the caller holds.
 *
 * @throws errors of the database
 */
export async function askAuthOn<Row extends pg.QueryResultRow>(
  client: pg.ClientBase,
  what: string,
  values: unknown[] = [],
): Promise<Row[]> {
  return (await client.query<Row>(statementOf(what, values))).rows;
}

const statementOf = (what: string, values: unknown[]) => ({
  name: `svc_${/\bauth\.(\w+)/.exec(what)?.[1]}`,
  text: `select ${what}`,
  values,
});
