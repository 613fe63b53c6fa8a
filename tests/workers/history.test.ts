// If this file fails, what is known of finished jobs is lost, tells what users gave, grows for ever, or costs a
// statement per job.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { procedure } from "../fixture/backend/index.ts";
import { database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const quick = procedure.internal.name("history.quick").handler(() => {});
const fails = procedure.internal.name("history.fails").handler(() => {
  throw new Error("out of paper");
});

const db = database();
const worker = workers(db, apiWith({ procedures: { quick, fails } }));
const folder = await mkdtemp(join(tmpdir(), "svc-history-"));
afterAll(() => rm(folder, { recursive: true }));
const config = {
  ...(await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} })),
  storage: { driver: "disk" as const, dir: folder },
};

/** Starts a worker with these limits, and lets it do all jobs that are due and stop. */
async function work(limits: { finishedJobs?: number | false; finishedJobDays?: number } = {}): Promise<void> {
  const running = await worker({ config: { ...config, limits: { ...config.limits, ...limits } } });
  const due = "select from graphile_worker._private_jobs where run_at <= now() and attempts < max_attempts";
  await until(async () => (await db.sql(due)).length === 0);
  await running.stop();
}

const enqueue = (name: string, count: number, args = "null") =>
  db.sql(
    `select svc_private.add_procedure_job('{"kind": "system"}', $1, $2::json, now(), 'request-7')
       from generate_series(1, $3)`,
    [name, args, count],
  );
const finished = () =>
  db.sql(
    `select job, kind, name, outcome, attempts, run_at <= started_at as waited, duration = finished_at - started_at as took,
            started_at <= finished_at as ended
       from svc.job_history order by entry`,
  );
const told = { kind: "procedure", name: "history.fails", attempts: 10, ms: 1 };
const clear = () => db.sql("truncate svc.job_history, graphile_worker._private_jobs");

test("a done job and a dead one are kept, without what they were given; a failed attempt is not", async () => {
  await enqueue("history.quick", 1, '{"secret": "of ann"}');
  const [{ id } = { id: "" }] = await db.sql<{ id: string }>(
    "select j.id from svc_private.add_procedure_job('{}', 'history.fails', null, now(), null) as j (id)",
  );
  await work();
  const times = { waited: true, took: true, ended: true };
  const done = { kind: "procedure", name: "history.quick", outcome: "done", attempts: 1, ...times };
  expect(await finished()).toEqual([{ job: expect.any(String), ...done }]);

  await db.sql(
    `update graphile_worker._private_jobs set attempts = 9, run_at = now(), payload = '{"procedure":"history.fails","caller":{"kind":"system"}}'
      where id = $1`,
    [id],
  );
  await work();
  expect((await finished())[1]).toEqual({ ...done, job: id, name: "history.fails", outcome: "dead", attempts: 10 });
  expect(JSON.stringify(await db.sql("select * from svc.job_history"))).not.toMatch(/of ann|out of paper|request-7/);
});

test("a job whose last attempt was committed is done, although its worker lost the connection and could not know", async () => {
  await clear();
  const [left, gone] = await db.sql<{ id: string }>(
    "select svc_private.add_procedure_job('{}', 'history.fails', null, now() + interval '1 day', null) as id from generate_series(1, 2)",
  );
  await db.sql("delete from graphile_worker._private_jobs where id = $1", [gone?.id]);
  const now = new Date();
  const asked = [left, gone].map((one) => ({ job: one?.id, outcome: "dead", ...told, run_at: now, started_at: now }));
  await db.pool("system", 1).query("select svc_private.keep_finished_jobs($1, 10)", [JSON.stringify(asked)]);
  const outcomes = Object.fromEntries((await finished()).map(({ job, outcome }) => [job, outcome]));
  expect(outcomes).toEqual({ [left?.id ?? ""]: "dead", [gone?.id ?? ""]: "done" });
  await clear();
});

test("many jobs are written together, at most once a second", async () => {
  await clear();
  await enqueue("history.quick", 300);
  const began = performance.now();
  await work();
  const seconds = (performance.now() - began) / 1_000;
  const [{ rows, transactions } = { rows: 0, transactions: 0 }] = await db.sql<{ rows: number; transactions: number }>(
    "select count(*)::integer as rows, count(distinct xmin::text)::integer as transactions from svc.job_history",
  );
  expect(rows).toBe(300);
  expect(transactions).toBeLessThanOrEqual(seconds + 1);
});

