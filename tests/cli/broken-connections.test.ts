// If this file fails, a command that has succeeded ends with an error when its private cluster stops.
import { expect, test, vi } from "vitest";
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
