/**
 * Moves waiting work nearer instead of changing the clock, because PostgreSQL's clock is shared. After an hour has
 * passed, a job that was due in an hour is due now. The same holds for sleeps, waits and deadlines of workflows, and
 * for crons. Windows of `context.rateLimit` end earlier.
 */
import type pg from "pg";

/** @param time an interval, as PostgreSQL reads it @throws PostgreSQL's error for an invalid one */
export async function passTime(pool: pg.Pool, time: string): Promise<void> {
  await pool.query(
    `with
       jobs as (update graphile_worker._private_jobs set run_at = run_at - $1::interval),
       steps as (update svc.workflow_steps set due_at = due_at - $1::interval where not is_done),
       counts as (update svc_private.call_counts set ends_at = ends_at - $1::interval),
       crons as (update svc_private.crons set last_slot = last_slot - $1::interval, anchor = anchor - $1::interval)
     update svc.workflow_runs set wake_at = wake_at - $1::interval, deadline = deadline - $1::interval
      where status in ('pending', 'running')`,
    [time],
  );
}
