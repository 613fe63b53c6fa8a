/**
 * The advisory lock of a worker, on a separate connection. PostgreSQL frees it when the process dies, and other workers
 * then take its jobs.
 * Next hop: `sql/jobs/hold_worker.sql`; `rescue.ts` looks for locks that are free.
 */
import pg from "pg";
import type { Logger } from "pino";
import { endOrBreak, keepAlive } from "../src/postgres/silence.ts";

/** In milliseconds: the first wait before reconnecting; doubled each time. */
const firstRetryAfter = 200;
const longestRetryAfter = 2_000;
/** In milliseconds: a slower server counts as lost. */
const answersWithin = 10_000;

export interface WorkerLockOptions {
  /** Connection string of the system's login; not through a pooler in transaction mode, which would share the lock. */
  url: string;
  /** The id under which this worker holds jobs. */
  worker: string;
  /** Its crons and workflows, as `hold_definitions.sql` takes them. */
  definitions: readonly string[];
  log: Logger;
  /** Called at each commit with deliveries of webhooks. (Default: it does not listen) */
  onDelivery?: (() => void) | undefined;
  onHeld(): void;
  onLost(): void;
}

/** Takes the lock, and takes it again after every loss of its connection. @returns a function that releases it */
export function holdWorkerLock({
  url,
  worker,
  definitions,
  log,
  onDelivery,
  onHeld,
  onLost,
}: WorkerLockOptions): () => Promise<void> {
  let closed = false;
  let client: pg.Client;
  let timer: NodeJS.Timeout | undefined;
  let retryAfter = firstRetryAfter;

  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      application_name: `svc ${worker}`,
      connectionTimeoutMillis: answersWithin,
      query_timeout: answersWithin,
      ...keepAlive,
    });
    let isLost = false;
    const reconnect = (reason: unknown) => {
      if (isLost || closed) return;
      isLost = true;
      onLost();
      // Logged once: further attempts while the database is away tell nothing new.
      if (retryAfter === firstRetryAfter) {
        log.warn({ reason: String(reason) }, "lost the connection that marks this worker as alive; opening another");
      }
      void endOrBreak(next);
      timer = setTimeout(() => void connect(), retryAfter);
      retryAfter = Math.min(2 * retryAfter, longestRetryAfter);
    };
    next.on("error", reconnect);
    next.on("end", () => reconnect("closed"));
    if (onDelivery) next.on("notification", onDelivery);
    client = next;
    try {
      await next.connect();
      // A host without power closes no connection; keepalives of both sides detect it within 20 seconds (sql/roles.sql).
      await next.query("select svc_private.hold_worker($1)", [worker]);
      if (onDelivery) await next.query("listen svc_webhooks");
      if (definitions.length > 0) await next.query("select svc_private.hold_definitions($1)", [definitions]);
      if (retryAfter > firstRetryAfter) log.info("this worker is marked as alive again");
      retryAfter = firstRetryAfter;
      onHeld();
    } catch (error) {
      reconnect(error);
    }
  };

  void connect();
  return async () => {
    closed = true;
    clearTimeout(timer);
    await endOrBreak(client);
  };
}