test("the newest limits.finishedJobs stay, whether they are written at once or one after the other", async () => {
  await clear();
  await enqueue("history.quick", 12);
  await work({ finishedJobs: 5 });
  const before = await finished();
  expect(before).toHaveLength(5);
  await enqueue("history.quick", 2);
  await work({ finishedJobs: 5 });
  const after = await finished();
  expect(after).toHaveLength(5);
  expect(after.slice(0, 3)).toEqual(before.slice(2));
  await enqueue("history.quick", 1);
  await work({ finishedJobs: false });
  expect(await finished()).toEqual(after);
});

test("the daily sweep removes those that are older than limits.finishedJobDays", async () => {
  await clear();
  await db.sql(
    `insert into svc.job_history (job, kind, name, outcome, attempts, run_at, started_at, finished_at)
       select n, 'procedure', 'old', 'done', 1, at, at, at
         from (values (1, now() - interval '49 hours'), (2, now() - interval '47 hours')) v (n, at)`,
  );
  await db.sql("select svc_private.keep_sweep_job('0 seconds')");
  await work({ finishedJobDays: 2 });
  expect((await finished()).map(({ job, kind }) => [job, kind])).toEqual([
    ["2", "procedure"],
    [expect.any(String), "sweep-storage"],
  ]);
});

test("a daily sweep that fails at each attempt is followed by that of the next day", async () => {
  await clear();
  const running = await worker();
  await until(async () => (await db.sql("select from graphile_worker._private_jobs")).length > 0); // the sweep it asks for
  await db.sql("alter function svc_private.sweep_conversions(interval, integer) rename to away");
  await db.sql("update graphile_worker._private_jobs set attempts = 2, run_at = now()");
  const failed = "select from graphile_worker._private_jobs where attempts = 3 and locked_at is null";
  await until(async () => (await db.sql(failed)).length > 0).finally(() =>
    db.sql("alter function svc_private.away rename to sweep_conversions"),
  );
  await running.stop();
  const waiting =
    "select run_at > now() + interval '23 hours' as tomorrow, attempts from graphile_worker._private_jobs";
  expect(await db.sql(`${waiting} order by id`)).toEqual([
    { tomorrow: false, attempts: 3 },
    { tomorrow: true, attempts: 0 },
  ]);
});

test("the daily sweep merges the counters of the search index", async () => {
  await db.sql("delete from graphile_worker._private_jobs where key = 'sweep-storage'"); // that of the next day
  await db.sql(
    `with t as (insert into svc_private.search_tables (name, relation, declared_by, definition)
                values ('gone', 0, 'test', '{"fields": ["a"]}') returning id),
          g as (insert into svc_private.search_groups (table_id, corpus, visibility) select id, 'a', 'public' from t returning id)
     insert into svc_private.search_counters (group_id, documents, key) select id, n, 0 from g, (values (1), (-1)) v (n)`,
  );
  await db.sql("select svc_private.keep_sweep_job('0 seconds')");
  await work({});
  expect(await db.sql("select from svc_private.search_counters")).toEqual([]);
});

test("where it cannot be written, jobs are done all the same", async () => {
  await clear();
  await db.sql("alter table svc.job_history rename to away");
  await enqueue("history.quick", 3);
  await work();
  await db.sql("alter table svc.away rename to job_history");
  expect(await db.sql("select from graphile_worker._private_jobs where run_at <= now()")).toEqual([]);
  expect(await finished()).toEqual([]);
});

test.for(["insert into", "update", "delete from"])("no login of a service may %s it", async (verb) => {
  for (const login of ["system", "request"] as const) {
    const client = await db.connect(login);
    const statement = verb === "update" ? "update svc.job_history set name = 'x'" : `${verb} svc.job_history`;
    const text = verb === "insert into" ? `${statement} (job) values (1)` : statement;
    await expect(client.query(text)).rejects.toThrow(/permission denied/);
    await client.end();
  }
});

test("requests do not read it", async () => {
  const client = await db.connect("request");
  for (const role of ["svc_anonymous", "svc_authenticated"]) {
    await client.query(`set role ${role}`);
    await expect(client.query("select from svc.job_history")).rejects.toThrow(/permission denied/);
  }
  await client.end();
});
