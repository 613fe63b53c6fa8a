/** Runs one prepared statement on the authentication pool. SQL in this folder only calls functions of `sql/auth/`. */
import type pg from "pg";
import { SvcError } from "../kit/svc-error.ts";
import { acquire } from "../postgres/acquire.ts";
import { isConnectionLoss } from "../postgres/errors.ts";

/** A statement that is safe to send twice: it only reads, or a second run has no effect. */
export interface Question {
  name: string;
  text: string;
  values?: unknown[];
}

/** @throws SvcError UNAVAILABLE when the database cannot be reached; other errors are bugs and pass unchanged */
export async function ask<Row extends pg.QueryResultRow>(pool: pg.Pool, question: Question): Promise<Row[]> {
  for (let attempt = 0; ; attempt++) {
    const { client, release } = await acquire(pool);
    try {
      const { rows } = await client.query<Row>(question);
      release();
      return rows;
    } catch (error) {
      // After a failover the pool may hold a dead connection. One retry takes another connection.
      const lost = isConnectionLoss(error);
      release(lost);
      if (!lost) throw error;
      if (attempt > 0) throw new SvcError("UNAVAILABLE", undefined, { retryAfter: 1, cause: error });
    }
  }
}
