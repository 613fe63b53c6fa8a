/**
 * Life and death of workers. A worker holds a lock on a connection of its own, free the moment its process dies; every
 * worker looks out for locks that are free, and gives the jobs of their holders back; and of its own, those that it holds
 * without knowing.
 * Next hop: `sql/jobs/hold_worker.sql`, `sql/jobs/rescue_workers.sql`, `sql/jobs/return_lost_jobs.sql`.
 */
import pg from "pg";
import type { Logger } from "pino";

/** In milliseconds: between two looks. The dead are found at the second one. */
const lookEvery = 2_000;
/** In milliseconds: before the next try to connect, and the longest such wait. Each is twice as long as the one before. */
const reconnectAfter = 200;
const longestReconnect = 2_000;
/** In milliseconds, before the second look: what a living worker needs to connect again, and some more. */
const secondLookAfter = 400;
/**
 * In milliseconds: workers find back after a restart of PostgreSQL. So they do after a failover, of which the server that
 * takes over knows no time: there the loss of our own lock says that all may have lost theirs.
 */
const graceAfterRestart = 10_000;

export interface RescueOptions {
  /** Connection string of the system's login; not through a pooler in transaction mode, which would share the lock. */
  url: string;
  /** The id under which this worker holds jobs. */
  worker: string;
  /** The ids of the jobs that it runs. */
  running: ReadonlySet<string>;
  pool: pg.Pool;
  log: Logger;
  /** In milliseconds. (Default: 2000) */
  lookEveryMs?: number;
  /** In milliseconds: for how long after a restart or a failover nobody is taken for dead. (Default: 10000) */
  graceMs?: number;
  /** Whether this worker has just lost the database, as the others may have. (Default: false) */
  afterLoss?: boolean;
}

export interface Rescue {
  /** Resolves when the lock is held for the first time: before that the worker must take no job. */
  held: Promise<void>;
  close(): Promise<void>;
}

export function startRescue(options: RescueOptions): Rescue {
  const { url, worker, running, pool, log, lookEveryMs = lookEvery, graceMs = graceAfterRestart } = options;
  let closed = false;
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retry: NodeJS.Timeout | undefined;
  let suspects: string[] = [];
  let lost: string[] = [];
  let looking: Promise<void> | undefined;
  let quietUntil = options.afterLoss ? performance.now() + graceMs : 0;

  const { promise: held, resolve: nowHeld } = Promise.withResolvers<void>();

  let wait = reconnectAfter;
  const hold = async () => {
    const next = new pg.Client({ connectionString: url, application_name: `svc ${worker}`, keepAlive: true });
    let isLost = false;
    const again = (reason: unknown) => {
      if (isLost || closed) return;
      isLost = true;
      quietUntil = Number.POSITIVE_INFINITY;
      // Said once: while the database is away, nothing new is to be told.
      if (wait === reconnectAfter) {
        log.warn({ reason: String(reason) }, "the connection that says that this worker lives is lost; making another");
      }
      next.end().catch(() => {});
      retry = setTimeout(() => void hold(), wait);
      wait = Math.min(2 * wait, longestReconnect);
    };
    next.on("error", again);
    next.on("end", () => again("closed"));
    client = next;
    try {
      await next.connect();
      // A host that loses its power says no goodbye: found out within 20 seconds.
      await next.query("set tcp_keepalives_idle = 5; set tcp_keepalives_interval = 5; set tcp_keepalives_count = 3");
      await next.query("select svc_private.hold_worker($1)", [worker]);
      if (quietUntil > 0) quietUntil = performance.now() + graceMs;
      if (wait > reconnectAfter) log.info("this worker is known to live again");
      wait = reconnectAfter;
      nowHeld();
    } catch (error) {
      again(error);
    }
  };

  const look = async () => {
    if (performance.now() < quietUntil) suspects = [];
    else await findDead();
    await findLost();
  };
  const findDead = async () => {
    const { rows } = await pool.query<{ worker: string; rescued: boolean }>(
      "select worker, rescued from svc_private.rescue_workers($1, $2)",
      [suspects, `${graceMs} milliseconds`],
    );
    suspects = rows.filter(({ rescued }) => !rescued).map((row) => row.worker);
    for (const row of rows.filter(({ rescued }) => rescued)) {
      log.warn({ dead: row.worker }, "gave the jobs of a dead worker back");
    }
  };
  const findLost = async () => {
    const own = await pool.query<{ job: string; returned: boolean }>(
      "select job, returned from svc_private.return_lost_jobs($1, $2, $3)",
      [worker, [...running], lost],
    );
    lost = own.rows.filter(({ returned }) => !returned).map(({ job }) => job);
    for (const { job, returned } of own.rows) {
      if (returned) log.warn({ job }, "gave a job back that this worker held and did not run");
    }
  };
  // The first two looks follow each other soon: whatever takes the place of a process that was killed goes on at once.
  let looks = 0;
  const next = () => {
    if (closed) return;
    const wait = [0, Math.min(secondLookAfter, lookEveryMs)][looks++] ?? lookEveryMs;
    timer = setTimeout(() => {
      looking = look()
        .catch((error) => log.warn({ reason: String(error) }, "could not look for dead workers; trying again"))
        .finally(next);
    }, wait);
  };

  void hold();
  held.then(next);
  return {
    held,
    async close() {
      closed = true;
      clearTimeout(timer);
      clearTimeout(retry);
      await looking;
      await client?.end().catch(() => {});
    },
  };
}
