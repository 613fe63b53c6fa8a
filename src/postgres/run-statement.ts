/** Runs one prepared statement of the platform on a pool of its own, apart from any caller's transaction. */
import type pg from "pg";
import { acquire } from "./acquire.ts";
import { databaseError, isConnectionLoss, isStatementGone } from "./errors.ts";
import { systemIdentity } from "./identity.ts";

export interface Statement extends pg.QueryConfig {
  /**
   * Whether it is safe to send twice, because it only reads or a second run has no effect: after a lost connection it
   * is sent once more. (Default: false)
   */
  repeatable?: true;
}

/** @throws SvcError through the SQLSTATE map; UNAVAILABLE when the database cannot be reached */
export async function runStatement<Row extends pg.QueryResultRow>(pool: pg.Pool, statement: Statement): Promise<Row[]> {
  for (let attempt = 0; ; attempt++) {
    const { client, release } = await acquire(pool);
    try {
      const { rows } = await client.query<Row>(statement);
      release();
      return rows;
    } catch (error) {
      // After a failover the pool may hold a dead connection. The retry takes another one.
      const lost = isConnectionLoss(error);
      const gone = isStatementGone(error);
      release(lost || gone);
      const isRepeated = gone || (lost && statement.repeatable);
      if (!isRepeated || attempt > 0) throw databaseError(error, systemIdentity, "write");
    }
  }
}
