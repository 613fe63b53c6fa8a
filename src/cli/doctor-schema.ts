/**
 * Checks of `svc doctor`: what `svc db lint` finds, whether triggers fire, and whether indexes on text may be trusted.
 * Next hop: `sql/lint/lint_schema.sql`.
 */
import type pg from "pg";
import type { Pools } from "../postgres/pools.ts";
import { lintSchema } from "./db/lint.ts";
import { advice, type Finding, ok, wrong } from "./doctor-connections.ts";

type Asked = Pick<pg.Pool, "query">;

/** Advice only: on a host without a superuser an error may be there to stay. */
export async function examineSchema(system: Asked): Promise<Finding[]> {
  const [first, ...others] = (await lintSchema(system)).filter(({ severity }) => severity === "error");
  if (!first) return [ok("svc db lint finds no errors")];
  const count = `svc db lint finds ${others.length + 1} ${others.length > 0 ? "errors, such as" : "error"}`;
  return [advice(`${count}: ${first.name} ${first.problem}.\n  Run svc db lint.`)];
}

/** A login, the database or the server may have the setting. */
export async function examineTriggers(pools: Record<keyof Omit<Pools, "close">, Asked>): Promise<Finding[]> {
  const ask = async (pool: Asked) => {
    const { rows } = await pool.query(
      "select current_user as login, current_setting('session_replication_role') as value",
    );
    return rows[0];
  };
  const all = await Promise.all([pools.request, pools.system, pools.auth].map(ask));
  const off = [...new Set(all.filter(({ value }) => value === "replica").map(({ login }) => login))];
  if (off.length === 0) return [];
  const text =
    `session_replication_role is replica for ${off.join(", ")}: triggers and foreign keys are off. Deleted users leave ` +
    "their rows, ended sessions go on, searches and quotas are wrong.\n" +
    "  Reset it: alter system, alter database or alter role … reset session_replication_role.";
  return [wrong(text)];
}

/**
 * Indexes on text are sorted by rules of the operating system's library (or ICU). Another version of it may sort otherwise:
 * then a unique index takes the same value twice, and rows are not found. PostgreSQL only warns, at each connection.
 */
export async function examineCollation(system: Asked): Promise<Finding[]> {
  const { rows } = await system.query(
    `select quote_ident(d.datname) as name, d.datcollversion as made, pg_catalog.pg_database_collation_actual_version(d.oid) as now
       from pg_catalog.pg_database d where d.datname = current_database()`,
  );
  const { name, made, now } = rows[0];
  if (made === null || now === null || made === now) return [];
  const text =
    `The rules by which text is sorted have changed: the indexes were made with version ${made}, and the server has ${now}. ` +
    "Unique indexes may take a value twice, and rows may not be found.\n" +
    `  In psql: reindex database ${name}; and then alter database ${name} refresh collation version;`;
  return [wrong(text)];
}

/** In seconds: the alert SvcTransactionForgotten has the same. */
const forgottenAfter = 1800;

/**
 * What keeps vacuum from removing rows: old transactions of sessions, prepared transactions, standbys and their slots. Each
 * claim of a job then reads the rows of done jobs.
 */
export async function examineOldTransactions(system: Asked, longer = forgottenAfter): Promise<Finding[]> {
  const { rows } = await system.query(
    `select state, pid, application, open_seconds, remedy from svc_private.ops_vacuum_holders
      where open_seconds is null or open_seconds > $1 limit 5`,
    [longer],
  );
  return rows.map(({ state, pid, application, open_seconds, remedy }) => {
    const name = application || "no name";
    const what = {
      slot: `The slot ${name} keeps old rows for a standby`,
      standby: `The standby ${name} keeps old rows for its queries`,
      prepared: `The prepared transaction ${name} has been open for ${Math.round(open_seconds)} s`,
    }[state as string];
    const session = `The transaction of session ${pid} (${name}) has been open for ${Math.round(open_seconds)} s`;
    const toEnd = state === "standby" ? "Its transactions" : "If nothing needs it";
    return advice(`${what ?? session}: vacuum removes no rows, and the queue gets slower.\n  ${toEnd}: ${remedy}`);
  });
}
