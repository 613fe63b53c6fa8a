// If this file fails, a worker that was given up ends or postpones the job of another one, or an operator or a user
// changes a job while a worker runs it, or one of somebody else.
import { randomUUID } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database } from "../support/database.ts";

const db = database();
beforeAll(() => db.sql("insert into graphile_worker._private_tasks (identifier) values ('procedure')"));
beforeEach(() => db.sql("truncate graphile_worker._private_jobs"));

interface Job {
  held?: string | null;
  key?: string | null;
  payload?: object;
}

/** Adds a job. @param job.held by which worker. (Default: "b") */
async function add({ held = "b", key = null, payload = {} }: Job = {}): Promise<string> {
  const [row] = await db.sql(
    `insert into graphile_worker._private_jobs (task_id, payload, key, attempts, locked_by, locked_at)
     select id, $1, $2, 1, $3, case when $3::text is not null then now() end
       from graphile_worker._private_tasks where identifier = 'procedure' returning id`,
    [payload, key, held],
  );
  return row?.id;
}
const jobs = () => db.snapshot("graphile_worker._private_jobs");
const answer = async (call: string, ...values: unknown[]) =>
  (await db.sql(`select ${call} as it`, values).catch(({ code }) => [{ it: code }]))[0]?.it;

describe("a job that another worker holds", () => {
  test.each([
    ["svc.finish_job($1, 'a')", "SV409", 0],
    ["svc_private.end_attempts($1, 'a')", null, 1],
    ["svc_private.postpone_job($1, 'a', 'no')", false, 0],
    ["svc_private.remove_replaced_jobs('a', $1)", "0", 0],
  ])("is not changed by %s", async (call, told, left) => {
    const id = await add({ payload: { runId: randomUUID() } });
    const before = await jobs();
    expect(await answer(call, id)).toBe(told);
    expect(await jobs()).toEqual(before);
    await answer(call.replace("'a'", "'b'"), id);
    expect(await jobs()).toHaveLength(left); // another job does the rest of the run
    expect(await jobs()).not.toEqual(before);
  });

  test.each(["svc_private.retry_job($1)", "svc.cancel_job($1)", "svc_private.cancel_any_job($1)"])(
    "is not changed by %s while its worker lives",
    async (call) => {
      const worker = await db.connect("admin");
      await worker.query("select pg_advisory_lock(726502186, hashtext('b'))");
      const payload = { caller: { kind: "user", userId: "ann" } };
      const id = await add({ payload });
      const [waiting, other] = [await add({ held: null, payload }), await add({ held: null })];
      const before = await jobs();
      await db.sql("select set_config('svc.user_id', 'ann', false)");
      expect(await answer(call, id)).toBe(false);
      if (call.includes("cancel_job")) expect(await answer(call, other)).toBe(false); // not Ann's
      expect(await jobs()).toEqual(before);
      expect(await answer(call, waiting)).toBe(true);
      await worker.query("select pg_advisory_unlock_all()");
    },
  );
});

test("the run of a job is not cancelled with it while its worker lives, and is after that", async () => {
  const add = "svc_private.add_run(null, true, 'order', 1, '{}', null, null, null)";
  const run = await answer(add);
  const [job] = await db.sql(
    "update graphile_worker._private_jobs set locked_by = 'b', locked_at = now() where key = 'workflow:' || $1 returning id",
    [run],
  );
  const status = async () => (await db.sql("select status from svc.workflow_runs where id = $1", [run]))[0]?.status;
  const worker = await db.connect("admin");
  await worker.query("select pg_advisory_lock(726502186, hashtext('b'))");
  expect([await answer("svc_private.cancel_any_job($1)", job?.id), await status()]).toEqual([false, "pending"]);
  await worker.query("select pg_advisory_unlock_all()");
  expect([await answer("svc_private.cancel_any_job($1)", job?.id), await status()]).toEqual([true, "cancelled"]);
});

test("the end of a job frees its queue", async () => {
  const id = await add();
  const [queue] = await db.sql(
    `insert into graphile_worker._private_job_queues (queue_name, locked_by, locked_at)
     values ('slow', 'b', now()) returning id`,
  );
  await db.sql("update graphile_worker._private_jobs set job_queue_id = $1", [queue?.id]);
  await answer("svc.finish_job($1, 'b')", id);
  expect(await db.sql("select locked_by, is_available from graphile_worker._private_job_queues")).toEqual([
    { locked_by: null, is_available: true },
  ]);
});

test.each([null, "cron:daily"])("an operator cancels a job with the key %s", async (key) => {
  expect(await answer("svc_private.cancel_any_job($1)", await add({ held: null, key }))).toBe(true);
  expect(await jobs()).toEqual([]);
});

test("only jobs of runs that another job has replaced are removed with their worker", async () => {
  const run = { runId: randomUUID() };
  const left = [await add({ payload: run, held: "a" }), await add({ payload: run, key: "workflow:x" }), await add()];
  const replaced = [await add({ payload: run }), await add({ payload: run })];
  const ids = async () =>
    (await db.sql("select id from graphile_worker._private_jobs order by id")).map(({ id }) => id);
  expect(await answer("svc_private.remove_replaced_jobs('b', $1)", replaced[0])).toBe("1");
  expect(await ids()).toEqual([...left, replaced[1]]);
  expect(await answer("svc_private.remove_replaced_jobs('b')")).toBe("1");
  expect(await ids()).toEqual(left);
});
