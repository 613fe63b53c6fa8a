/**
 * The queue's schema, `graphile_worker`: made and upgraded by the library's own migrations, inside the transaction of
 * `src/migrate/migrate.ts` and as svc_owner, so that only the platform's definer functions may enqueue.
 * Next hop: `sql/jobs/` calls it, `workers/runner.ts` works on it.
 */
import type pg from "pg";

/** The library's migrations begin and end transactions of their own: here these are savepoints inside ours. */
const nested: Record<string, string> = {
  begin: "savepoint svc_queue",
  commit: "release savepoint svc_queue",
  rollback: "rollback to savepoint svc_queue",
};

/** The revision that the installed library brings; another version of it may need another number here. */
export const wantedQueueRevision = 20;

/** The newest revision that this database has; 0 without a queue. */
export async function queueRevision(client: pg.Client): Promise<number> {
  const { rows } = await client.query("select to_regclass('graphile_worker.migrations') is not null as exists");
  if (!rows[0].exists) return 0;
  const latest = await client.query("select coalesce(max(id), 0)::integer as id from graphile_worker.migrations");
  return latest.rows[0].id;
}

/**
 * Brings the queue's schema to the installed library's revision. The transaction has to be open already.
 *
 * @returns the revision, when it is a new one
 */
export async function installQueue(client: pg.Client): Promise<number | null> {
  const before = await queueRevision(client);
  if (before >= wantedQueueRevision) return null;
  // Imported only now: it is a large library, and most starts find nothing to do.
  const { Logger, runMigrations } = await import("graphile-worker");
  await client.query("set local role svc_owner");
  await runMigrations({ pgPool: asPool(client), logger: new Logger(() => () => {}) });
  await client.query("reset role");
  const after = await queueRevision(client);
  return after === before ? null : after;
}

/** A pool of one connection: the migrator's. */
function asPool(client: pg.Client): pg.Pool {
  const inTransaction = {
    async query(question: string | pg.QueryConfig, values?: unknown[]) {
      if (typeof question === "string" && nested[question]) return client.query(nested[question]);
      // The library tries what may fail, as its first look at a table that is not there yet.
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
  // The library checks that a pool which it is given has an error handler.
  return { connect: async () => inTransaction, listeners: () => [() => {}] } as unknown as pg.Pool;
}
