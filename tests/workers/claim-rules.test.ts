// If this file fails, a worker gets jobs that it cannot run, jobs out of their order, a job that another worker is claiming,
// or a second job that has killed workers.
import { beforeAll, beforeEach, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
let kinds: number[];
beforeAll(async () => {
  await db.sql("select graphile_worker.add_job('other-kind', '{}'::json)");
  await add();
  kinds = (await db.sql("select id from graphile_worker._private_tasks where identifier = 'procedure'")).map(
    ({ id }) => id,
  );
});
beforeEach(async () => {
  await db.sql("truncate graphile_worker._private_jobs, graphile_worker._private_job_queues");
});

/** Adds a job that was due so many seconds ago. */
async function add(seconds = 0, change: { priority?: number; deaths?: number } = {}): Promise<string> {
  const [row] = await db.sql(
    "select svc_private.add_job('procedure', '{}', now() - make_interval(secs => $1), 10) as id",
    [seconds],
  );
  const flags = change.deaths === undefined ? null : { deaths: change.deaths };
  await db.sql("update graphile_worker._private_jobs set priority = $2, flags = $3 where id = $1", [
    row?.id,
    change.priority ?? 0,
    flags,
  ]);
  return row?.id;
}

const claimed = async (worker = "worker", run = db.sql.bind(db)) => {
  const rows = await run("select id from svc_private.claim_job($1, $2, null)", [worker, kinds]);
  return rows[0]?.id;
};

/** A connection on which a claim that waits for another one fails. */
async function impatient() {
  const client = await db.connect("system");
  await client.query("set lock_timeout = '5s'");
  return async (text: string, values?: unknown[]) => (await client.query(text, values)).rows;
}

test("a worker gets no job of a kind that it does not run", async () => {
  await db.sql("select graphile_worker.add_job('other-kind', '{}'::json)");
  expect(await claimed()).toBeUndefined();
  const id = await add();
  expect(await claimed()).toBe(id);
});

test("the most urgent job is first, then the one that has been due longest", async () => {
  const later = await add(10);
  const first = await add(20);
  const lessUrgent = await add(30, { priority: 1 });
  const urgent = await add(5, { priority: -1 });
  const order = [await claimed(), await claimed(), await claimed(), await claimed()];
  expect(order).toEqual([urgent, first, later, lessUrgent]);
});

test("a job that another worker is just claiming is left to it, without waiting", async () => {
  const [first, second] = [await add(20), await add(10)];
  const other = await db.connect("system");
  const run = await impatient();
  await other.query("begin");
  const claim = "select id from svc_private.claim_job('other', $1, null)";
  expect((await other.query(claim, [kinds])).rows).toEqual([{ id: first }]);
  expect(await claimed("mine", run)).toBe(second);
  expect(await claimed("mine", run)).toBeUndefined();
  await other.query("commit");
});

test("a worker that has a job of which two workers died gets no other one, and still all others", async () => {
  const [deadly, alike] = [await add(30, { deaths: 2 }), await add(20, { deaths: 2 })];
  expect(await claimed()).toBe(deadly);
  expect(await claimed()).toBeUndefined();
  const [harmless, once] = [await add(), await add(1, { deaths: 1 })];
  expect([await claimed(), await claimed()]).toEqual([once, harmless]);
  expect(await claimed()).toBeUndefined();
  // Jobs of which one worker died, or none, keep no worker from taking it.
  await db.sql("update graphile_worker._private_jobs set locked_by = 'second' where id = any ($1)", [[harmless, once]]);
  expect(await claimed("second")).toBe(alike);
});

test("of the jobs of a named queue one runs at a time", async () => {
  const due = "run_at => now() - interval '1 second'";
  const addTo = `select id from graphile_worker.add_job('procedure', '{}'::json, queue_name => $1, ${due})`;
  const [[one], [two], [three]] = [await db.sql(addTo, ["a"]), await db.sql(addTo, ["a"]), await db.sql(addTo, ["b"])];
  const other = await db.connect("system");
  await other.query("begin");
  expect((await other.query("select id from svc_private.claim_job('other', $1, null)", [kinds])).rows).toEqual([one]);
  // Nobody waits for the claim to be committed.
  expect(await claimed("worker", await impatient())).toBeUndefined();
  await other.query("commit");
  expect(await claimed()).toBe(three?.id);
  expect(await claimed()).toBeUndefined();
  await db.sql("select svc.finish_job($1, 'other')", [one?.id]);
  expect(await claimed()).toBe(two?.id);
  // The queue follows its worker: a job that another worker holds does not free it.
  await db.sql("update graphile_worker._private_job_queues set locked_by = 'third' where queue_name = 'a'");
  await db.sql("select svc.finish_job($1, 'worker')", [two?.id]);
  const held = "select queue_name, locked_by from graphile_worker._private_job_queues order by 1";
  expect(await db.sql(held)).toEqual([
    { queue_name: "a", locked_by: "third" },
    { queue_name: "b", locked_by: "worker" },
  ]);
});
