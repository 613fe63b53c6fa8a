/**
 * If this file fails, calls, workers and /readyz hang for a quarter of an hour when the host of the database loses its
 * power or its network, also when another server has taken over long ago: nothing closes the connections to it.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { acquire } from "../../src/postgres/acquire.ts";
import { isConnectionLoss } from "../../src/postgres/errors.ts";
import { createPool, type OnePool } from "../../src/postgres/pools.ts";
import { breakIfSilent, silenceAllowed, unlimited } from "../../src/postgres/silence.ts";
import { withClient } from "../../src/postgres/with-client.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { createQueuePool } from "../../workers/queue-pool.ts";
import { procedure } from "../fixture/backend/index.ts";
import { type Database, database } from "../support/database.ts";
import { PostgresProxy } from "../support/postgres-proxy.ts";
import { apiWith, TestService } from "../support/service.ts";
import { Socket } from "../support/sockets.ts";
import { until, workers } from "../support/worker.ts";

const db = database();
/** The shortest silence: the margin alone. */
const limits = { statementTimeoutMs: 1, idleInTransactionMs: 10_000 };
const settings = { request: 2, system: 2, auth: 2, waitMs: 5_000, ...limits };
const log = createLog("silent");
const wait = "select pg_sleep(6)";

const opened: OnePool[] = [];
const pool = (name: "request" | "system" | "auth", url = db.url(name)) => {
  const one = createPool(name, url, settings, log, async () => {}); // without the server's limits
  opened.push(one);
  return one.pool;
};
afterAll(() => Promise.all(opened.map((one) => one.close())));

