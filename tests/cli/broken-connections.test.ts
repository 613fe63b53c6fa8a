// If this file fails, a command that has succeeded ends with an error when its private cluster stops, or an operator reads a
// stack where a limit of the database is too low, or a pooler loses prepared statements.
import { expect, test, vi } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { commandPool } from "../../src/cli/inspect.ts";
import { databaseError } from "../../src/postgres/errors.ts";
import { systemIdentity } from "../../src/postgres/identity.ts";
import { database } from "../support/database.ts";

const db = database();

test("a command outlives an idle connection that breaks, and connects anew", async () => {
  const pool = commandPool(db.url("system"), "svc a command of a test");
  const pidOf = async () => (await pool.query("select pg_backend_pid() as pid")).rows[0].pid;
  const pid = await pidOf();
  await db.sql("select pg_terminate_backend($1)", [pid]);
  await vi.waitFor(() => expect(pool.totalCount).toBe(0));
  expect(await pidOf()).not.toBe(pid);
  await pool.end();
});

test.for([
  [
    "statement_timeout",
    "select pg_sleep(10)",
    /^PostgreSQL ended a statement of svc: .* statement timeout.\n.* pg_db_role_setting/,
  ],
  [
    "a lost connection",
    "select pg_terminate_backend(pg_backend_pid())",
    /^The connection to PostgreSQL was lost.*\n.* try again/,
  ],
  // What PostgreSQL answers behind a pooler in transaction mode that does not know prepared statements.
  [
    "a statement that a pooler lost",
    "execute lost",
    /^A pooler .* "lost" does not exist.*\n.*PgBouncer 1\.21 or newer/,
  ],
  [
    "a statement of another client of a pooler",
    "prepare mine as select 1; prepare mine as select 1",
    /^A pooler .* "mine" already exists.*\n.*PgBouncer 1\.21 or newer/,
  ],
] as const)("%s is told with its remedy and without a stack", async ([, text, message]) => {
  const pool = commandPool(db.url("system"), "svc a command of a test");
  await pool.query("set statement_timeout = 50");
  const error = await pool.query(text).catch((thrown) => thrown);
  await pool.end();
  // As the driver throws it, and as a statement of svc does.
  for (const thrown of [error, databaseError(error, systemIdentity)]) {
    expect(explain(thrown, "/nowhere")).toMatch(message);
    expect(explain(thrown, "/nowhere")).not.toContain("    at ");
  }
});

test("a temp_file_limit that is too small is told with its remedy and without a stack", async () => {
  const pool = commandPool(db.url("admin"), "svc a command of a test");
  await pool.query("set temp_file_limit = '64kB'; set work_mem = '64kB'");
  const error = await pool.query("select n from generate_series(1, 100000) n order by -n").catch((thrown) => thrown);
  await pool.end();
  for (const thrown of [error, databaseError(error, systemIdentity)])
    expect(explain(thrown, "/nowhere")).toMatch(
      /^PostgreSQL ended a statement of svc: temporary file size exceeds .*\n.*temp_file_limit of the server.* pg_db_role_setting.*$/,
    );
});

test("the log of a failed call names the pooler, and its answer does not", async () => {
  const pool = commandPool(db.url("system"), "svc a command of a test");
  const error = await pool.query("execute lost").catch((thrown) => thrown);
  await pool.end();
  const { code, hint, cause } = databaseError(error, systemIdentity);
  expect([code, hint, (cause as Error).message]).toEqual([
    "INTERNAL",
    undefined,
    expect.stringMatching(/^A pooler .*PgBouncer 1\.21 or newer/s),
  ]);
});
