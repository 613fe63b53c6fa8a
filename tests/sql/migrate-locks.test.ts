// If this file fails, a migration that waits behind a dump or a forgotten transaction stops every call of a running
// service.
import { join } from "node:path";
import { expect, test } from "vitest";
import { migrate } from "../../src/migrate/migrate.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
/** Applies all of sql/ again, and so locks every table with policies exclusively. */
const again = (options: Partial<Parameters<typeof migrate>[0]>) =>
  migrate({
    adminUrl: db.url("admin"),
    platform: root,
    application: join(root, "tests/fixture"),
    again: true,
    lockWaitMs: 100,
    ...options,
  });

test("gives way to whoever uses a table, lets others at it, and comes through when they have ended", async () => {
  const dump = await db.connect("admin");
  await dump.query("begin; lock table auth.session in access share mode");
  const { pid } = (await dump.query("select pg_backend_pid() as pid")).rows[0];

  // While the table stays locked, statements behind the migration must wait.
  const { promise: wayGiven, resolve } = Promise.withResolvers<string>();
  const migration = again({ report: (line) => line.includes("rolled back") && resolve(line) });
  expect(await wayGiven).toContain(`(pid ${pid}, idle in transaction, for `);
  await db.sql("select from auth.session limit 1");

  await dump.query("commit");
  expect(await migration).toContain("platform/sql/policies/auth.session.sql");
});

test("says that it waits for another migration, and comes after it", async () => {
  const other = await db.connect("admin");
  await other.query("begin; lock table auth.session in access share mode"); // the first migration holds its own lock meanwhile
  const { promise: first, resolve: began } = Promise.withResolvers<string>();
  const { promise: second, resolve: waited } = Promise.withResolvers<string>();
  const one = again({ lockWaitMs: 60_000, report: began });
  expect(await first).toContain("applied ");
  const two = again({ report: waited });
  expect(await second).toMatch(
    /^waiting for another migration of this database \(pid \d+, from 127.0.0.1, for \d+ s\)$/,
  );
  // Its process may be frozen.
  await expect(again({ patienceMs: 200 })).rejects.toThrow(
    /^Another migration of this database has not ended \(pid \d+, .*\). Nothing was changed.\n .*pg_terminate_backend/,
  );
  await other.query("commit");
  expect((await Promise.all([one, two])).map(({ length }) => length > 0)).toEqual([true, true]);
});

test("gives way to a call that uses two of its tables, the first of which it has locked", async () => {
  const call = await db.connect("admin");
  await call.query("begin; lock table auth.session in access share mode");
  let answer: Promise<unknown> | undefined;
  const report = (line: string) => {
    if (line.endsWith("policies/auth.account.sql")) answer ??= call.query("select count(*) from auth.account; commit");
  };
  // Of two sessions that wait for each other, PostgreSQL ends the one that notices it first.
  expect(await again({ report, lockWaitMs: undefined })).toContain("platform/sql/policies/auth.session.sql");
  await answer;
});

test("comes through while calls that use two of its tables come without a pause", async () => {
  const call = await db.connect("admin");
  let isOver = false;
  const waits = async () =>
    isOver ||
    (
      await db.sql(
        `select from pg_locks l join pg_stat_activity a using (pid)
          where not l.granted and a.application_name = 'svc migrate' and l.relation = 'auth.session'::regclass`,
      )
    ).length > 0;
  const calls = async () => {
    while (!isOver) {
      await call.query("begin; lock table auth.session in access share mode");
      await expect.poll(waits, { timeout: 60_000 }).toBe(true);
      await call.query("select count(*) from auth.account; commit");
    }
  };
  // It has locked auth.account when it waits for auth.session, unless it has learned from its first attempt. Migrations of other
  // tests lock the same roles, so it may need more than two.
  const migration = again({ lockWaitMs: 60_000, patienceMs: 60_000 }).finally(() => {
    isOver = true;
  });
  const [applied] = await Promise.all([migration, calls()]);
  expect(applied).toContain("platform/sql/policies/auth.session.sql");
});

test("gives way to sessions that use the table that it locks first after a deadlock", async () => {
  const call = await db.connect("admin");
  await call.query("begin; lock table auth.session in access share mode");
  const { promise: second, resolve: tried } = Promise.withResolvers<string>();
  let attempts = 0;
  let isInTheWay = false;
  const report = (line: string) => {
    if (line.endsWith("policies/auth.account.sql") && !isInTheWay) {
      isInTheWay = true;
      void call.query("select count(*) from auth.account; commit; begin; lock table auth.session in access share mode");
    }
    if (line.includes("rolled back") && ++attempts === 2) tried(line);
  };
  const migration = again({ report, lockWaitMs: undefined });
  expect(await Promise.race([second, migration])).toContain("rolled back");
  await call.query("commit");
  expect(await migration).toContain("platform/sql/policies/auth.session.sql");
});

test("gives up when its time is over, says who is in the way, and has changed nothing", async () => {
  const dump = await db.connect("admin");
  await dump.query("set application_name = 'nightly dump'; begin; lock table auth.session in access share mode");
  const before = await db.sql("select path, applied_at from svc_private.applied_sql order by 1");

  // Roles belong to the whole server: another test's migration may block this one for a moment.
  const outcome = () => again({ patienceMs: 0 }).then(() => "came through", String);
  await expect
    .poll(outcome)
    .toMatch(
      /auth\.session\.sql: canceling statement due to lock timeout\n.*nightly dump \(pid \d+, idle in transaction.*Nothing was changed/,
    );
  expect(await db.sql("select path, applied_at from svc_private.applied_sql order by 1")).toEqual(before);
  await dump.query("commit");
});
