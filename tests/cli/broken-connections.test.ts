// If this file fails, a command that has succeeded ends with an error when its private cluster stops, or an operator reads a
// stack where a time limit of the database is too short.
import { expect, test, vi } from "vitest";
import { explain } from "../../src/cli/explain.ts";
import { commandPool } from "../../src/cli/inspect.ts";
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
] as const)("%s is told with its remedy and without a stack", async ([, text, message]) => {
  const pool = commandPool(db.url("system"), "svc a command of a test");
  await pool.query("set statement_timeout = 50");
  const error = await pool.query(text).catch((thrown) => thrown);
  await pool.end();
  expect(explain(error, "/nowhere")).toMatch(message);
  expect(explain(error, "/nowhere")).not.toContain("    at ");
});
