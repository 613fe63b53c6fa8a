// If this file fails, jobs of workers that died wait for hours, where PostgreSQL's clock was ahead and has been set back.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

/** What the server says of its start, in this database. */
const startedAt = (time: string) =>
  db.sql(
    `create or replace function pg_catalog.pg_postmaster_start_time() returns timestamptz language sql as
       'select clock_timestamp() + interval ''${time}'''`,
  );

test("jobs of dead workers are given back on a server that started while its clock was ahead", async () => {
  await db.sql("select svc_private.add_procedure_job('{}', 'any', null, now(), null)");
  await db.sql("update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now()");
  // A session plans the function only once.
  const rescue = async () =>
    (
      await (
        await db.connect("system")
      ).query("select rescued from svc_private.rescue_workers('{killed}', '10 seconds')")
    ).rows;
  await startedAt("-9 seconds");
  expect(await rescue()).toEqual([]);
  await startedAt("1 hour");
  expect(await rescue()).toEqual([{ rescued: true }]);
});
