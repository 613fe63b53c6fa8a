// If this file fails, svc does not work behind PgBouncer: calls fail, or one user's call is affected by the state that
// another left on a shared connection. Needs PgBouncer 1.21 or newer; skipped with a message without it.
import { eq, sql } from "drizzle-orm";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { Bouncer, findBouncer } from "../../scripts/rehearse/bouncer.ts";
import { examineWays, wayOf } from "../../src/cli/doctor-connections.ts";
import type { DatabaseUrls } from "../../src/cluster/types.ts";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { RequestTransaction } from "../../src/postgres/transaction.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { type Database, database } from "../support/database.ts";
import { apiWith, bearer, TestService } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";

const found = findBouncer();
const missing = "problem" in found ? ` [skipped: ${found.problem}]` : "";

/** So few that calls must share them. */
const connections = 3;

const api = apiWith({
  procedures: {
    note: procedure.internal
      .name("pooled.note")
      .input(z.object({ title: z.string() }))
      .handler(async ({ context, input }) => {
        const { user } = context.auth.requireAuth();
        await context.db.insert(notes).values({ title: input.title, userId: user.id });
      }),
    later: procedure.mutation
      .name("pooled.later")
      .input(z.object({ title: z.string() }))
      .handler(({ context, input }) => context.scheduler.runAfter(0, "pooled.note", input)),
    twice: procedure.mutation
      .name("pooled.twice")
      .input(z.object({ title: z.string(), fail: z.boolean() }))
      .handler(async ({ context, input }) => {
        const { user } = context.auth.requireAuth();
        const row = { title: input.title, userId: user.id };
        await context.db.insert(notes).values(row);
        const others = await context.db.select().from(notes).where(eq(notes.title, input.title));
        if (input.fail) throw new Error("changed my mind");
        return others.length;
      }),
    slow: procedure.query
      .name("pooled.slow")
      .allowAnonymous()
      .handler(({ context }) => context.db.select({ waited: sql`pg_sleep(30)` }).from(sql`(select 1) as one`)),
  },
});

const db = database();
let bouncer: Bouncer;
let through: Record<string, string>;
let running: TestService;
const startWorker = workers(
  {
    get urls() {
      return through;
    },
  } as unknown as Database,
  api,
);

