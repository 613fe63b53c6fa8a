/**
 * Keeps connections open after a statement that PostgreSQL refused. The driver's `pool.query` closes the connection after every
 * error: each limit error, locked job or duplicate key in `unsafeDb` would cost a new connection. Called by `pools.ts`.
 */
import type pg from "pg";
import { hasNoPromise, type Query } from "../kit/in-turn.ts";
import { innerOf } from "./driver.ts";
import { isConnectionLoss, isStatementGone, sqlState } from "./errors.ts";
import { type Step, sendStatement } from "./packet.ts";

/** What replaces `pool.query`. Calls with a callback or a cursor are left alone. */
export function queryKeeping(pool: pg.Pool): pg.Pool["query"] {
  const query = pool.query.bind(pool) as unknown as Query;
  const keeping: Query = (...values) =>
    keepAfterRefusal(pool, (client) => (client.query as unknown as Query).apply(client, values));
  const send: Query = (...values) => (hasNoPromise(values) ? query(...values) : keeping(...values));
  return send as unknown as pg.Pool["query"];
}

/**
 * Runs a statement on a connection of the pool, by a packet: a small one costs a fifth less than by the driver's own query.
 *
 * @returns the first column of its row, as text; null without a row
 */
export const queryText = (pool: pg.Pool, statement: Step): Promise<string | null> =>
  keepAfterRefusal(pool, (client) => sendStatement(client, statement));

async function keepAfterRefusal<T>(pool: pg.Pool, send: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  const { release } = client; // this loan's own: the next one has another
  let result: T;
  try {
    result = await send(client);
  } catch (error) {
    if (sqlState(error) === undefined || isConnectionLoss(error) || isStatementGone(error)) release(true);
    else releaseWhenReady(client, release);
    throw error;
  }
  const isLeftOpen = innerOf(client).getTransactionStatus() !== "I";
  release(isLeftOpen);
  if (isLeftOpen) throw new Error(leftOpen);
  return result;
}

/** For authors: on the next loan of the connection, another call's changes would be part of the transaction. */
const leftOpen =
  "A statement has begun a transaction and not ended it, so it was rolled back: the next statement may run on another " +
  "connection. Use unsafeDb.transaction(async (db) => …).";

/** Text with several statements can fail inside a transaction that it began: such a connection cannot be reused. */
function releaseWhenReady(client: pg.PoolClient, release: (destroy?: boolean) => void): void {
  const inner = innerOf(client);
  const leave = () => {
    inner.connection.off("readyForQuery", leave);
    inner.connection.off("end", leave);
    release(!inner.readyForQuery || inner.getTransactionStatus() !== "I");
  };
  if (inner.readyForQuery) leave();
  else for (const event of ["readyForQuery", "end"]) inner.connection.on(event, leave);
}
