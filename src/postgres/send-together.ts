/**
 * Sends several statements of one connection in one packet. `pg` writes each to the socket separately, and a write costs both
 * sides more than a small statement. Called by `transaction.ts`; the connections of the request pool are pipelined.
 */
import type pg from "pg";
import { wireOf } from "./driver.ts";

/** Buffers the connection's output until the currently resolved promises have been handled. */
export function batchWrites(client: pg.ClientBase): void {
  const { stream } = wireOf(client);
  stream.cork();
  process.nextTick(() => stream.uncork());
}
