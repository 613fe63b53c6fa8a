/** Takes a connection from a pool, with an error that a caller can act on when there is none in time. */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { sharesOf } from "./shares.ts";

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
 * @param holder in whose share of the pool. (Default: in nobody's, without a limit but the pool's own)
 * @throws SvcError UNAVAILABLE when no connection became free within the pool's `connectionTimeoutMillis`, when the holder
 *         has as many as one may have, or when the database cannot be reached
 */
export async function acquire(pool: pg.Pool, holder?: string): Promise<Lease> {
  const shares = holder === undefined ? undefined : sharesOf(pool);
  if (!shares || holder === undefined) return connect(pool);
  const waiting = shares.take(holder);
  if (waiting) await waiting;
  try {
    const { client, release } = await connect(pool);
    return {
      client,
      release(destroy) {
        shares.giveBack(holder);
        release(destroy);
      },
    };
  } catch (error) {
    shares.giveBack(holder);
    throw error;
  }
}

async function connect(pool: pg.Pool): Promise<Lease> {
  try {
    const client = await pool.connect();
    return { client, release: client.release };
  } catch (cause) {
    throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
  }
}
