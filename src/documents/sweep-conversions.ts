/** The daily removal of unused conversions, by a job of the workers. Next hop: `sql/documents/sweep_conversions.sql`. */
import type pg from "pg";

/** Conversions that are removed in one transaction: each may have megabytes of text. */
const batch = 100;

/** @param signal stops it between two batches; the next day's does the rest */
export async function sweepConversions(pool: pg.Pool, signal: AbortSignal): Promise<void> {
  for (let removed = batch; removed === batch; ) {
    signal.throwIfAborted();
    const { rows } = await pool.query("select svc_private.sweep_conversions('30 days', $1) as removed", [batch]);
    removed = rows[0].removed;
  }
}
