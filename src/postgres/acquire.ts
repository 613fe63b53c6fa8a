/** Takes a connection from a pool, with an error that a caller can act on when there is none in time. */
import type pg from "pg";
import { SvcError } from "../errors/svc-error.ts";

/**
 * @throws SvcError UNAVAILABLE when no connection became free within the pool's `connectionTimeoutMillis`, or the
 *         database cannot be reached
 */
export async function acquire(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (cause) {
    throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
  }
}