describe.skipIf(missing)(`behind PgBouncer${missing}`, () => {
  const startBouncer = (settings: Record<string, number> = {}) => {
    const urls = Object.entries(db.urls).map(([login, url]) => [login, new URL(url)] as const);
    const { hostname: host, port } = new URL(db.url("request"));
    return Bouncer.start({
      program: "program" in found ? found.program : "",
      server: { host, port: Number(port) },
      passwords: Object.fromEntries(urls.map(([, { username, password }]) => [username, password])),
      databases: {
        shared: { name: db.name, mode: "transaction" },
        session: { name: db.name, mode: "session" },
      },
      settings: { default_pool_size: connections, ...settings },
    });
  };
  const via = (pooler: Bouncer, login: keyof Database["urls"], name: string) => {
    const url = new URL(db.url(login));
    url.port = String(pooler.port);
    url.pathname = name;
    return url.href;
  };
  beforeAll(async () => {
    bouncer = await startBouncer();
    through = {
      request: via(bouncer, "request", "shared"),
      auth: via(bouncer, "auth", "shared"),
      system: via(bouncer, "system", "shared"),
      queue: via(bouncer, "system", "session"),
      replication: via(bouncer, "replication", "session"),
    };
    running = new TestService({ urls: through } as unknown as Database, api, {
      limits: { statementTimeoutMs: 1500 },
      pool: { request: 12, auth: 6, system: 6 },
    });
    await running.start();
  });
  afterAll(async () => {
    await running?.stop();
    await bouncer?.stop();
  });

  test("many calls at once, generated and written, see their own user's rows and no others", async () => {
    const users = await Promise.all(["ann", "bob", "cem"].map((name) => running.signUp(name)));
    const work = users.flatMap((user, index) =>
      Array.from({ length: 8 }, async (_, number) => {
        const title = `${index} ${number}`;
        const fail = number % 5 === 0;
        const [created, twice, list] = await Promise.all([
          running.mutate(user, "notes.create", { title }),
          running.mutate(user, "pooled.twice", { title: `${title} twice`, fail }),
          running.query(user, "notes.list", { limit: 100 }),
        ]);
        expect(created.status).toBe(200);
        expect(twice.status).toBe(fail ? 500 : 200);
        const owners = list.body.json.data.map((row: { userId: string }) => row.userId);
        expect(owners.filter((owner: string) => owner !== user.id)).toEqual([]);
        return created.body.json.userId === user.id;
      }),
    );
    expect(await Promise.all(work)).not.toContain(false);
    for (const user of users) {
      const { body } = await running.query(user, "notes.list", { limit: 100 });
      expect(body.json.total).toBe(8 + 6);
    }
    const backends = "select count(*)::int as n from pg_stat_activity where usename = 'svc_request' and datname = $1";
    expect(await db.sql(backends, [db.name])).toEqual([{ n: connections }]);
  });

  test("a call that PostgreSQL did not prepare, because one before it in its batch had failed, is answered later", async () => {
    const user = await running.signUp("kim");
    const refused = { name: "announcements.create", args: { message: "x" } };
    const later = { name: "notes.update", args: { id: 2 ** 31 - 1, title: "x" } };
    const send = async (...calls: object[]) => {
      const { status, body } = await running.post("/api/batch", { calls }, user);
      return { status, index: body.index };
    };
    expect(await send(refused, later)).toEqual({ status: 403, index: 0 });
    expect(await send({ name: "notes.create", args: { title: "x" } }, later)).toEqual({ status: 404, index: 1 });
  });

  test("a statement's limit holds inside transactions, and stays on no connection that others use", async () => {
    expect((await running.query(null, "pooled.slow")).status).toBe(504);
    const clients = Array.from({ length: connections }, () => new pg.Client({ connectionString: through.request }));
    const limits = await Promise.all(
      clients.map(async (client) => {
        await client.connect();
        await client.query("begin"); // and so each has a connection of its own
        return (await client.query("show statement_timeout")).rows[0].statement_timeout;
      }),
    );
    await Promise.all(clients.map((client) => client.end()));
    expect(limits).toEqual(["1min", "1min", "1min"]); // the role's
  });

  test("jobs run as who enqueued them, and sockets hear of it", async () => {
    const user = await running.signUp("dana");
    const socket = await Socket.open(running, user);
    await socket.subscribe("notes.list");
    const worker = await startWorker();
    await running.mutate(user, "pooled.later", { title: "by a job" });
    await socket.wait({ type: "invalidate", queries: ["notes.list"] });
    const { body } = await running.query(user, "notes.list");
    expect(body.json.data).toMatchObject([{ title: "by a job", userId: user.id }]);
    socket.close();
    await worker.stop();
  });

  test("a handler's statement answers with what its table holds after a migration, on a backend that prepares it anew", async () => {
    const limits = { statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 };
    const own = { request: 1, system: 1, auth: 1, waitMs: 5_000, ...limits };
    const { pool, close } = createPool("request", through.request as string, own, createLog("silent"));
    const size = async () => {
      const transaction = new RequestTransaction(pool, identityOfUser("ann"), "read", limits);
      try {
        const { rows } = await transaction.query({ text: "select size from moved" });
        await transaction.commit();
        return rows[0].size;
      } finally {
        await transaction.rollback();
      }
    };
    await db.sql("create table moved as select 10 as size; grant select on moved to svc_authenticated");
    for (let turn = 0; turn < 3; turn++) expect(await size()).toBe(10);
    await db.sql(`alter table moved alter size type text;
      select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename = 'svc_request'`);
    await expect.poll(size).toBe("10");
    for (let turn = 0; turn < 3; turn++) expect(await size()).toBe("10");
    await close();
  });

  test("svc doctor says which URLs lead through it, and which must not", async () => {
    const urls = { ...through, admin: db.url("admin") } as unknown as DatabaseUrls;
    expect(await examineWays(urls)).toEqual([
      {
        kind: "ok",
        text: "through a pooler in transaction mode: DATABASE_URL, DATABASE_AUTH_URL, DATABASE_SYSTEM_URL",
      },
    ]);
    const wrong = await examineWays({ ...urls, queue: urls.system });
    expect(wrong).toEqual([
      { kind: "wrong", text: expect.stringMatching(/^DATABASE_QUEUE_URL leads through a pooler/) },
    ]);
    expect(await examineWays({ ...db.urls, queue: db.url("system") })).toEqual([]);
    expect(await wayOf(through.queue as string)).toBe("own");

    const forgetful = await startBouncer({ max_prepared_statements: 0 });
    expect(await wayOf(via(forgetful, "request", "shared"))).toBe("forgets");
    await forgetful.stop();
  });

  test("a sign-out ends a JWT that was believed", async () => {
    const user = await running.signUp("eve");
    expect((await running.query(user, "notes.list")).status).toBe(200);
    await running.fetch("/api/auth/sign-out", {
      method: "POST",
      headers: bearer({ ...user, token: user.sessionToken }),
    });
    await until(async () => (await running.query(user, "notes.list")).status === 401);
  });
});
