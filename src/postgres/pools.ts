/**
 * The pools of connections, one per login role, each with its own budget. Requests use `request`, unsafeDb and jobs
 * `system`, the authentication library `auth`.
 * Next hop: `transaction.ts` and `src/crud/statement.ts`, the only users of the request pool.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { serializeQueries } from "../kit/in-turn.ts";
import { traceQueries } from "../telemetry/queries.ts";
import { keepAfterRefusals } from "./refusals.ts";
import { limitShares } from "./shares.ts";

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
  /** Connections for requests that one caller may hold at once. (Default: half of `request`, rounded up) */
  perCaller?: number | undefined;
  /** How long a call waits for a free connection before it gets 503, in milliseconds. */
  waitMs: number;
  /** In milliseconds; cancels a statement. */
  statementTimeoutMs: number;
  /** The same for generated procedures, which have no transaction that could say otherwise. (Default: as the others) */
  generatedTimeoutMs?: number | undefined;
  /** In milliseconds; ends a transaction whose handler is busy elsewhere. */
  idleInTransactionMs: number;
  /** Whether statements that run in a span get one of their own. (Default: false) */
  traced?: boolean;
}

export interface Pools {
  request: pg.Pool;
  system: pg.Pool;
  auth: pg.Pool;
  /** Closes all connections. Those still in use are broken: whoever holds one had its time to finish. */
  close(): Promise<void>;
}

/** In milliseconds: how long holders of broken connections are waited for to give them back. */
const givesBackWithin = 250;

const connectionErrors = new WeakMap<object, Error>();

/** Why a connection broke while nobody was asking it anything, if it did. */
export const connectionError = (client: pg.ClientBase): Error | undefined => connectionErrors.get(client);

/** A pool, and the way to close it. */
export interface OnePool {
  pool: pg.Pool;
  /** As `Pools.close`. */
  close(): Promise<void>;
}

/** The three pools of a process. `createPool` makes one alone, for those that want no more. */
export function createPools(urls: PoolUrls, settings: PoolSettings, log: Logger): Pools {
  const request = createPool("request", urls.request, settings, log);
  const system = createPool("system", urls.system, settings, log);
  const auth = createPool("auth", urls.auth, settings, log);
  return {
    request: request.pool,
    system: system.pool,
    auth: auth.pool,
    async close() {
      await Promise.all([request.close(), system.close(), auth.close()]);
    },
  };
}

/**
 * @param name whose kind and number of connections it has
 * @param prepare what is done on each connection before anybody gets it. (Default: the limit of statements, if it has one;
 *                on the requests' pool that of generated procedures, since a transaction sets its own)
 */
export function createPool(
  name: keyof PoolUrls,
  url: string,
  settings: PoolSettings,
  log: Logger,
  prepare = name === "system" ? undefined : limitStatements(timeoutOf(name, settings)),
): OnePool {
  const held = new Set<pg.PoolClient>();
  const pool = new pg.Pool({
    connectionString: url,
    max: settings[name],
    connectionTimeoutMillis: settings.waitMs,
    idleTimeoutMillis: 60_000,
    application_name: `svc ${name}`,
    keepAlive: true,
    ...(prepare && { onConnect: prepare }),
    // Lets a transaction's first statements share one round trip. `pg` knows it, its types do not yet.
    ...({ pipeline: name === "request" } as object),
  });
  if (name === "request") limitShares(pool, settings.perCaller ?? Math.ceil(settings.request / 2), settings.waitMs);
  if (settings.traced) traceQueries(pool, databaseOf(url));
  keepAfterRefusals(pool);
  // An idle connection that breaks (a restart, a failover) is replaced on the next use.
  pool.on("error", (error) => log.warn({ pool: name, reason: error.message }, "idle database connection lost"));
  pool.on("connect", (client) => {
    if (name !== "request") serializeQueries(client);
    // Without a listener, an error that arrives between two statements of a transaction would end the process.
    // The first one says why; "connection terminated" only follows from it.
    client.on("error", (error) => {
      if (!connectionErrors.has(client)) connectionErrors.set(client, error);
    });
  });
  pool.on("acquire", (client) => held.add(client));
  pool.on("release", (_error, client) => held.delete(client));
  return {
    pool,
    async close() {
      const ended = pool.end();
      // What still runs fails with its connection, and gives it back itself: done for it, that would happen twice.
      // However late its holder is, nothing is open any more.
      for (const client of held) destroySocket(client);
      await Promise.race([ended, sleep(givesBackWithin, undefined, { ref: false })]);
    },
  };
}

const timeoutOf = (name: keyof PoolUrls, { statementTimeoutMs, generatedTimeoutMs }: PoolSettings) =>
  name === "request" ? Math.min(statementTimeoutMs, generatedTimeoutMs ?? statementTimeoutMs) : statementTimeoutMs;

const databaseOf = (url: string) => decodeURIComponent(new URL(url).pathname.slice(1));

/** `pg` has no public way to break a connection without a goodbye. */
function destroySocket(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

/**
 * The session's own limit, set before anybody gets the connection. Behind a pooler there is no session of ours: what is set
 * stays on a connection that others use, and a pooler's clients have numbers that no backend has. There hold the limit
 * inside each transaction, and that on the role (sql/roles.sql).
 */
const limitStatements = (milliseconds: number) => async (client: pg.ClientBase) => {
  const { processID } = client as unknown as { processID: number };
  const set = `set statement_timeout = ${Number(milliseconds)};`;
  await client.query(`do $$ begin if pg_backend_pid() = ${Number(processID)} then ${set} end if; end $$`);
};
