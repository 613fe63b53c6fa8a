/**
 * Closes connections to a server that has refused a write: it is a standby, or its operator has closed it to writes. A new
 * connection finds the server that the host's name leads to now, and the settings of now. Called by `pools.ts`.
 */
import type { EventEmitter } from "node:events";
import pg from "pg";

/** read_only_sql_transaction, also of a query that tried to write. */
export const readOnlyState = "25006";

/** Members that the types of `pg` do not have. */
interface Inner {
  connection: EventEmitter;
}
interface InnerPool {
  _clients: pg.Client[];
  _idle: { client: pg.Client }[];
  /** Connections that are closed when they are returned. */
  _expired: WeakSet<pg.ClientBase>;
  _remove(client: pg.Client): void;
}

/** In milliseconds. Reads during such a phase would otherwise pay for each refused write with new connections. */
const sweepsEvery = 1_000;

/** Sessions in which every transaction is read only, unless it says otherwise. */
const closed = new WeakSet<pg.ClientBase>();

/** A connection of the pools. The server says the setting with which a session begins before its first statement. */
export class PoolClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    (this as unknown as Inner).connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
      if (parameterName !== "default_transaction_read_only") return;
      if (parameterValue === "on") closed.add(this);
      else closed.delete(this);
    });
  }
}

/**
 * Of a session that began while the database was closed to writes, a refusal also closes the others that did. Otherwise each of
 * them would refuse a write when the database is open again.
 */
export function closeAfterRefusedWrites(pool: pg.Pool): (client: pg.PoolClient) => void {
  const inner = pool as unknown as InnerPool;
  let swept = Number.NEGATIVE_INFINITY;
  return (client) => {
    (client as unknown as Inner).connection.on("errorMessage", ({ code }: pg.DatabaseError) => {
      if (code !== readOnlyState) return;
      inner._expired.add(client);
      if (!closed.has(client) || performance.now() - swept < sweepsEvery) return;
      swept = performance.now();
      for (const one of inner._clients) if (closed.has(one)) inner._expired.add(one);
      for (const { client: one } of [...inner._idle]) if (closed.has(one)) inner._remove(one);
    });
  };
}
