/** Asks one function of schema auth, as svc_auth. Each is safe to send twice, so that it survives a lost connection. */
import type pg from "pg";
import { runStatement } from "../postgres/run-statement.ts";

/**
 * @param what behind `select`, such as "auth.has_session($1) as has"; the function names the prepared statement
 * @throws SvcError as `runStatement`
 */
export function askAuth<Row extends pg.QueryResultRow>(pool: pg.Pool, what: string, values: unknown[] = []) {
  const name = `svc_${/\bauth\.(\w+)/.exec(what)?.[1]}`;
  return runStatement<Row>(pool, { name, text: `select ${what}`, values, repeatable: true });
}
