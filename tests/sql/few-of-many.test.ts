// If this file fails, commands of operators and Studio read whole tables to find a few rows: each takes seconds where a
// million are stored, and `svc jobs tail` reads them each second.
import { beforeAll, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
const id = "00000000-0000-4000-8000-000000000007";

beforeAll(() =>
  db.sql(`
    insert into graphile_worker._private_tasks (identifier) values ('many');
    insert into graphile_worker._private_jobs (task_id, run_at, attempts, max_attempts, locked_at, locked_by)
      select t.id, now() + interval '1 day', case when n < 3 then n else 0 end, 2, case when n = 3 then now() end,
             case when n = 3 then 'worker' end
        from graphile_worker._private_tasks t, generate_series(1, 3000) n where t.identifier = 'many';
    insert into svc.workflow_runs (id, name, version, args, status, finished_at, created_at)
      select case when n = 2990 then '${id}' else gen_random_uuid() end, 'many', 1, '{}',
             case when n = 2990 then 'failed' else 'completed' end, now(), now() - n * interval '1 second'
        from generate_series(1, 3000) n;
    insert into svc.storage_objects (id, name, size, type, sha256, created_at)
      select case when n = 2990 then '${id}' else gen_random_uuid() end, 'many', 1, 'text/plain', repeat('0', 64),
             now() - n * interval '1 second' from generate_series(1, 3000) n;
    insert into svc.webhook_deliveries (id, webhook, source, endpoint, row_key, body, state, ended_at)
      select case when n = 2990 then '${id}' else gen_random_uuid() end, 'many', 'env', 'https://x.test', '1', '{}', 'sent',
             now() - n * interval '1 second' from generate_series(1, 3000) n;
    analyze graphile_worker._private_jobs, svc.workflow_runs, svc.storage_objects, svc.webhook_deliveries`),
);

const jobs = "graphile_worker._private_jobs";
const runs = "svc.workflow_runs";
test.for([
  ["studio_jobs('failing', 50)", jobs, 1],
  ["studio_jobs('dead', 50)", jobs, 1],
  ["studio_jobs('running', 50)", jobs, 1],
  ["list_jobs('failing', null, 50)", jobs, 1],
  ["list_jobs('dead', null, 50)", jobs, 1],
  ["list_jobs('running', null, 50)", jobs, 1],
  ["list_jobs(null, null, 20)", jobs, 20],
  [`list_jobs(null, (select max(id) from ${jobs}), 1)`, jobs, 1],
  ["list_runs('failed', null, 50)", runs, 1],
  [`list_runs(null, '${id}', 1)`, runs, 1],
  ["list_runs(null, null, 20)", runs, 20],
  ["studio_runs('failed', null, null, null, 50)", runs, 1],
  ["studio_runs(null, null, null, null, 20)", runs, 20],
  [`list_storage_objects('${id}', null, 1)`, "svc.storage_objects", 1],
  [`list_deliveries(null, '${id}', null, 1)`, "svc.webhook_deliveries", 1],
  ["list_deliveries(null, null, null, 20)", "svc.webhook_deliveries", 20],
] as const)("svc_private.%s reads few rows", async ([call, table, found]) => {
  const client = await db.connect("admin");
  await client.query("begin");
  const { rows } = await client.query(
    `select (select count(*)::int from svc_private.${call}) as found,
            (select seq_tup_read + coalesce(idx_tup_fetch, 0) < 100 from pg_stat_xact_all_tables
              where relid = '${table}'::regclass) as few`,
  );
  expect(rows).toEqual([{ found, few: true }]);
  await client.query("rollback");
});
