/**
 * Closes connections to a server that has refused a write: it is a standby, or its operator has closed it to writes. A new
 * connection finds the server that the host's name leads to now, and the settings of now. Called by `pools.ts`.
 */
import pg from "pg";
import { wireOf } from "./driver.ts";

/** read_only_sql_transaction, also of a query that tried to write. */
export const readOnlyState = "25006";

/** Members that the types of `pg` do not have. */
interface InnerPool {
  _clients: pg.Client[];
  _idle: { client: pg.Client }[];
  /** Connections that are closed when they are returned. */
  _expired: WeakSet<pg.ClientBase>;
  _remove(client: pg.Client): void;
}

/** In milliseconds. Reads during such a phase would otherwise pay for each refused write with new connections. */
const sweepsEvery = 1_000;

/** Why every transaction of a session is read only, unless it says otherwise: the operator's setting, or a standby. */
const reasons = ["default_transaction_read_only", "in_hot_standby"] as const;
type Reason = (typeof reasons)[number];

/** By session, while there is a reason. */
const closed = new WeakMap<pg.ClientBase, Set<Reason>>();
const isClosed = (client: pg.ClientBase) => (closed.get(client)?.size ?? 0) > 0;

/** A connection of the pools. The server says the setting with which a session begins before its first statement. */
export class PoolClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    const own = new Set<Reason>();
    closed.set(this, own);
    wireOf(this).on("parameterStatus", ({ parameterName, parameterValue }) => {
      const reason = reasons.find((name) => name === parameterName);
      if (!reason) return;
      if (parameterValue === "on") own.add(reason);
      else own.delete(reason);
    });
  }
}

/**
 * Of a session that began while the database was closed to writes or on a standby, a refusal also closes the others that did.
 * Otherwise each of them would refuse a write when the database is open again, or the address leads to the primary.
 */
export function closeAfterRefusedWrites(pool: pg.Pool): (client: pg.PoolClient) => void {
  const inner = pool as unknown as InnerPool;
  let swept = Number.NEGATIVE_INFINITY;
  return (client) => {
    wireOf(client).on("errorMessage", ({ code }: pg.DatabaseError) => {
      if (code !== readOnlyState) return;
      inner._expired.add(client);
      if (!isClosed(client) || performance.now() - swept < sweepsEvery) return;
      swept = performance.now();
      for (const one of inner._clients) if (isClosed(one)) inner._expired.add(one);
      for (const { client: one } of [...inner._idle]) if (isClosed(one)) inner._remove(one);
    });
  };
}