describe.concurrent("a connection in use that is silent for longer than its statements may take", () => {
  test.for(["request", "system", "auth"] as const)("is broken in the pool %s, and a new one serves", async (name) => {
    const its = pool(name);
    const { client, release } = await acquire(its);
    const error = await client.query(wait).catch((reason) => reason);
    expect(error).toMatchObject({ code: "ETIMEDOUT", message: "PostgreSQL has not answered for 5.001 s" });
    expect(isConnectionLoss(error)).toBe(true);
    release(true);
    expect((await its.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
  });

  test.for(["request", "system"] as const)("is left alone in the pool %s when it has been answered", async (name) => {
    const { client, release } = await acquire(pool(name));
    await client.query("begin");
    await db.sql(wait);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await client.query("commit");
    release();
  });

  test("is left alone if its answer came while this process was stopped", async () => {
    const client = await pool("system").connect();
    breakIfSilent(client, 200);
    const answer = client.query("select 1 as one, pg_sleep(0.05)");
    await new Promise(setImmediate); // it is sent
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    expect((await answer).rows).toMatchObject([{ one: 1 }]);
    client.release();
  });

  test("is broken again after a statement without a limit", async () => {
    const its = createPool("system", db.url("system"), { ...settings, system: 1 }, log);
    opened.push(its);
    await unlimited(its.pool).query("select 1");
    await expect(its.pool.query(wait)).rejects.toMatchObject({ code: "ETIMEDOUT" });
  });

  test("is left alone where statements have no limit: in unsafeDb, and if the limit is switched off", async () => {
    const its = unlimited(pool("system"));
    const client = await its.connect();
    await Promise.all([its.query(wait), client.query(wait)]);
    client.release();
    expect((await its.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    expect(silenceAllowed({ statementTimeoutMs: 0 })).toBe(0);
  });

  test("is left alone if it listens for jobs", async () => {
    const queue = createQueuePool(db.url("system"), settings, log);
    opened.push(queue);
    const [client, release] = await new Promise<[{ query: typeof queue.pool.query }, () => void]>((resolve, reject) =>
      queue.forLibrary.connect((error, one, done) => (one ? resolve([one, done]) : reject(error))),
    );
    await db.sql(wait);
    expect((await client.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    release();
  });
});

/** The kind of a timer in /proc/net/tcp that sends keepalives. */
const keepAlive = 2;

/** By the client's port of a connection, for each side: what its timer is for, and whether it runs out within ten seconds. */
function timersOf(port: number): { kind: number; isSoon: boolean }[] {
  const timers: { kind: number; isSoon: boolean }[] = [];
  for (const line of readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)) {
    const [, local = "", remote = "", , , timer = ""] = line.trim().split(/\s+/);
    if (![local, remote].some((side) => Number.parseInt(side.split(":")[1] ?? "", 16) === port)) continue;
    const [kind = "", hundredths = ""] = timer.split(":");
    timers.push({ kind: Number.parseInt(kind, 16), isSoon: Number.parseInt(hundredths, 16) <= 1_000 });
  }
  return timers;
}

describe("the database's host vanishes", () => {
  let proxy: PostgresProxy;
  let running: TestService;
  const note = procedure.internal.name("silence.note").handler(async () => {
    ran++;
  });
  const later = procedure.mutation
    .name("silence.later")
    .handler(({ context }) => context.scheduler.runAfter(0, "silence.note"));
  let ran = 0;
  const api = apiWith({ procedures: { note, later } });
  const through = {
    get urls() {
      const to = new URL(proxy.url);
      const moved = ([login, url]: [string, string]) => [
        login,
        Object.assign(new URL(url), { hostname: to.hostname, port: to.port }).href,
      ];
      return Object.fromEntries(Object.entries(db.urls).map(moved));
    },
  } as unknown as Database;
  const startWorker = workers(through, api);
  const startDirectWorker = workers(db, api);
  beforeAll(async () => {
    proxy = await PostgresProxy.start(db.url("request"));
    running = new TestService(through, api, { limits: { statementTimeoutMs: 500, idleInTransactionMs: 500 } });
    await running.start();
  });
  afterAll(async () => {
    await running.stop();
    await proxy.stop();
  });

  test("while calls are under way: they get 503, /readyz says so before, and the next calls are served", async () => {
    const ann = await running.signUp("ann");
    const call = () => running.query(ann, "notes.list");
    await Promise.all(Array.from({ length: 10 }, call));
    proxy.mode = "falls silent";
    let answered = 0;
    const calls = Array.from({ length: 10 }, () => call().finally(() => answered++));
    const ready = await running.fetch("/readyz");
    expect([ready.status, ready.body.checks.database, answered]).toEqual([503, "unreachable", 0]);
    expect(new Set((await Promise.all(calls)).map(({ status }) => status))).toEqual(new Set([503]));
    proxy.mode = "passes"; // for new connections: what the others sent is lost
    expect((await call()).status).toBe(200);
    await expect.poll(async () => (await running.fetch("/readyz")).status).toBe(200);
  });

  test("while a worker waits for jobs: it takes them again once there is a server", async () => {
    const worker = await startWorker();
    proxy.mode = "falls silent";
    await db.sql("select pg_sleep(2)"); // it looks for jobs every second
    proxy.mode = "passes";
    const ann = await running.signUp("ann");
    expect((await running.mutate(ann, "silence.later")).status).toBe(200);
    await until(() => ran > 0);
    await worker.stop();
  });

  test("while a worker stops: it ends", async () => {
    const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
    const limits = { ...config.limits, statementTimeoutMs: 0, shutdownMs: 100 }; // without a limit an answer is waited for without end
    const worker = await startWorker({ config: { ...config, limits } });
    proxy.mode = "falls silent";
    await worker.stop();
    proxy.mode = "passes";
  });

  test("before a command ends: it ends, with the error of its work", async () => {
    const command = withClient(through.urls.admin, "svc cut command", async (client) => {
      await client.query("select 1");
      proxy.mode = "falls silent";
      throw new Error("the work failed");
    });
    await expect(command).rejects.toThrow("the work failed");
    proxy.mode = "passes";
  });

  test("while a service with standbys stops: it ends", async () => {
    const limits = { statementTimeoutMs: 0, shutdownMs: 100 };
    const database = { replicas: [db.urls.request] };
    const stopping = new TestService(through, api, { limits, database } as never);
    await stopping.start();
    proxy.mode = "falls silent";
    await db.sql("select pg_sleep(1)"); // it asks the primary for its position ten times a second
    await stopping.stop();
    proxy.mode = "passes";
  });

  test.skipIf(process.platform !== "linux")(
    "while connections wait: the kernels of both sides look for the other after ten seconds",
    async () => {
      const direct = new TestService(db, api, {});
      await direct.start();
      const worker = await startDirectWorker();
      const socket = await Socket.open(direct, null);
      const waiting = ["svc request", "svc system", "svc realtime", `svc ${worker.id}`];
      const ports = async (name: string) =>
        (
          await db.sql("select client_port from pg_stat_activity where application_name = $1 and datname = $2", [
            name,
            db.name,
          ])
        ).map((row) => row.client_port as number);
      await direct.signUp("bob");
      await direct.query(null, "posts.list");
      const soon = { kind: keepAlive, isSoon: true };
      for (const name of waiting) {
        await expect.poll(async () => (await ports(name)).map(timersOf)).toContainEqual([soon, soon]);
      }
      // Of a migration, for example, which holds locks.
      await withClient(db.url("admin"), "svc command", async () => {
        await expect.poll(async () => (await ports("svc command")).map(timersOf)).toEqual([[soon, soon]]);
      });
      socket.websocket.close();
      await worker.stop();
      await direct.stop();
    },
  );
});
