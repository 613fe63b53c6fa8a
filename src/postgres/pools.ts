/**
 * The connection pools, one per login role, each with its own budget. Requests use `request`, unsafeDb and jobs
 * `system`, the authentication library `auth`.
 * Next hop: `transaction.ts` and `src/crud/statement.ts`, the only users of the request pool.
 */
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Logger } from "pino";
import { serializeQueries } from "../kit/in-turn.ts";
import { traceQueries } from "../telemetry/queries.ts";
import { limitShares } from "./acquire.ts";
import { freeNamesFirst, isDirect, noteDirect } from "./direct.ts";
import { innerOf } from "./driver.ts";
import { closeAfterRefusedWrites, PoolClient } from "./read-only.ts";
import { queryKeeping } from "./refusals.ts";
import { breakIfRowTooLarge, largestRow } from "./row-size.ts";
import { breakConnection, breakIfSilent, keepAlive, silenceAllowed } from "./silence.ts";

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
  /** Request connections that one caller may hold at once. (Default: half of `request`, rounded up) */
  perCaller?: number | undefined;
  /** How long a call waits for a free connection before it gets 503, in milliseconds. */
  waitMs: number;
  /** Cancels a statement after this time, in milliseconds. */
  statementTimeoutMs: number;
  /** The same for generated procedures, which have no transaction to set their own limit. (Default: the same) */
  generatedTimeoutMs?: number | undefined;
  /** Largest row of the request pool, in bytes. (Default: `largestRow`) */
  rowBytes?: number | undefined;
  /** In milliseconds; ends a transaction that is idle while its handler does other work. */
  idleInTransactionMs: number;
  /** Whether statements inside a span get their own span. (Default: false) */
  traced?: boolean;
  /** Whether it leads to a standby, whose refusals of writes are no reason to close connections. (Default: false) */
  standby?: boolean;
}

export interface Pools {
  request: pg.Pool;
  system: pg.Pool;
  auth: pg.Pool;
  /** Closes all connections. Connections still in use are broken: their holders have had time to finish. */
  close(): Promise<void>;
}

/** In milliseconds: how long to wait until holders return their broken connections. */
const givesBackWithin = 250;

const connectionErrors = new WeakMap<object, Error>();

/** The error that broke an idle connection, if there was one. */
export const connectionError = (client: pg.ClientBase): Error | undefined => connectionErrors.get(client);

/** A pool, and a function that closes it. */
export interface OnePool {
  pool: pg.Pool;
  /** As `Pools.close`. */
  close(): Promise<void>;
}

/** The three pools of a process. `createPool` makes a single one. */
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
 * @param name selects the kind of pool and its number of connections
 * @param prepare runs on each new connection before its first use. (Default: sets the statement timeout, if there is
 *   one; on the request pool that of generated procedures, since a transaction sets its own)
 */
export function createPool(
  name: keyof PoolUrls,
  url: string,
  settings: PoolSettings,
  log: Logger,
  prepare = name === "system" ? undefined : limitStatements(timeoutOf(name, settings)),
): OnePool {
  const open = new Set<pg.ClientBase>();
  const pool = new pg.Pool({
    Client: PoolClient,
    connectionString: url,
    max: settings[name],
    connectionTimeoutMillis: settings.waitMs,
    idleTimeoutMillis: 60_000,
    application_name: `svc ${name}`,
    ...keepAlive,
    async onConnect(client) {
      open.add(client);
      client.once("end", () => open.delete(client));
      breakIfSilent(client, silenceAllowed(settings));
      breakIfRowTooLarge(client, (name === "request" ? settings.rowBytes : undefined) ?? largestRow);
      await prepare?.(client);
      if (!isDirect(client)) freeNamesFirst(client);
    },
    // Sends a transaction's first statements in one round trip. `pg` supports it, its types do not yet.
    ...({ pipeline: name === "request" } as object),
  });
  if (name === "request") limitShares(pool, settings.perCaller ?? Math.ceil(settings.request / 2), settings.waitMs);
  if (settings.traced) traceQueries(pool, databaseOf(url));
  pool.query = queryKeeping(pool);
  // An idle connection that breaks (a restart, a failover) is replaced on the next use.
  pool.on("error", (error) => log.warn({ pool: name, reason: error.message }, "idle database connection lost"));
  if (!settings.standby) pool.on("connect", closeAfterRefusedWrites(pool));
  pool.on("connect", (client) => {
    if (name !== "request") serializeQueries(client);
    // Without a listener, an error between two statements of a transaction would end the process. The first error is
    // the reason; "connection terminated" only follows from it.
    client.on("error", (error) => {
      if (!connectionErrors.has(client)) connectionErrors.set(client, error);
    });
  });
  return {
    pool,
    async close() {
      const ended = pool.end();
      // Running statements fail with their connection, and their holders release it. Releasing it here too would do so
      // twice. Even if a holder is late, no connection stays open.
      for (const client of open) breakConnection(client);
      await Promise.race([ended, sleep(givesBackWithin, undefined, { ref: false })]);
    },
  };
}

const timeoutOf = (name: keyof PoolUrls, { statementTimeoutMs, generatedTimeoutMs }: PoolSettings) =>
  name === "request" ? Math.min(statementTimeoutMs, generatedTimeoutMs ?? statementTimeoutMs) : statementTimeoutMs;

const databaseOf = (url: string) => decodeURIComponent(new URL(url).pathname.slice(1));

/**
 * Sets the session's statement timeout before the connection is used. Not behind a pooler: there the setting would stay
 * on a connection that others use, and a pooler's clients have process numbers that no backend has. There the limit
 * inside each transaction applies, and that of the role (sql/roles.sql). Only without a pooler are connections shared.
 */
const limitStatements = (milliseconds: number) => async (client: pg.ClientBase) => {
  const { processID } = innerOf(client);
  const isOwn = `pg_backend_pid() = ${Number(processID)}`;
  const set = `set statement_timeout = ${Number(milliseconds)};`;
  const text = `do $$ begin if ${isOwn} then ${set} end if; end $$; select ${isOwn} as direct`;
  const results = (await client.query(text)) as unknown as pg.QueryResult<{ direct: boolean }>[];
  if (results[1]?.rows[0]?.direct) noteDirect(client);
};
