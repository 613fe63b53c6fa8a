/**
 * Sends several statements of one connection in one packet. `pg` writes each to the socket separately, and a write
 * costs both sides more than a small statement. Called by `transaction.ts`; the connections of the request pool are
 * pipelined.
 */
import type { Duplex } from "node:stream";
import type pg from "pg";

/** The connection's socket, which the types of `pg` lack. */
export const streamOf = (client: pg.ClientBase): Duplex =>
  (client as unknown as { connection: { stream: Duplex } }).connection.stream;

/** Buffers the connection's output until the currently resolved promises have been handled. */
export function batchWrites(client: pg.ClientBase): void {
  const stream = streamOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}
