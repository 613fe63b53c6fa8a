// If this file fails, a function of the application that runs DEALLOCATE makes calls of everybody fail, until the connection that
// it ran on is closed; or a transaction that could not begin is told as a missing right.
import { sql } from "drizzle-orm";
import { pino } from "pino";
import { beforeAll, expect, test } from "vitest";
import { identityOfUser } from "../../src/postgres/identity.ts";
import { createPool } from "../../src/postgres/pools.ts";
import { runStatement } from "../../src/postgres/run-statement.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { apiWith, service, type User } from "../support/service.ts";
import { callers } from "./handler-calls.ts";

const forget = procedure.query
  .name("forget")
  .handler(({ context: { db } }) => db.select({ forgot: sql`public.forget()` }).from(sql`(select 1) as one`));
const count = procedure.query.name("count").handler(({ context: { db } }) => db.$count(notes));
const add = procedure.mutation.name("add").handler(async ({ context: { db, auth } }) => {
  await db.insert(notes).values({ title: "x", userId: auth.requireAuth().user.id });
});
const { db, pool, begin } = callers();
const svc = service(db, apiWith({ procedures: { forget, count, add } }), { pool: { request: 1 } });
let ann: User;
beforeAll(async () => {
  await db.sql(
    `create function public.forget() returns int language plpgsql as 'begin execute ''deallocate all''; return 1; end'`,
  );
  ann = await svc.signUp("ann");
});

const calls: [string, () => Promise<{ status: number }>][] = [
  ["a query of a handler", () => svc.query(ann, "count")],
  ["a mutation of a handler", () => svc.mutate(ann, "add")],
  ["a generated list", () => svc.query(ann, "notes.list")],
  ["a generated mutation", () => svc.mutate(ann, "notes.create", { title: "y" })],
];
test.each(calls)("%s works after a function has run DEALLOCATE on its connection", async (_what, call) => {
  for (let turn = 0; turn < 3; turn++) {
    expect(await call()).toMatchObject({ status: 200 });
    expect(await svc.query(ann, "forget")).toMatchObject({ status: 200 });
  }
  expect(await call()).toMatchObject({ status: 200 });
});

test("a transaction on such a connection enqueues no job as the login", async () => {
  const enqueue = "select svc.enqueue_job('noop', '{}', null, now() + interval '1 hour', null)";
  for (let turn = 0; turn < 3; turn++) {
    const transaction = begin(identityOfUser(ann.id), "write");
    await transaction.tryAsLogin({ text: enqueue });
    await transaction.commit();
    await pool().query("deallocate all");
  }
  const users = "select payload::jsonb #>> '{caller,userId}' as user from graphile_worker._private_jobs";
  expect(await db.sql(`${users} where payload::text like '%noop%'`)).toEqual(Array(3).fill({ user: ann.id }));
});

test("statements of the platform work after unsafeDb has discarded those that its connection had", async () => {
  const limits = { waitMs: 5_000, statementTimeoutMs: 5_000, idleInTransactionMs: 5_000 };
  const sizes = { request: 1, system: 1, auth: 1 };
  const { pool: system, close } = createPool(
    "system",
    db.urls.system,
    { ...sizes, ...limits },
    pino({ level: "silent" }),
  );
  try {
    const named = { name: "kept", text: "select 1 as it" };
    for (let turn = 0; turn < 2; turn++) {
      expect(await runStatement(system, named)).toEqual([{ it: 1 }]);
      await system.query("discard all");
    }
    await expect(system.query(named)).rejects.toMatchObject({ code: "26000" });
    expect((await system.query(named)).rows).toEqual([{ it: 1 }]);
  } finally {
    await close();
  }
});
