/**
 * Checks of `svc doctor` on the connections to PostgreSQL: which URLs lead through a transaction pooler, whether that
 * works for their purpose, and how many connections a process may open.
 * Next hop: docs/how-to/scale.md.
 */
import pg from "pg";
import type { DatabaseUrls } from "../cluster/types.ts";
import type { EffectiveConfig } from "../config/config.ts";
import { sqlState } from "../postgres/errors.ts";
import { withClient } from "../postgres/with-client.ts";

export interface Finding {
  kind: "ok" | "advice" | "wrong";
  text: string;
}

export const ok = (text: string): Finding => ({ kind: "ok", text });
export const advice = (text: string): Finding => ({ kind: "advice", text });
export const wrong = (text: string): Finding => ({ kind: "wrong", text });

/** `own`: a session persists. `shared`: only a transaction does. `forgets`: prepared statements are lost, too. */
export type Way = "own" | "shared" | "forgets";

const variables = {
  request: "DATABASE_URL",
  auth: "DATABASE_AUTH_URL",
  system: "DATABASE_SYSTEM_URL",
  queue: "DATABASE_QUEUE_URL",
  replication: "DATABASE_REPLICATION_URL",
} as const;

/** The features that need a session of their own. */
const needs = {
  queue: "workers are not notified of new jobs, and the lock that marks a worker as alive is in a shared session",
  replication: "revocations are not received, and reading the log may fail",
} as const;

const remedy = "Use PostgreSQL's own address, or a database of the pooler in session mode (deploy/pgbouncer.ini).";

export async function examineWays(urls: DatabaseUrls): Promise<Finding[]> {
  const names = Object.keys(variables) as (keyof typeof variables)[];
  const ways = await Promise.all(names.map(async (name) => [name, await wayOf(urls[name])] as const));
  const findings: Finding[] = [];
  for (const [name, way] of ways) {
    const variable = variables[name];
    if (way === "own") continue;
    if (name === "queue" || name === "replication") {
      findings.push(wrong(`${variable} leads through a pooler in transaction mode: ${needs[name]}.\n  ${remedy}`));
    } else if (way === "forgets") {
      const text = `The pooler of ${variable} does not support named prepared statements: calls fail.`;
      findings.push(wrong(`${text}\n  Use PgBouncer 1.21 or newer with max_prepared_statements above 0.`));
    }
  }
  const pooled = ways.filter(([, way]) => way === "shared").map(([name]) => variables[name]);
  if (findings.length > 0 || pooled.length === 0) return findings;
  return [ok(`through a pooler in transaction mode: ${pooled.join(", ")}`)];
}

/** Connection totals, to set max_connections or the size of a pooler. */
export async function examineConnections(pool: pg.Pool, config: EffectiveConfig): Promise<Finding[]> {
  const { rows } = await pool.query("select current_setting('max_connections')::int as allowed");
  const { request, system, auth } = config.pool;
  const allowed = rows[0].allowed as number;
  const api = request + system + auth + 2; // for the log, and revocations
  const worker = "a worker twice its --concurrency and 8"; // its pools, the queue's four, its lock
  const text = `connections: an API process opens up to ${api}, ${worker}; the server allows ${allowed}`;
  return [api > allowed ? advice(text) : ok(text)];
}

/** Logins and roles belong to the server: the logins of one svc database can open every other one there. */
export async function examineServer(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query<{ name: string }>("select name from svc_private.sibling_databases() as name");
  if (rows.length === 0) return [];
  const names = rows.map(({ name }) => name);
  const shown = names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} more` : names.join(", ");
  return [
    advice(
      `This server has other databases of svc: ${shown}. They share its logins and roles: anyone with this service's ` +
        "URLs can read them too.\n  Give services that must not trust each other separate servers (docs/explanation/roles.md).",
    ),
  ];
}

/** Whether the server takes changes: a name may lead to a standby, and hosts close a database whose disk is full. */
export async function examineWrites(pool: pg.Pool): Promise<Finding[]> {
  const { rows } = await pool.query<{ standby: boolean; closed: boolean; waiting: number; names: string }>(
    `select pg_is_in_recovery() as standby, current_setting('default_transaction_read_only')::boolean as closed,
            current_setting('synchronous_standby_names') as names,
            (select count(*)::integer from pg_stat_activity
              where wait_event = 'SyncRep' and state_change < clock_timestamp() - interval '3 seconds') as waiting`,
  );
  const { waiting = 0, names } = rows[0] ?? {};
  if (waiting > 0) {
    return [
      wrong(
        `Commits wait for a synchronous standby (${names}): calls that write end after 20 s with OUTCOME_UNKNOWN.\n` +
          "  Start the standby, or take its name out of synchronous_standby_names and reload.",
      ),
    ];
  }
  const text = rows[0]?.standby
    ? "DATABASE_SYSTEM_URL leads to a standby, which takes no changes: calls that write get 503.\n  Name the primary."
    : "default_transaction_read_only is on, so the server takes no changes: calls that write get 503.\n" +
      "  Hosts set it when the disk is full: make room, then switch it off.";
  if (rows[0]?.standby || rows[0]?.closed) return [wrong(text)];
  return (await hasRoom(pool)) ? [] : [wrong(full)];
}

