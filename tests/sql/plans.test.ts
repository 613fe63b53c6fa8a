// If this file fails, what svc asks the database again and again reads whole tables, and slows down as they grow.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test("who holds jobs, and which of them a worker lost, is found without reading the queue", async () => {
  await db.sql("insert into graphile_worker._private_tasks (identifier) values ('procedure') on conflict do nothing");
  await db.sql(
    `insert into graphile_worker._private_jobs (task_id, run_at, locked_by, locked_at)
       select (select id from graphile_worker._private_tasks where identifier = 'procedure'), now() + interval '1 day',
              case when n % 5000 < 2 then 'worker ' || n % 2 end, case when n % 5000 < 2 then now() - interval '1 minute' end
         from generate_series(1, 20000) n`,
  );
  const client = await db.connect("admin");
  await client.query("begin");
  const dead = await client.query("select worker, rescued from svc_private.rescue_workers('{worker 1}', '0 s')");
  expect(dead.rows).toEqual(
    expect.arrayContaining([
      { worker: "worker 0", rescued: false },
      { worker: "worker 1", rescued: true },
    ]),
  );
  const lost = await client.query("select job from svc_private.return_lost_jobs('worker 0', '{}', '{}')");
  expect(lost.rowCount).toBe(4);
  const read = await client.query(
    "select seq_scan::int as scans from pg_stat_xact_all_tables where relid = 'graphile_worker._private_jobs'::regclass",
  );
  expect(read.rows).toEqual([{ scans: 0 }]);
  await client.query("rollback");
});
