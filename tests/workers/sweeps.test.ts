// If this file fails, the daily sweep removes a great number of rows in one transaction, which holds their locks until all are
// gone; or it leaves some.
import { expect, test } from "vitest";
import { database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const db = database();
const startWorker = workers(db, apiWith());
const counted = async (table: string) => Number((await db.sql(`select count(*) from ${table}`))[0]?.count);
const history = (count: number) =>
  db.sql(
    `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
      select n, 'procedure', 'old', 'done', 1, at, at, at
        from generate_series(1, $1) n cross join (select now() - interval '1 year' as at) t`,
    [count],
  );
/** Of deleted files. */
const conversions = (count: number, age: string) =>
  db.sql(
    `insert into svc_private.document_conversions (sha256, options, result, used_at)
      select lpad(to_hex(n), 64, '0'), $2::text, '{}', now() - $2::text::interval from generate_series(1, $1) n`,
    [count, age],
  );

test("one call removes up to its limit", async () => {
  await history(3);
  const old = "select svc_private.sweep_job_history('1 day', 2) as removed";
  expect([await db.sql(old), await db.sql(old)]).toEqual([[{ removed: 2 }], [{ removed: 1 }]]);
  await conversions(2, "2 months");
  await conversions(3, "2 days");
  await conversions(1, "2 hours");
  const unused = "select svc_private.sweep_conversions('30 days', 2) as removed";
  const removed = [await db.sql(unused), await db.sql(unused), await db.sql(unused)];
  expect(removed.flat().map((row) => row.removed)).toEqual([2, 2, 1]);
  expect(await counted("svc_private.document_conversions")).toBe(1);
});

// Each time a nested loop executes a sub-select that skips locked and deleted rows, it finds the next ones.
test.for([
  [
    "insert into svc_private.kept_answers (user_id, key, call, kept_at) select 'ann', n, 'x', at",
    "svc_private.sweep_answers(2)",
  ],
  [
    "insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at) select n, 'a', 'a', 'done', 1, at, at, at",
    "svc_private.sweep_job_history('1 day', 2)",
  ],
  ["insert into auth.session (id, user_id, token, expires_at) select n, 'ann', n, at", "auth.sweep(2)"],
  ["insert into auth.verification (id, identifier, value, expires_at) select n, 'a', 'a', at", "auth.sweep(2)"],
  [
    "insert into svc.storage_uploads (id, name, type, size, expires_at) select gen_random_uuid(), 'a', 'text/plain', 1, at",
    "count(*) from svc_private.expire_uploads(2)",
  ],
  [
    "insert into svc.webhook_deliveries (webhook, source, endpoint, row_key, body, state, ended_at) select 'a', 'env', 'a', n, '{}', 'sent', at",
    "svc_private.sweep_deliveries('1 day', 2)",
  ],
])("a nested loop removes no more than the limit: %s", async ([insert, sweep]) => {
  const client = await db.connect("admin");
  await client.query(`begin; set local session_replication_role = replica; set local enable_hashjoin = off;
    set local enable_mergejoin = off; set local enable_hashagg = off; set local enable_sort = off; set local enable_material = off;
    ${insert} from generate_series(1, 5) n cross join (select now() - interval '1 year' as at) t`);
  const { rows } = await client.query({ text: `select ${sweep}`, rowMode: "array" });
  expect(Number(rows[0]?.[0])).toBe(2);
  await client.query("rollback");
});

test("one that is in use is left for the next time, and not waited for", async () => {
  await conversions(1, "3 months");
  const user = await db.connect("system");
  await user.query("begin; select from svc_private.document_conversions where options = '3 months' for update");
  expect(await db.sql("select svc_private.sweep_conversions('30 days', 2) as removed")).toEqual([{ removed: 0 }]);
  await user.query("update svc_private.document_conversions set used_at = now() where options = '3 months'; commit");
  expect(await db.sql("select svc_private.sweep_conversions('30 days', 2) as removed")).toEqual([{ removed: 0 }]);
});

test("checkpoints of runs that wait are read once, and not for each conversion of a deleted file", async () => {
  await conversions(300, "5 days");
  const [held] = await db.sql<{ id: string }>(
    "select id from svc_private.document_conversions where options = '5 days' limit 1",
  );
  await db.sql(
    `with runs as (
       insert into svc.workflow_runs (name, version, args, status, wait_marker)
       select 'approve', 1, '{}', 'pending', 'wait:approval' from generate_series(1, 100) returning id)
     insert into svc.workflow_steps (run_id, position, kind, name, is_done, result)
     select id, '0', 'step', 'document.convert', true,
            json_build_object('json', json_build_object('conversionId', case row_number() over () when 1 then $1 else gen_random_uuid() end))
       from runs`,
    [held?.id],
  );
  const client = await db.connect("admin");
  // At a million rows PostgreSQL has joined by a nested loop, whose inner side were all of these checkpoints.
  await client.query("begin; set local enable_hashjoin = off; set local enable_mergejoin = off");
  const { rows } = await client.query("select svc_private.sweep_conversions('30 days', 1000) as removed");
  expect(rows).toEqual([{ removed: 299 }]);
  const { rows: read } = await client.query(
    "select seq_tup_read + coalesce(idx_tup_fetch, 0) <= 200 as once from pg_stat_xact_all_tables where relid = 'svc.workflow_steps'::regclass",
  );
  expect(read).toEqual([{ once: true }]);
  await client.query("rollback");
});

test("the daily sweep removes more than one call does", async () => {
  await history(2_500);
  await conversions(350, "4 months");
  await db.sql("select svc_private.keep_sweep_job('0 seconds')"); // the worker adds one in an hour if there is none
  const worker = await startWorker();
  const left = async () =>
    (await db.sql("select from svc_private.document_conversions where options = '4 months'")).length;
  await until(async () => (await left()) === 0);
  await until(async () => (await db.sql("select from svc.job_history where name = 'old'")).length === 0);
  await worker.stop();
});
