/**
 * Statements of one connection in one packet: `pg` writes each to the socket by itself, and a write costs both sides more
 * than a small statement does. Called by `transaction.ts`; the connections of the request pool are pipelined.
 */
import type { Duplex } from "node:stream";
import type pg from "pg";

/** Holds back what the connection sends until the promises that are ready now have been seen to. */
export function batchWrites(client: pg.ClientBase): void {
  // The types do not know it. A pooler's or a proxy's driver may have none.
  const stream = (client as { connection?: { stream?: Duplex } }).connection?.stream;
  if (!stream) return;
  stream.cork();
  process.nextTick(() => stream.uncork());
}
