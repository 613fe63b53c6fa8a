// If this file fails, a server that takes no writes for a while is answered as a mistake of the application, or processes
// keep their connections to it when the primary is back.
import { afterAll, expect, test, vi } from "vitest";
import { sqlState } from "../../src/postgres/errors.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { fixture, svcHere } from "../support/cli.ts";
import { database } from "../support/database.ts";
import { apiWith, service } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

let ran = 0;
const api = apiWith({
  procedures: {
    count: procedure.internal.name("closed.count").handler(async () => {
      ran++;
    }),
    add: procedure.mutation.name("closed.add").handler(async ({ context }) => {
      const { user } = context.auth.requireAuth();
      await context.db.insert(notes).values({ title: "added", userId: user.id });
      await context.scheduler.runAfter(0, "closed.count");
    }),
    slip: procedure.query.name("closed.slip").handler(async ({ context }) => {
      const { user } = context.auth.requireAuth();
      await context.db.insert(notes).values({ title: "a slip", userId: user.id });
    }),
  },
});
const db = database();
const running = service(db, api);
const startWorker = workers(db, api);

/** As an operator does, with connections that begin anew. */
async function close(isClosed: boolean): Promise<void> {
  await db.sql("set default_transaction_read_only = off");
  await db.sql(`alter database ${db.name} set default_transaction_read_only = ${isClosed}`);
  if (!isClosed) return; // the processes keep their connections
  await db.sql(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
}
afterAll(() => close(false));

test("a database that is closed to writes is answered by 503, and used again when it is open", async () => {
  const ann = await running.signUp("ann");
  const worker = await startWorker();
  await close(true);
  let signUps = 0;
  const signUp = () => ({ email: `bob${signUps++}@example.com`, password: "correct horse", name: "Bob" });
  const write = () =>
    Promise.all([
      running.mutate(ann, "notes.create", { title: "created" }),
      running.mutate(ann, "closed.add"),
      running.post("/api/auth/sign-up", signUp()),
    ]);
  await expect.poll(async () => (await running.query(ann, "notes.list")).status).toBe(200);
  for (const { status, body, headers } of await write()) {
    expect([status, body.code, headers.get("retry-after")]).toEqual([503, "UNAVAILABLE", "5"]);
    expect(body.error).toBe("The database takes no changes at the moment.");
  }
  expect((await running.query(ann, "closed.slip")).body.code).toBe("QUERY_WROTE");
  expect((await running.query(ann, "notes.list")).body.json.total).toBe(0);

  const doctor = await svcHere(db, fixture, ["doctor"]);
  expect([doctor.code, doctor.text]).toEqual([1, expect.stringContaining("default_transaction_read_only is on")]);
  const migrate = await svcHere(db, fixture, ["migrate"]);
  expect([migrate.code, migrate.error]).toEqual([1, expect.stringContaining("The server takes no changes")]);

  await close(false);
  await expect.poll(async () => (await write()).map(({ status }) => status)).toEqual([200, 200, 200]);
  await until(() => ran > 0);
  await worker.stop();
});

test("a worker that begins meanwhile tells it once, and takes jobs when the database is open", async () => {
  const ben = await running.signUp("ben");
  await close(true);
  const log = createLog("silent");
  vi.spyOn(log, "child").mockReturnValue(log as never);
  const warned = vi.spyOn(log, "warn");
  const worker = await startWorker({ log });
  const lives = new Set<string>();
  await until(() => lives.add(worker.id).size > 3);
  const told = warned.mock.calls.map(([, text]) => text);
  expect(told.toSorted()).toEqual([
    "could not look for dead workers; trying again",
    "no sweep of stored bytes was enqueued; the next worker will",
    "the worker lost the database; starting again",
  ]);
  await close(false);
  const before = ran;
  const add = () => running.mutate(ben, "closed.add");
  await expect.poll(async () => (await add()).status).toBe(200);
  await until(() => ran > before);
  await worker.stop();
});

test("connections that began meanwhile answer 503 once together when the database is open, and a query that writes closes no other", async () => {
  const settings = {
    request: 1,
    system: 4,
    auth: 1,
    waitMs: 5_000,
    statementTimeoutMs: 5_000,
    idleInTransactionMs: 5_000,
  };
  const write = "select pg_sleep(0.1); insert into written values (1)"; // so that each has its own connection
  await db.sql("create table public.written (n integer)");
  const { pool, close: end } = createPool("system", db.urls.admin, settings, createLog("silent"));
  const all = (text: string) =>
    Promise.all(Array.from({ length: 4 }, () => pool.query(text).then(() => "done", sqlState)));
  let opened = 0;
  pool.on("connect", () => opened++);
  await close(true);
  expect(await all("select pg_sleep(0.1)")).toEqual(Array(4).fill("done"));
  await close(false);
  await expect(pool.query(write)).rejects.toMatchObject({ code: "25006" });
  expect(await all(write)).toEqual(Array(4).fill("done"));
  expect(opened).toBe(8);
  await expect(pool.query(`begin read only; ${write}`)).rejects.toMatchObject({ code: "25006" });
  expect(await all(write)).toEqual(Array(4).fill("done"));
  expect(opened).toBe(9);
  await end();
});
