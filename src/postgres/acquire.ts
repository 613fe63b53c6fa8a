/** Acquires a connection from a pool, with a useful error if none becomes free in time. */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { sharesOf } from "./shares.ts";

/** A connection on loan. */
export interface Lease {
  client: pg.PoolClient;
  /**
   * Returns the connection, or destroys it. The function of this lease, stored at checkout: `client.release` is
   * replaced at each checkout, so a late call would return another holder's connection.
   */
  release(destroy?: boolean): void;
}

/**
 * @param holder whose share of the pool is used. (Default: none; only the pool's own limit applies)
 * @throws SvcError UNAVAILABLE when no connection became free within the pool's `connectionTimeoutMillis`, when the
 *   holder's share is used up, or when the database cannot be reached
 */
export async function acquire(pool: pg.Pool, holder?: string): Promise<Lease> {
  const shares = holder === undefined ? undefined : sharesOf(pool);
  if (!shares || holder === undefined) return connect(pool);
  const waiting = shares.take(holder);
  if (waiting) await waiting;
  try {
    const client = await pool.connect();
    const { release } = client;
    return {
      client,
      release(destroy) {
        shares.giveBack(holder);
        release(destroy);
      },
    };
  } catch (cause) {
    shares.giveBack(holder);
    throw unavailable(cause);
  }
}

async function connect(pool: pg.Pool): Promise<Lease> {
  try {
    const client = await pool.connect();
    return { client, release: client.release };
  } catch (cause) {
    throw unavailable(cause);
  }
}

const unavailable = (cause: unknown) => new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause });
