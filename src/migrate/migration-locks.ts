/**
 * Runs a migration beside an active service. A change of a table waits for its users, and all later users wait behind
 * it: one forgotten transaction, or a dump, could stop all calls. So a migration waits briefly, releases its locks, and
 * tries again. Where calls that use two tables come without a pause, each attempt would end in a deadlock: so the next one locks
 * the table first that the last one waited for.
 * Next hop: `migrate.ts`, its only caller.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { sqlState } from "../postgres/errors.ts";
import { liftLimits } from "../postgres/without-limits.ts";
import { MigrationError } from "./migration-error.ts";

export interface Patience {
  /** In milliseconds: how long to keep retrying, and to wait for another migrator. (Default: 300,000) */
  patienceMs?: number;
  /**
   * In milliseconds: how long a statement waits for a table. (Default: 900, or 2,000 where the administrator may not set
   * deadlock_timeout: longer than that of the server, after which autovacuum cancels itself)
   */
  lockWaitMs?: number;
  /** Called with a line per applied file and warning, whenever it releases its locks, and when it waits for another migration. */
  report?: ((line: string) => void) | undefined;
}

/** In milliseconds: pause between two attempts, for queued transactions. Doubled each time. */
const firstPause = 1_000;
const longestPause = 10_000;

// An arbitrary number, the same in every version of svc.
const advisoryLock = 7_265_021_846_113;

/**
 * Of sessions that wait for each other PostgreSQL ends the one that looks first, after its deadlock_timeout. The migration
 * looks before calls do, and gives up before a call that came later looks.
 */
const waitBriefly = `set local lock_timeout = 2000;
  do $$ begin
    set local deadlock_timeout = 50;
    set local lock_timeout = 900;
  exception when insufficient_privilege then null;
  end $$`;

/**
 * Opens a transaction, as the only migrator of this database, and runs a part of the migration in it. The transaction stays open.
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
  const { patienceMs = 300_000, lockWaitMs, report } = patience;
  const deadline = performance.now() + patienceMs;
  const wanted: Wanted[] = [];
  for (let pause = firstPause; ; pause = Math.min(2 * pause, longestPause)) {
    await client.query("begin");
    await client.query(liftLimits);
    await becomeAlone(client, Math.max(1, Math.ceil(deadline - performance.now())), report);
    try {
      return await run(async () => {
        await client.query(lockWaitMs === undefined ? waitBriefly : `set local lock_timeout = ${Number(lockWaitMs)}`);
        await lockFirst(client, wanted);
      });
    } catch (thrown) {
      // Statements of no file, such as those below, throw PostgreSQL's own errors.
      const error = thrown instanceof pg.DatabaseError ? new MigrationError(thrown.message, { cause: thrown }) : thrown;
      if (!isHeldUp(error)) throw thrown;
      wanted.unshift(...wantedBy(error));
      await client.query("rollback");
      const holders = await findHolders(client);
      if (performance.now() + pause > deadline) throw heldUp(error, holders, patienceMs);
      report?.(`rolled back: other sessions use the tables${holders}. Trying again in ${pause / 1000} s`);
      await sleep(pause);
    }
  }
}

/** Waits for another migrator, whose process may be frozen or may have lost its host. */
async function becomeAlone(client: pg.Client, patienceMs: number, report: Patience["report"]): Promise<void> {
  const { rows } = await client.query("select pg_try_advisory_xact_lock($1) as is_alone", [advisoryLock]);
  if (rows[0].is_alone) return;
  const other = await findMigrator(client);
  report?.(`waiting for another migration of this database${other}`);
  try {
    await client.query(`set local lock_timeout = ${patienceMs}`);
    await client.query("select pg_advisory_xact_lock($1)", [advisoryLock]);
    await client.query("set local lock_timeout = 0");
  } catch (cause) {
    if (sqlState(cause) !== "55P03") throw cause;
    const hint =
      "If it works, wait for it, and migrate again (--wait gives it more time). If its process is frozen or its host is gone, end its session as the administrator: select pg_terminate_backend(PID);";
    throw new MigrationError(`Another migration of this database has not ended${other}. Nothing was changed.`, {
      hint,
      cause,
    });
  }
}

async function findMigrator(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ pid: number; host: string; seconds: number }>(
    `select a.pid, coalesce(host(a.client_addr), 'this host') as host,
            extract(epoch from clock_timestamp() - a.xact_start)::integer as seconds
       from pg_catalog.pg_locks l join pg_catalog.pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and l.database = (select oid from pg_database where datname = current_database())
        and l.classid::bigint << 32 | l.objid::bigint = $1`,
    [advisoryLock],
  );
  return rows.map(({ pid, host, seconds }) => ` (pid ${pid}, from ${host}, for ${seconds} s)`).join("");
}

/** A lock timeout, or the victim of a deadlock. */
const isHeldUp = (error: unknown): error is Error & { cause: pg.DatabaseError } =>
  error instanceof Error &&
  error.cause instanceof pg.DatabaseError &&
  ["55P03", "40P01"].includes(error.cause.code ?? "");

/** What an attempt waited for when a deadlock ended it. */
interface Wanted {
  oid: string;
  /** As `lock table` takes it. */
  mode: string;
}

/** Empty where the server reports in another language than English. */
function wantedBy({ cause }: { cause: pg.DatabaseError }): Wanted[] {
  const [, lock, oid] = /waits for (\w+)Lock on relation (\d+) of database/.exec(cause.detail ?? "") ?? [];
  return lock && oid ? [{ oid, mode: lock.replace(/(?<=[a-z])(?=[A-Z])/g, " ") }] : [];
}

/**
 * Locks these tables while it holds no other ones: a call that uses one of them ends, and others come after the migration. Without
 * `only` it would lock every partition. A table may be dropped while it waits.
 */
async function lockFirst(client: pg.Client, wanted: readonly Wanted[]): Promise<void> {
  for (const { oid, mode } of wanted) {
    await client.query(`do $$ declare
      name regclass := (select c.oid from pg_catalog.pg_class c where c.oid = ${oid} and c.relkind in ('r', 'p'));
    begin
      if name is not null then
        execute format('lock table only %s in ${mode} mode', name);
      end if;
    exception when undefined_table or insufficient_privilege then null;
    end $$`);
  }
}

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
