/** Removes old deliveries, once a day. Next hop: `sql/webhooks/sweep_deliveries.sql`. */
import type pg from "pg";

/** @param days how long a delivery is kept that was sent or is dead */
export async function sweepDeliveries(pool: pg.Pool, days: number, signal: AbortSignal): Promise<void> {
  const text = "select svc_private.sweep_deliveries($1) as removed";
  while (!signal.aborted) {
    const { rows } = await pool.query<{ removed: string }>(text, [`${days} days`]);
    if (rows[0]?.removed === "0") return;
  }
}
