/**
 * Runs a migration beside an active service. A change of a table waits for its users, and all later users wait behind
 * it: one forgotten transaction, or a dump, could stop all calls. So a migration waits briefly, releases its locks, and
 * tries again.
 * Next hop: `migrate.ts`, its only caller.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { liftLimits } from "../postgres/without-limits.ts";

export interface Patience {
  /** In milliseconds: how long to keep retrying. (Default: 300,000) */
  patienceMs?: number;
  /**
   * In milliseconds: how long a statement waits for a table. Longer than the server's deadlock_timeout (1,000), after
   * which autovacuum cancels itself. (Default: 2,000)
   */
  lockWaitMs?: number;
  /** Called with one line whenever it releases its locks, and when it waits for another migration. */
  report?: ((line: string) => void) | undefined;
}

/** In milliseconds: pause between two attempts, for queued transactions. Doubled each time. */
const firstPause = 1_000;
const longestPause = 10_000;

// An arbitrary number, the same in every version of svc.
const advisoryLock = 7_265_021_846_113;

/**
 * Opens a transaction, as the only migrator of this database, and runs a part of the migration in it. The transaction
 * stays open.
 *
 * @param run gets a function that limits lock waits from then on: only for tables, because other transactions do not
 *   wait for roles
 * @throws the last attempt's error when the tables stayed locked; any other error at once
 */
export async function withLocks<T>(
  client: pg.Client,
  patience: Patience,
  run: (limit: () => Promise<unknown>) => Promise<T>,
): Promise<T> {
  const { patienceMs = 300_000, lockWaitMs = 2_000, report } = patience;
  const deadline = performance.now() + patienceMs;
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    await client.query("begin");
    await client.query(liftLimits);
    const { rows } = await client.query("select pg_try_advisory_xact_lock($1) as is_alone", [advisoryLock]);
    if (!rows[0].is_alone) {
      report?.("waiting for another migration of this database");
      await client.query("select pg_advisory_xact_lock($1)", [advisoryLock]);
    }
    try {
      return await run(() => client.query(`set local lock_timeout = ${Number(lockWaitMs)}`));
    } catch (error) {
      if (!isHeldUp(error)) throw error;
      await client.query("rollback");
      const holders = await findHolders(client);
      if (performance.now() + pause > deadline) throw heldUp(error as Error, holders, patienceMs);
      report?.(`rolled back: other sessions use the tables${holders}. Trying again in ${pause / 1000} s`);
      await sleep(pause);
    }
  }
}

/** A lock timeout, or the victim of a deadlock. */
const isHeldUp = (error: unknown) =>
  error instanceof Error &&
  error.cause instanceof pg.DatabaseError &&
  ["55P03", "40P01"].includes(error.cause.code ?? "");

/** Open transactions that hold locks on tables of svc and the application, oldest first. */
async function findHolders(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; application: string; state: string; seconds: number }>(
    `select a.pid, a.application_name as application, a.state,
            extract(epoch from clock_timestamp() - a.xact_start)::integer as seconds
       from pg_catalog.pg_stat_activity a
      where a.datname = current_database() and a.pid <> pg_backend_pid()
        and exists (select from pg_catalog.pg_locks l
                      join pg_catalog.pg_class c on c.oid = l.relation
                      join pg_catalog.pg_roles r on r.oid = c.relowner and r.rolname = 'svc_owner'
                     where l.pid = a.pid and l.granted and c.relkind in ('r', 'p', 'm', 'v'))
      order by a.xact_start
      limit 3`,
  );
  const named = rows.map(
    ({ pid, application, state, seconds }) => `${application || "a session"} (pid ${pid}, ${state}, for ${seconds} s)`,
  );
  return named.length > 0 ? `, such as ${named.join(", ")}` : "";
}

function heldUp(error: Error, holders: string, patienceMs: number): Error {
  return Object.assign(error, {
    message:
      `${error.message}\n  Others have used the tables for ${patienceMs / 1000} s${holders}. Nothing was changed.\n` +
      "  `svc db locks` shows who holds them: wait for a dump, end forgotten sessions, and migrate again.",
  });
}
