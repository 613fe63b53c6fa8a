/** Which connections lead to PostgreSQL without a pooler between, and how the others give names. Noted by `pools.ts`. */
import type pg from "pg";

const direct = new WeakSet<pg.ClientBase>();

/** @param client a pipelined connection without a pooler between it and its backend */
export const noteDirect = (client: pg.ClientBase): void => void direct.add(client);

/**
 * Whether nothing stands between. Some poolers lose answers when packets of several holders are under way on a connection.
 * A pooler prepares a statement again on another backend, where a migration may have changed what it answers with.
 */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);

/** What `pg` keeps of a connection; its types do not have it. */
interface Wire {
  parse(statement: { name?: string | undefined }): void;
  close(statement: { type: "S"; name: string }): void;
  /** For `packet.ts`, which writes messages itself. */
  freesNames?: boolean;
}

/**
 * Frees each name before a statement gets it. PgBouncer takes a name for given although PostgreSQL has refused to prepare
 * the statement, such as in a transaction that has failed, and ends a connection that gives it again:
 * https://github.com/pgbouncer/pgbouncer/blob/pgbouncer_1_24_1/src/prepare.c
 */
export function freeNamesFirst(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: Wire };
  const { parse } = connection;
  connection.parse = (statement) => {
    if (statement.name) connection.close({ type: "S", name: statement.name });
    parse.call(connection, statement);
  };
  connection.freesNames = true;
}
