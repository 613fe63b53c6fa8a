/**
 * Sends several statements of one connection in one packet. `pg` writes each to the socket separately, and a write
 * costs both sides more than a small statement. Called by `transaction.ts`; the connections of the request pool are
 * pipelined.
 */
import type { Duplex } from "node:stream";
import type pg from "pg";
import { type Lease, leave } from "./acquire.ts";
import { end } from "./transaction-statements.ts";

const streamOf = (client: pg.ClientBase) => (client as unknown as { connection: { stream: Duplex } }).connection.stream; // missing in the types

/** Buffers the connection's output until the currently resolved promises have been handled. */
export function batchWrites(client: pg.ClientBase): void {
  const stream = streamOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}

const direct = new WeakSet<pg.ClientBase>();

/** @param client a pipelined connection without a pooler between it and its backend */
export const noteDirect = (client: pg.ClientBase): void => void direct.add(client);

/** Whether packets of several holders may be under way on a connection: some poolers lose answers then. */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

/**
 * Commits a read, which nobody awaits. Where nothing stands in the way, its connection is returned before PostgreSQL has
 * answered: if somebody waits for it, COMMIT and the first statements of the next holder are one packet. A connection that
 * is lost meanwhile fails the next statement on it.
 *
 * @param isBusy whether a statement is under way, for which no next holder should wait
 */
export function commitRead(lease: Lease, isBusy: boolean): void {
  const { client, release } = lease;
  if (isBusy || !direct.has(client)) return void leave(lease, "commit").catch(() => {});
  const stream = streamOf(client);
  stream.cork();
  setImmediate(() => stream.uncork());
  client.query(end.commit).catch(() => {});
  release();
}
