// If this file fails, a process that receives no revocations trusts its cache, or one that does asks the database on
// every call.
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { type AuthServer, ann, startAuthServer } from "../support/auth-server.ts";
import { database } from "../support/database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";

const db = database();
let proxy: PostgresProxy;
let server: AuthServer;
let user: { id: string; email: string };

/** A server whose listening connection alone goes through the proxy. */
async function start(mode: PostgresProxy["mode"] = "passes"): Promise<void> {
  proxy = await PostgresProxy.start(db.url("replication"));
  proxy.mode = mode;
  server = await startAuthServer(db, { listenUrl: proxy.url });
}
beforeAll(async () => {
  await start();
  user = (await server.signUp()).body.user;
  await stop();
});
const stop = async () => {
  await server.close();
  await proxy.stop();
};
afterEach(stop);

const signIn = async () => (await server.post("/sign-in", { ...ann })).body as { token: string; sessionToken: string };
const bare = (sessionToken: string) => sessionToken.split(".")[0];
const end = (sessionToken: string) => db.sql("delete from auth.session where token = $1", [bare(sessionToken)]);
const hears = (expected: boolean) => expect.poll(() => server.auth.hearsRevocations()).toBe(expected);
const isRemembered = (token: string) =>
  !(server.auth.authenticate({ authorization: `Bearer ${token}` }) instanceof Promise);
async function remembered(token: string): Promise<void> {
  const ask = async () => (await server.caller(token)) !== null && isRemembered(token);
  await expect.poll(ask).toBe(true);
}
/** Connections that the calls took from the pool: one per query. */
async function questions(calls: number, token: string): Promise<number> {
  let count = 0;
  const one = () => void count++;
  server.pool.on("acquire", one);
  for (let call = 0; call < calls; call++) expect(await server.caller(token)).not.toBeNull();
  server.pool.off("acquire", one);
  return count;
}
const warnings = () =>
  server.log.map((line) => JSON.parse(line)).filter(({ level, msg }) => level >= 40 && msg.includes("revocations"));

describe("a process that hears of revocations", () => {
  test.for(["token", "sessionToken"] as const)("asks the database once for a %s", async (kind) => {
    await start();
    const { [kind]: credential } = await signIn();
    await remembered(credential);
    // A process that waited for a second queries again, until it receives notices.
    await expect.poll(() => questions(100, credential)).toBeLessThan(5);
  });

  test("hears before the service answers: the first notice ends every socket", async () => {
    await start();
    const endings: object[] = [];
    server.auth.onEnd((ended) => endings.push(ended));
    await server.auth.listens();
    expect(endings).toEqual([{}]);
    expect(server.auth.hearsRevocations()).toBe(true);
  });

  test("survives notices that nobody should send, and forgets what it knew", async () => {
    await start();
    const { token } = await signIn();
    for (const payload of ["nonsense", "", "null", '"text"', "[]", '{"user":1}', `{"user":"${"x".repeat(7_000)}"}`]) {
      await remembered(token);
      await db.sql(`notify svc_auth, '${payload}'`);
    }
    await expect.poll(() => isRemembered(token)).toBe(true); // the last one names somebody else
    await db.sql("notify svc_auth, '{'");
    await expect.poll(() => isRemembered(token)).toBe(false);
    await remembered(token);
    expect(warnings()).toEqual([]);
  });

  // A promise keeps what each wait adds to it until it is settled: this one took 136 MB a day.
  test("waits for no promise more than once: it would keep something of each heartbeat", async () => {
    const [race, query] = [vi.spyOn(Promise, "race"), vi.spyOn(pg.Client.prototype, "query")];
    try {
      await start();
      const heartbeats = () => query.mock.calls.filter(([text]) => (text as unknown) === "select").length;
      await expect.poll(heartbeats).toBeGreaterThan(2);
      const raced = race.mock.calls.flatMap(([promises]) => [...promises]);
      expect(raced.length).toBeGreaterThan(2);
      expect(new Set(raced).size).toBe(raced.length);
    } finally {
      race.mockRestore();
      query.mockRestore();
    }
  });

  test("leaves no connection behind", async () => {
    const listening = () =>
      db.sql(
        "select from pg_stat_activity where datname = current_database() and application_name = 'svc revocations'",
      );
    await start();
    await hears(true);
    expect(await listening()).toHaveLength(1);
    await server.close();
    await expect.poll(listening).toEqual([]);
    await start(); // for afterEach
  });
});

