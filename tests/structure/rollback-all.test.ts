// If this file fails, a failed test adds an error of its own to the run, or leaves a transaction for which its retry waits.
import { expect, test, vi } from "vitest";
import { database, waitsForLock } from "../support/database.ts";
import { until } from "../support/worker.ts";

const db = database();

test("transactions of a failed test end, those of busy connections after their statement, without a warning", async () => {
  const warned = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
  const [holder, waiter] = await Promise.all([db.connect("admin"), db.connect("admin")]);
  await holder.query("begin; lock table notes");
  await waiter.query("begin");
  const waiting = waiter.query("lock table notes");
  await until(async () => (await db.sql(waitsForLock)).length === 1);
  for (const _failed of ["test", "retry", "another test"]) db.rollbackAll();
  await waiting;
  const open = "select from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'";
  await expect.poll(() => db.sql(open)).toEqual([]);
  expect(warned.mock.calls).toEqual([]);
  warned.mockRestore();
});
