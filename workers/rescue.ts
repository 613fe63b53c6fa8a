/**
 * Returns the jobs of dead workers to the queue, and those that this worker holds without running them. A worker is
 * dead when its lock is free in two consecutive checks.
 * Next hop: `worker-lock.ts`, `sql/jobs/rescue_workers.sql`, `sql/jobs/return_lost_jobs.sql`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { holdWorkerLock } from "./worker-lock.ts";

/** In milliseconds between two checks. */
const defaultInterval = 2_000;
/** In milliseconds before the second check: a living worker has connected again by then. */
const secondCheckAfter = 400;
/**
 * In milliseconds. After a restart of PostgreSQL all workers have to reconnect, and `rescue_workers` compares the time of the
 * restart. After a failover all have to reconnect, too, but the start of the new server is older; there the loss of this
 * worker's own lock begins the grace period.
 */
const defaultGrace = 10_000;

type RunningJobs = Pick<ReadonlySet<string>, "keys" | "size">;

export interface RescueOptions {
  /** As in `worker-lock.ts`. */
  url: string;
  /** The id under which this worker holds jobs. */
  worker: string;
  /** As in `worker-lock.ts`. (Default: none) */
  definitions?: readonly string[];
  /** The ids of the jobs that it runs. */
  running: RunningJobs;
  pool: pg.Pool;
  log: Logger;
  /** As in `worker-lock.ts`. */
  onDelivery?: (() => void) | undefined;
  /** In milliseconds. (Default: 2000) */
  lookEveryMs?: number;
  /** In milliseconds: no worker counts as dead during this time after a restart or a failover. (Default: 10000) */
  graceMs?: number;
  /**
   * Set after this worker has lost the database: the id under which it held jobs before, and the jobs that still run. Other
   * workers may have lost the database, too. (Default: the worker has just started)
   */
  former?: { id: string; running: RunningJobs } | undefined;
}

export interface Rescue {
  /** Resolves when the lock is first held. Before that the worker must not take jobs. */
  held: Promise<void>;
  close(): Promise<void>;
}

export function startRescue(options: RescueOptions): Rescue {
  const { url, worker, running, pool, log, lookEveryMs = defaultInterval, graceMs = defaultGrace } = options;
  let suspectedWorkers: string[] = [];
  let suspectedJobs: string[] = [];
  /** No worker counts as dead before this time. */
  let graceUntil = options.former ? performance.now() + graceMs : 0;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let checking: Promise<void> | undefined;

  async function runOnce(): Promise<void> {
    if (performance.now() < graceUntil) {
      suspectedWorkers = [];
      await rescueFormer();
    } else await rescueDeadWorkers();
    await returnLostJobs();
  }

  /** SQL decides when a job runs again. */
  async function rescueDeadWorkers(): Promise<void> {
    const text = "select worker, rescued from svc_private.rescue_workers($1, $2)";
    const values = [suspectedWorkers, `${graceMs} milliseconds`];
    const { rows } = await pool.query<{ worker: string; rescued: boolean }>(text, values);
    suspectedWorkers = rows.filter(({ rescued }) => !rescued).map((row) => row.worker);
    for (const row of rows.filter(({ rescued }) => rescued)) {
      log.warn({ dead: row.worker }, "gave the jobs of a dead worker back");
    }
  }

  /**
   * Returns the jobs that this worker held before it lost the database. The grace period is for other workers, so these jobs
   * need not wait for its end: workflow runs among them count for `concurrency`, and other runs wait for them.
   */
  async function rescueFormer(): Promise<void> {
    if (!options.former || options.former.running.size > 0) return;
    const text = "select worker from svc_private.rescue_workers(array[$1], '0') where rescued";
    const { rowCount } = await pool.query(text, [options.former.id]);
    if (rowCount) log.warn("gave the jobs back that this worker ran when it lost the database");
  }

  async function returnLostJobs(): Promise<void> {
    const text = "select job, returned from svc_private.return_lost_jobs($1, $2, $3)";
    const values = [worker, [...running.keys()], suspectedJobs];
    const { rows } = await pool.query<{ job: string; returned: boolean }>(text, values);
    suspectedJobs = rows.filter(({ returned }) => !returned).map(({ job }) => job);
    for (const { job } of rows.filter(({ returned }) => returned)) {
      log.warn({ job }, "gave a job back that this worker held and did not run");
    }
  }

  // The second check follows soon: a worker that replaces a killed one takes its jobs at once.
  const delays = [0, Math.min(secondCheckAfter, lookEveryMs)];
  /** Whether the last check failed: consecutive failures are logged once. The loss of the database has been logged. */
  let isAway = options.former !== undefined;
  const look = () =>
    runOnce().then(
      () => {
        isAway = false;
      },
      (error) => {
        if (!isAway) log.warn({ reason: String(error) }, "could not look for dead workers; trying again");
        isAway = true;
      },
    );
  const schedule = () => {
    if (closed) return;
    timer = setTimeout(() => {
      checking = look().finally(schedule);
    }, delays.shift() ?? lookEveryMs);
  };

  const { promise: held, resolve: nowHeld } = Promise.withResolvers<void>();
  const release = holdWorkerLock({
    url,
    worker,
    definitions: options.definitions ?? [],
    log,
    onDelivery: options.onDelivery,
    onHeld() {
      if (graceUntil > 0) graceUntil = performance.now() + graceMs;
      nowHeld();
    },
    onLost() {
      graceUntil = Number.POSITIVE_INFINITY;
    },
  });
  held.then(schedule);
  return {
    held,
    async close() {
      closed = true;
      clearTimeout(timer);
      await Promise.all([checking, release()]);
    },
  };
}
