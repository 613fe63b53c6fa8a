/** Which connections lead to PostgreSQL without a pooler between, and how the others give names. Noted by `pools.ts`. */
import type pg from "pg";
import { wireOf } from "./driver.ts";

const direct = new WeakSet<pg.ClientBase>();

/** @param client a pipelined connection without a pooler between it and its backend */
export const noteDirect = (client: pg.ClientBase): void => void direct.add(client);

/**
 * Whether nothing stands between. Some poolers lose answers when packets of several holders are under way on a connection.
 * A pooler prepares a statement again on another backend, where a migration may have changed what it answers with.
 */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

/**
 * Frees each name before a statement gets it. PgBouncer takes a name for given although PostgreSQL has refused to prepare
 * the statement, such as in a transaction that has failed, and ends a connection that gives it again:
 * https://github.com/pgbouncer/pgbouncer/blob/pgbouncer_1_24_1/src/prepare.c
 */
export function freeNamesFirst(client: pg.ClientBase): void {
  const connection = wireOf(client);
  const { parse } = connection;
  connection.parse = (statement) => {
    if (statement.name) connection.close({ type: "S", name: statement.name });
    parse.call(connection, statement);
  };
  connection.freesNames = true; // for `packet.ts`, which writes messages itself
}
