/** A separate database for a test file, cloned from the template in a few milliseconds. */
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, afterEach, beforeAll, inject } from "vitest";
import { clone, inDatabase, maintain, platformName, templateName } from "./admin.ts";

export type Login = "request" | "system" | "auth" | "admin" | "replication" | "studioRead" | "studioAct";

export class Database {
  readonly name = `svc_test_${randomBytes(6).toString("hex")}`;
  readonly #clients: pg.Client[] = [];
  readonly #pools: pg.Pool[] = [];

  /** @param template to clone; "template0" gives an empty database, "platform" one without an application */
  async create(template = "application"): Promise<void> {
    const ours: Record<string, string> = { application: templateName(), platform: platformName() };
    const { admin } = inject("urls");
    if (ours[template]) await clone(admin, this.name, ours[template]);
    else await maintain(admin, `create database ${this.name} template ${template}`);
  }

  async drop(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.end()));
    for (const pool of this.#pools) if (!pool.ending) void pool.end();
    for (let attempt = 0; ; attempt++) {
      try {
        await maintain(inject("urls").admin, `drop database if exists ${this.name} with (force)`);
        return;
      } catch (error) {
        // A stopped reader of the log may hold its slot for a moment.
        if (attempt > 50 || (error as { code?: unknown }).code !== "55006") throw error;
        await sleep(100);
      }
    }
  }

  url(login: Login): string {
    return inDatabase(inject("urls")[login], this.name);
  }

  get urls() {
    const { url } = this;
    return Object.fromEntries(
      (["request", "system", "auth", "admin", "replication"] as const).map((login) => [login, url.call(this, login)]),
    ) as Record<Exclude<Login, `studio${string}`>, string>;
  }

  /** The addresses as variables of `svc`. */
  get environment() {
    return {
      DATABASE_URL: this.url("request"),
      DATABASE_SYSTEM_URL: this.url("system"),
      DATABASE_AUTH_URL: this.url("auth"),
      DATABASE_ADMIN_URL: this.url("admin"),
      DATABASE_REPLICATION_URL: this.url("replication"),
    };
  }

  /** A connection as the given login, closed with the database. */
  async connect(login: Login): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url(login) });
    client.on("error", () => {}); // tests kill backends
    await client.connect();
    this.#clients.push(client);
    return client;
  }

  /** A pool as the given login, ended with the database. */
  pool(login: Login, max?: number): pg.Pool {
    const pool = new pg.Pool({ connectionString: this.url(login), ...(max && { max }) });
    // Tests kill backends, and `end()` does not wait for them: the database may go first.
    pool.on("error", () => {});
    pool.on("connect", (client) => client.on("error", () => {}));
    this.#pools.push(pool);
    return pool;
  }

  /**
   * Ends open transactions of this file's connections as soon as their statements have ended. A busy client is left until it has
   * drained: a query behind another that waits makes `pg` warn (`warnings.ts`).
   */
  rollbackAll(): void {
    for (const client of this.#clients) {
      const rollback = () => client.query("rollback").catch(() => {});
      if ((client as { readyForQuery?: boolean }).readyForQuery) rollback();
      else if (client.listenerCount("drain") === 0) client.once("drain", rollback);
    }
  }

  /** Runs one statement as the administrator and returns its rows. Concurrent calls wait for each other. */
  sql<Row extends pg.QueryResultRow = pg.QueryResultRow>(text: string, values?: unknown[]): Promise<Row[]> {
    const run = async () => {
      this.#admin ??= await this.connect("admin");
      return (await this.#admin.query<Row>(text, values)).rows;
    };
    const rows = this.#turn.then(run);
    this.#turn = rows.catch(() => {});
    return rows;
  }
  #admin: pg.Client | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  /** Every row of a table, of all owners, to check that nothing changed. */
  snapshot(table: string): Promise<pg.QueryResultRow[]> {
    return this.sql(`select * from ${table} as t order by t::text`);
  }
}

/** The connections of this database that wait for a lock. */
export const waitsForLock = `select pid from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

/** One clone of the template per test file. Call it at the top of the file. */
export function database(template?: string): Database {
  const db = new Database();
  beforeAll(() => db.create(template));
  // Transactions that a failed test left open would block its retry, and the replication slots of all other files.
  afterEach(({ task }) => {
    if (task.result?.state === "fail") db.rollbackAll();
  });
  afterAll(() => db.drop());
  return db;
}
