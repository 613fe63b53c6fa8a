// If this file fails, a server that takes no writes for a while is answered as a mistake of the application, or processes
// keep their connections to it when the primary is back.
import { afterAll, expect, test, vi } from "vitest";
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
  const signUp = { email: "bob@example.com", password: "correct horse", name: "Bob" };
  const write = () =>
    Promise.all([
      running.mutate(ann, "notes.create", { title: "created" }),
      running.mutate(ann, "closed.add"),
      running.post("/api/auth/sign-up", signUp),
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
