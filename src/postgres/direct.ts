/** Which connections lead to PostgreSQL without a pooler between. Noted by `pools.ts`. */
import type pg from "pg";

const direct = new WeakSet<pg.ClientBase>();

/** @param client a pipelined connection without a pooler between it and its backend */
export const noteDirect = (client: pg.ClientBase): void => void direct.add(client);

/**
 * Whether nothing stands between. Some poolers lose answers when packets of several holders are under way on a connection.
 * A pooler prepares a statement again on another backend, where a migration may have changed what it answers with.
 */
export const isDirect = (client: pg.ClientBase): boolean => direct.has(client);