describe("a process whose listening connection", () => {
  test("has been ended asks the database on every call, and remembers again once it hears", async () => {
    await start();
    const [ended, alive] = [await signIn(), await signIn()];
    await Promise.all([ended.token, ended.sessionToken, alive.token, alive.sessionToken].map(remembered));
    proxy.mode = "refuses";
    await db.sql(
      `select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name = 'svc revocations'`,
    );
    await hears(false);
    await end(ended.sessionToken);
    for (const kind of ["token", "sessionToken"] as const) {
      expect(await server.caller(ended[kind])).toBeNull();
      expect(await questions(20, alive[kind])).toBeGreaterThanOrEqual(20);
      expect(isRemembered(alive[kind])).toBe(false);
    }

    proxy.mode = "passes";
    await hears(true);
    for (const kind of ["token", "sessionToken"] as const) {
      expect(await server.caller(ended[kind])).toBeNull();
      await remembered(alive[kind]);
    }
    expect(warnings()).toHaveLength(1);
  });

  test("breaks and comes back, ten times, never answers 200 after the session has ended", async () => {
    await start();
    for (let round = 0; round < 10; round++) {
      const { token, sessionToken } = await signIn();
      await remembered(token);
      proxy.breakAll();
      await end(sessionToken);
      await hears(false);
      expect(await server.caller(token)).toBeNull();
      await hears(true);
      expect(await server.caller(token)).toBeNull();
    }
  });

  test("falls silent, as when a network dies, does not believe what it remembers, and connects anew", async () => {
    await start();
    const { token, sessionToken } = await signIn();
    await remembered(token);
    proxy.mode = "falls silent";
    await hears(false);
    expect(proxy.open).toBe(1); // that it has not answered in time is enough; nobody has called it broken yet
    await end(sessionToken);
    expect(await server.caller(token)).toBeNull();
    proxy.mode = "passes";
    await hears(true);
    expect(await server.caller(token)).toBeNull();
  });

  test("is tested while PostgreSQL does not commit: that holds one connection of the pool", async () => {
    await start();
    await hears(true);
    const body = (text: string) =>
      db.sql(`create or replace function auth.send_heartbeat(listener text) returns void language sql volatile
        security definer set search_path = '' as $$ ${text} $$`);
    const held = `from pg_stat_activity where state = 'active' and query like '%send_heartbeat($1)%' and pid <> pg_backend_pid()`;
    await body("select pg_catalog.pg_sleep(60)");
    try {
      await hears(false);
      for (let look = 0; look < 40; look++) {
        expect((await db.sql(`select pid ${held}`)).length).toBeLessThanOrEqual(1);
        await sleep(200);
      }
    } finally {
      await body("select pg_catalog.pg_notify('svc_auth_' || send_heartbeat.listener, '')");
      await db.sql(`select pg_terminate_backend(pid) ${held}`);
    }
    await hears(true);
  });

  test("goes through a pooler that keeps notices back: one warning that says what to do, and no token is remembered", async () => {
    await start("keeps notices");
    await server.auth.listens(); // does not wait for what will not come
    const [ended, alive] = [await signIn(), await signIn()];
    await expect.poll(() => proxy.connections).toBeGreaterThan(2);
    expect(await questions(20, alive.token)).toBeGreaterThanOrEqual(20);
    expect(await server.caller(ended.token)).not.toBeNull();
    await end(ended.sessionToken);
    expect(await server.caller(ended.token)).toBeNull();
    expect(server.auth.hearsRevocations()).toBe(false);
    expect(warnings()).toEqual([
      expect.objectContaining({ msg: expect.stringMatching(/PgBouncer.*DATABASE_REPLICATION_URL/) }),
    ]);
  });
});

describe("a look-up that is under way", () => {
  beforeAll(async () => {
    // The real function's result, delayed until the lock is free.
    await db.sql(`
      create or replace function auth.check_session(session_id text, user_id text, version bigint)
      returns table (expires_at timestamptz) language plpgsql volatile as $$
      begin
        select s.expires_at into check_session.expires_at from auth.session s where s.id = check_session.session_id;
        perform pg_advisory_xact_lock_shared(42);
        if check_session.expires_at is not null then return next; end if;
      end $$`);
  });

  /** Lets the lookup of a JWT find its session, and waits. @returns a function that lets it answer */
  async function held(token: string) {
    const lock = await db.connect("admin");
    await lock.query("select pg_advisory_lock(42)");
    const answer = server.caller(token);
    const waiting = () =>
      db.sql(
        `select from pg_locks where locktype = 'advisory' and objid = 42 and not granted
            and database = (select oid from pg_database where datname = current_database())`,
      );
    await expect.poll(waiting).toHaveLength(1);
    return async () => {
      await lock.query("select pg_advisory_unlock(42)");
      return answer;
    };
  }

  test("when the notice comes has its answer given, but not remembered", async () => {
    await start();
    await hears(true);
    const { token, sessionToken } = await signIn();
    const answer = await held(token);
    await end(sessionToken);
    await expect.poll(() => server.log.some((line) => line.includes("tokens have ended"))).toBe(true);
    expect(await answer()).toMatchObject({ user: { id: user.id } });
    expect(await server.caller(token)).toBeNull();
  });

  test("while notices were lost has its answer given, but not remembered", async () => {
    await start();
    await hears(true);
    const { token, sessionToken } = await signIn();
    proxy.mode = "refuses";
    proxy.breakAll();
    await hears(false);
    const answer = await held(token);
    await end(sessionToken);
    proxy.mode = "passes";
    await hears(true);
    expect(await answer()).toMatchObject({ user: { id: user.id } });
    expect(await server.caller(token)).toBeNull();
  });
});
