/**
 * The queue's schema, `graphile_worker`. The library's own migrations create and upgrade it, inside the transaction of
 * `src/migrate/migrate.ts` and as svc_owner, so that only the platform's definer functions may enqueue.
 * Next hop: `sql/jobs/` calls it, `workers/runner.ts` works on it.
 */
import type pg from "pg";

/** The library's migrations begin and end their own transactions; inside ours these become savepoints. */
const nested: Record<string, string> = {
  begin: "savepoint svc_queue",
  commit: "release savepoint svc_queue",
  rollback: "rollback to savepoint svc_queue",
};

/** The revision of the installed library. Another library version may need another number. */
export const wantedRevision = 20;

export const isQueueCurrent = async (client: pg.Client): Promise<boolean> =>
  (await queueRevision(client)) >= wantedRevision;

/** The newest revision in this database; 0 without a queue. */
async function queueRevision(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select to_regclass('graphile_worker.migrations') is not null as exists");
  if (!rows[0].exists) return 0;
  const latest = await client.query("select coalesce(max(id), 0)::integer as id from graphile_worker.migrations");
  return latest.rows[0].id;
}

/**
 * Upgrades the queue's schema to the installed library's revision. A transaction must be open.
 *
 * @returns the revision, if it is new
 */
export async function installQueue(client: pg.Client): Promise<number | null> {
  const before = await queueRevision(client);
  if (before >= wantedRevision) return null;
  // Imported on demand: the library is large, and most starts find nothing to do.
  const { Logger, runMigrations } = await import("graphile-worker");
  await client.query("set local role svc_owner");
  await runMigrations({ pgPool: asPool(client), logger: new Logger(() => () => {}) });
  await client.query("reset role");
  const after = await queueRevision(client);
  return after === before ? null : after;
}

/** A pool with one connection: the migrator's. */
function asPool(client: pg.Client): pg.Pool {
  const inTransaction = {
    async query(question: string | pg.QueryConfig, values?: unknown[]) {
      if (typeof question === "string" && nested[question]) return client.query(nested[question]);
      // The library runs statements that may fail, such as its first query of a missing table.
      await client.query("savepoint svc_queue_statement");
      try {
        const result = await client.query(question as string, values);
        await client.query("release savepoint svc_queue_statement");
        return result;
      } catch (error) {
        await client.query("rollback to savepoint svc_queue_statement");
        throw error;
      }
    },
    release() {},
  };
  // The library requires an error handler on the pool that it is given.
  return { connect: async () => inTransaction, listeners: () => [() => {}] } as unknown as pg.Pool;
}
