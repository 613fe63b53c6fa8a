/** Runs one statement as svc_system. The SQL of this folder only calls functions of `sql/storage/`. */
import type pg from "pg";
import { acquire } from "../postgres/acquire.ts";
import { databaseError, isConnectionLoss } from "../postgres/errors.ts";
import { systemIdentity } from "../postgres/identity.ts";

/** @param pool the system's pool @throws SvcError through the SQLSTATE map */
export async function ask<Row extends pg.QueryResultRow>(pool: pg.Pool, question: pg.QueryConfig): Promise<Row[]> {
  const { client, release } = await acquire(pool);
  try {
    const { rows } = await client.query<Row>(question);
    release();
    return rows;
  } catch (error) {
    release(isConnectionLoss(error));
    throw databaseError(error, systemIdentity);
  }
}
