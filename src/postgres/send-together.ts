/**
 * Sends several statements of one connection in one packet. `pg` writes each to the socket separately, and a write
 * costs both sides more than a small statement. Called by `transaction.ts`; the connections of the request pool are
 * pipelined.
 */
import type { Duplex } from "node:stream";
import type pg from "pg";
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

/** In milliseconds: how long COMMIT of a read waits for the next holder of its connection. */
const holdsBack = 1;

/** By connection: sends the COMMIT that is held back. */
const held = new WeakMap<pg.ClientBase, NodeJS.Timeout>();

/**
 * Writes COMMIT of a read, which nobody awaits, so that its connection can be returned at once. It leaves with the first
 * statements of the next holder: a packet of its own costs both sides as much as a small call. If the connection is lost
 * meanwhile, the next statement on it fails.
 */
export function commitLater(client: pg.ClientBase): void {
  const stream = streamOf(client);
  const send = () => {
    held.delete(client);
    stream.uncork();
  };
  stream.cork();
  held.set(client, setTimeout(send, holdsBack));
  client.query(end.commit).catch(() => {});
}

/** Called with each connection that the pool gives: what is sent in this tick leaves together with a COMMIT that is held back. */
export function sendHeld(client: pg.ClientBase): void {
  const timer = held.get(client);
  if (!timer) return;
  clearTimeout(timer);
  held.delete(client);
  process.nextTick(() => streamOf(client).uncork());
}
