/** One prepared statement on the authentication pool. SQL of this folder only calls functions of `sql/auth/`. */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import { isConnectionLoss } from "../postgres/errors.ts";

/** A statement that may be sent twice: what is asked here reads, or does nothing the second time. */
export interface Question {
  name: string;
  text: string;
  values?: unknown[];
}

/** @throws SvcError UNAVAILABLE when the database cannot be reached; anything else is a mistake of ours, as it came */
export async function ask<Row extends pg.QueryResultRow>(pool: pg.Pool, question: Question): Promise<Row[]> {
  for (let attempt = 0; ; attempt++) {
    const { client, release } = await acquire(pool);
    try {
      const { rows } = await client.query<Row>(question);
      release();
      return rows;
    } catch (error) {
      // After a failover the pool may hold a connection that is dead already: one more try takes another.
      const lost = isConnectionLoss(error);
      release(lost);
      if (!lost) throw error;
      if (attempt > 0) throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
    }
  }
}
