/**
 * Closes connections to a server that has refused a write: it is a standby, or its operator has closed it to writes. A new
 * connection finds the server that the host's name leads to now, and the settings of now. Called by `pools.ts`.
 */
import type { EventEmitter } from "node:events";
import type pg from "pg";

/** read_only_sql_transaction, also of a query that tried to write. */
export const readOnlyState = "25006";

/** Members that the types of `pg` do not have. */
interface Inner {
  connection: EventEmitter;
}
interface InnerPool {
  /** Connections that are closed when they are returned. */
  _expired: WeakSet<pg.PoolClient>;
}

export function closeAfterRefusedWrite(pool: pg.Pool, client: pg.PoolClient): void {
  (client as unknown as Inner).connection.on("errorMessage", ({ code }: pg.DatabaseError) => {
    if (code === readOnlyState) (pool as unknown as InnerPool)._expired.add(client);
  });
}
