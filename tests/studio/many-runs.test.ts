// If this file fails, Studio leaves out runs of workflows, or the step at which one failed, or reads a whole queue for a few jobs.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { studio } from "./test-studio.ts";

const db = database();
const opened = studio(db);
const run = "00000000-0000-4000-8000-000000000001";

test("pages through runs that one transaction has started, which have the same time", async () => {
  await db.sql("insert into svc.workflow_runs (name, version, args) select 'a', 1, '{}' from generate_series(1, 120)");
  const seen = new Set<string>();
  for (let before: string | null = null, pages = 0; pages < 3; pages++) {
    const { runs, next } = await opened.ask("runs", { status: null, name: "a", before });
    for (const { id } of runs) seen.add(id);
    before = next;
  }
  expect(seen.size).toBe(120);
});

test("shows the last steps of a run that has many: the one that failed is among them", async () => {
  await db.sql(`insert into svc.workflow_runs (id, name, version, args) values ('${run}', 'b', 1, '{}')`);
  await db.sql(`insert into svc.workflow_steps (run_id, position, kind, name, is_done)
    select '${run}', i::text, 'step', 'step ' || i, true from generate_series(1, 600) i`);
  const { steps } = await opened.ask("run", { id: run });
  expect([steps.length, steps[0].name, steps.at(-1).name]).toEqual([500, "step 101", "step 600"]);
});

test("finds the few jobs of a state among many others without reading these", async () => {
  await db.sql("insert into graphile_worker._private_tasks (identifier) values ('many')");
  await db.sql(`insert into graphile_worker._private_jobs (task_id, run_at, attempts, max_attempts, locked_at, locked_by)
    select t.id, now() + interval '1 day', case when n < 3 then n else 0 end, 2, lock.at, case when lock.at is not null then 'worker' end
      from graphile_worker._private_tasks t, generate_series(1, 3000) n
     cross join lateral (select case when n = 3 then now() end as at) lock where t.identifier = 'many'`);
  await db.sql("analyze graphile_worker._private_jobs");
  const client = await db.connect("admin");
  const newest = "(select max(id) from graphile_worker._private_jobs)";
  for (const [jobs, found] of [
    ["studio_jobs('failing', 50)", 1],
    ["studio_jobs('dead', 50)", 1],
    ["studio_jobs('running', 50)", 1],
    ["list_jobs('failing', null, 50)", 1],
    ["list_jobs('dead', null, 50)", 1],
    ["list_jobs('running', null, 50)", 1],
    ["list_jobs(null, null, 20)", 20],
    [`list_jobs(null, ${newest}, 1)`, 1],
  ]) {
    await client.query("begin");
    const { rows } = await client.query(
      `select (select count(*)::int from svc_private.${jobs}) as found,
              (select seq_tup_read + coalesce(idx_tup_fetch, 0) < 100 from pg_stat_xact_all_tables
                where relid = 'graphile_worker._private_jobs'::regclass) as few`,
    );
    expect([jobs, ...rows]).toEqual([jobs, { found, few: true }]);
    await client.query("rollback");
  }
});
