// If this file fails, a later page of runs or of finished jobs reads all pages before it: at a million runs half a second.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();

test.for([
  [
    "svc.workflow_runs",
    `insert into svc.workflow_runs (name, version, args, created_at)
       select 'a', 1, '{}', now() - n * interval '1 second' from generate_series(1, 3000) n`,
    "select created_at || '|' || id as place from svc.workflow_runs order by created_at limit 1 offset 100",
    "select json_array_length(svc.list_workflows(null, null, 10, $1) -> 'items') as found",
  ],
  [
    "svc.job_history",
    `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
       select n, 'a', 'a', 'done', 1, now(), now(), now() from generate_series(1, 3000) n`,
    "select entry as place from svc.job_history order by entry limit 1 offset 100",
    "select count(*)::int as found from svc_private.list_job_history(null, null, null, $1, 10)",
  ],
] as const)("a later page of %s is found without reading the pages before it", async ([table, insert, place, page]) => {
  await db.sql(insert);
  await db.sql(`analyze ${table}`);
  const [late] = await db.sql(place);
  const client = await db.connect("admin");
  // One plan for all pages, as PostgreSQL keeps it after some calls where it looks as cheap.
  await client.query("begin; set local plan_cache_mode = force_generic_plan");
  expect((await client.query(page, [late?.place])).rows).toEqual([{ found: 10 }]);
  const { rows } = await client.query(
    "select seq_tup_read + coalesce(idx_tup_fetch, 0) < 100 as few from pg_stat_xact_all_tables where relid = $1::regclass",
    [table],
  );
  expect(rows).toEqual([{ few: true }]);
  await client.query("rollback");
});