const full =
  "PostgreSQL's disk has no room: calls that write get 503, and changes may not arrive.\n" +
  "  Make room, such as by dropping slots that no process reads. Nothing has to be restarted.";

/** Sorts more than fits into memory: its temporary files lie beside the data. A table to try it on would need a right more. */
async function hasRoom(pool: pg.Pool): Promise<boolean> {
  try {
    await pool.query(
      "begin; set local work_mem = '64kB'; select count(*) from (select md5(n::text) as t from generate_series(1, 20000) n order by t) s; commit",
    );
    return true;
  } catch (error) {
    if (sqlState(error) !== diskFull) throw error;
    return false;
  }
}

/** disk_full */
const diskFull = "53100";

/** Whether each of DATABASE_REPLICA_URLS is a standby that can answer queries. */
export async function examineReplicas(urls: readonly string[], primary: Pick<pg.Pool, "query">): Promise<Finding[]> {
  const looks = urls.map((url, index) => {
    const name = `standby ${index + 1} of DATABASE_REPLICA_URLS`;
    return withClient(url, "svc doctor", (client) => examineReplica(client, name, primary), timeouts).catch(
      ({ message }: Error) => [advice(`The ${name} does not answer (${message}): the primary answers instead.`)],
    );
  });
  return (await Promise.all(looks)).flat();
}

async function examineReplica(client: pg.Client, name: string, primary: Pick<pg.Pool, "query">): Promise<Finding[]> {
  const { rows } = await client.query(
    "select pg_is_in_recovery() as standby, current_setting('hot_standby_feedback')::boolean as feedback, pg_last_wal_replay_lsn() as place",
  );
  if (!rows[0].standby) return [advice(`The ${name} is not a standby now: the primary answers.`)];
  const { rows: compared } = await primary.query(
    "select not pg_is_in_recovery() and pg_current_wal_insert_lsn() < $1 as behind",
    [rows[0].place],
  );
  if (compared[0].behind) {
    const strayed = `The ${name} is ahead of the primary: it follows another server, and is never used.`;
    return [wrong(`${strayed}\n  Make it anew from the primary (pg_rewind or pg_basebackup).`)];
  }
  const text =
    `The ${name} does not report which rows its queries need: the primary's vacuum cancels them.\n` +
    "  Set hot_standby_feedback = on there.";
  return [ok(`${name}: it answers`), ...(rows[0].feedback ? [] : [advice(text)])];
}

/** In milliseconds: a connection, and each query. */
const timeouts = { connectionTimeoutMillis: 5_000, query_timeout: 5_000 };
/** Other clients may take the connection under test, so it is repeated. */
const rounds = 5;

/**
 * Detects a pooler. One client reads its backend's pid, and another one begins a transaction. The same pid there means
 * that connections are shared; the first client's next statement then runs on another backend.
 *
 * @throws the database's or the network's error when there is no connection
 */
export async function wayOf(connectionString: string): Promise<Way> {
  const settings = { connectionString, ...timeouts };
  const [asking, taking] = [new pg.Client(settings), new pg.Client(settings)];
  for (const client of [asking, taking]) client.on("error", () => {}); // the query itself fails
  const backend = { name: "svc_backend", text: "select pg_backend_pid() as pid" };
  try {
    await Promise.all([asking.connect(), taking.connect()]);
    for (let round = 0; round < rounds; round++) {
      const first = await asking.query(backend);
      await taking.query("begin");
      const second = await taking.query("select pg_backend_pid() as pid");
      if (first.rows[0].pid === second.rows[0].pid) return await remembers(asking, backend);
      await taking.query("rollback");
    }
    return "own";
  } finally {
    await Promise.all([asking.end(), taking.end()]);
  }
}

/** invalid_sql_statement_name */
const unknownStatement = "26000";

async function remembers(client: pg.Client, statement: pg.QueryConfig): Promise<Way> {
  try {
    await client.query(statement);
    return "shared";
  } catch (error) {
    // A pooler with a single connection makes it wait, which proves nothing.
    return (error as { code?: string }).code === unknownStatement ? "forgets" : "shared";
  }
}
