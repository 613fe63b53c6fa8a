/**
 * The pools of connections, one per login role, each with its own budget. Requests use `request`, unsafeDb and jobs
 * `system`, the authentication library `auth`.
 * Next hop: `transaction.ts` and `statement.ts`, the only users of the request pool.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";

export interface PoolUrls {
  request: string;
  system: string;
  auth: string;
}

export interface PoolSettings {
  /** Connections per pool. */
  request: number;
  system: number;
  auth: number;
  /** How long a call waits for a free connection before it gets 503, in milliseconds. */
  waitMs: number;
  /** In milliseconds; cancels a statement. */
  statementTimeoutMs: number;
  /** In milliseconds; ends a transaction whose handler is busy elsewhere. */
  idleInTransactionMs: number;
}

export interface Pools {
  request: pg.Pool;
  system: pg.Pool;
  auth: pg.Pool;
  /** Closes all connections. Those still in use are broken: whoever holds one had its time to finish. */
  close(): Promise<void>;
}

/** In milliseconds: what a holder of a broken connection may take to give it back. One that never does is past waiting. */
const givesBackWithin = 250;

const connectionErrors = new WeakMap<object, Error>();

/** Why a connection broke while nobody was asking it anything, if it did. */
export const connectionError = (client: pg.ClientBase): Error | undefined => connectionErrors.get(client);

export function createPools(urls: PoolUrls, settings: PoolSettings, log: Logger): Pools {
  const held = new Set<pg.PoolClient>();
  const create = (name: keyof PoolUrls) => {
    const pool = new pg.Pool({
      connectionString: urls[name],
      max: settings[name],
      connectionTimeoutMillis: settings.waitMs,
      idleTimeoutMillis: 60_000,
      application_name: `svc ${name}`,
      keepAlive: true,
      // Lets a transaction's first statements share one round trip. `pg` knows it, its types do not yet.
      ...({ pipeline: name === "request" } as object),
    });
    // An idle connection that breaks (a restart, a failover) is replaced on the next use.
    pool.on("error", (error) => log.warn({ pool: name, reason: error.message }, "idle database connection lost"));
    pool.on("connect", (client) => {
      // Without a listener, an error that arrives between two statements of a transaction would end the process.
      // The first one says why; "connection terminated" only follows from it.
      client.on("error", (error) => {
        if (!connectionErrors.has(client)) connectionErrors.set(client, error);
      });
      if (name !== "system") limitStatements(client, settings.statementTimeoutMs);
    });
    pool.on("acquire", (client) => held.add(client));
    pool.on("release", (_error, client) => held.delete(client));
    return pool;
  };
  const pools = { request: create("request"), system: create("system"), auth: create("auth") };
  return {
    ...pools,
    async close() {
      const ended = Promise.all(Object.values(pools).map((pool) => pool.end()));
      // What still runs fails with its connection, and gives it back itself: done for it, that would happen twice.
      for (const client of held) destroySocket(client);
      await Promise.race([ended, sleep(givesBackWithin, undefined, { ref: false })]);
      for (const client of held) client.release(true);
      await ended;
    },
  };
}

/** `pg` has no public way to break a connection without a goodbye. */
function destroySocket(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * Statements that the pool's first user sends queue behind this one. Through a transaction-mode PgBouncer it may land on
 * another server connection than they do; hence the limit inside each transaction too, and on the role (sql/roles.sql).
 */
function limitStatements(client: pg.ClientBase, milliseconds: number): void {
  client.query(`set statement_timeout = ${Number(milliseconds)}`).catch(() => {
    // A connection that breaks here fails its user's statement too, and is reported there.
  });
}
