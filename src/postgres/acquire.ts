/** Takes a connection from a pool, with an error that a caller can act on when there is none in time. */
import type pg from "pg";
import { SvcError } from "../errors/svc-error.ts";

/** A connection on loan. */
export interface Lease {
  client: pg.PoolClient;
  /**
   * Gives it back, or destroys it. This loan's own function, taken when the loan began: `client.release` is replaced
   * at each checkout, so that calling it late would give back somebody else's loan.
   */
  release(destroy?: boolean): void;
}

/**
 * @throws SvcError UNAVAILABLE when no connection became free within the pool's `connectionTimeoutMillis`, or the
 *         database cannot be reached
 */
export async function acquire(pool: pg.Pool): Promise<Lease> {
  try {
    const client = await pool.connect();
    return { client, release: client.release };
  } catch (cause) {
    throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
  }
}
