// If this file fails, workers claim jobs one by one, get the same job twice, or wait for ever after a claim that failed;
// or a job is lost or doubled when it is queued again.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type pg from "pg";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { createQueuePool, type QueuePool } from "../../workers/queue-pool.ts";
import { database } from "../support/database.ts";
import { root } from "../support/global-setup.ts";

const db = database();
const limits = { statementTimeoutMs: 10_000, idleInTransactionMs: 10_000 };
let queue: QueuePool;
let kinds: number[];
beforeAll(async () => {
  const settings = { request: 1, system: 1, auth: 1, waitMs: 5_000, ...limits };
  queue = createQueuePool(db.url("system"), settings, createLog("silent"));
  await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
});
afterAll(() => queue.close());
beforeEach(async () => {
  await db.sql("truncate graphile_worker._private_jobs");
});

const add = async (args = "{}"): Promise<string> => {
  const [row] = await db.sql(
    `select svc_private.add_procedure_job('{"kind": "user", "userId": "ann"}', 'some.procedure', $1::json, null, null) as id`,
    [args],
  );
  kinds ??= (await db.sql("select id from graphile_worker._private_tasks")).map(({ id }) => id);
  return row?.id;
};

/** As the library asks for a job. */
async function claim(worker = "worker", values: unknown[] = [worker, kinds]): Promise<Record<string, unknown>[]> {
  const client = await queue.forLibrary.connect();
  try {
    return (await client.query({ name: "get_job/graphile_worker", text: "not sent", values })).rows;
  } finally {
    client.release();
  }
}

describe("claims", () => {
  test("that are made while another one is under way go in one statement, and each gets its own job", async () => {
    const ids = [await add(), await add(), await add()];
    const asked = vi.spyOn(queue.pool, "query");
    const claimed = await Promise.all(Array.from({ length: 5 }, () => claim()));
    expect(asked).toHaveBeenCalledTimes(2);
    expect(claimed.flatMap((rows) => rows.map(({ id }) => id)).sort()).toEqual(ids.sort());
    expect(claimed.map((rows) => rows.length)).toEqual([1, 1, 1, 0, 0]);
    asked.mockRestore();
  });

  test("of two workers are held by each", async () => {
    await add();
    await add();
    const [one, two] = await Promise.all([claim("one"), claim("two")]);
    expect([one?.[0]?.locked_by, two?.[0]?.locked_by]).toEqual(["one", "two"]);
  });

  test("bring the user who scheduled the job, as they are now", async () => {
    await add();
    await db.sql(`update auth."user" set name = 'Anna' where id = 'ann'`);
    expect(await claim()).toMatchObject([{ job_user: { name: "Anna", email: "ann@example.com" } }]);
  });

  test("do not fail by a payload that is no text: the worker has to deal with that one alone", async () => {
    const ids = [await add('{"text": "a\\u0000b"}'), await add()];
    const claimed = [...(await claim()), ...(await claim())];
    expect(claimed).toMatchObject([
      { id: ids[0], job_user: null },
      { id: ids[1], job_user: { name: "Anna" } },
    ]);
  });

  test("are not disturbed when the library returns its listening connection twice", async () => {
    const { promise, resolve } = Promise.withResolvers<() => void>();
    queue.forLibrary.connect((_error, _client, release) => resolve(release));
    const release = await promise;
    release();
    expect(release).not.toThrow();
    const id = await add();
    expect(await claim()).toMatchObject([{ id }]);
  });

  test("that fail say so to all who asked, and the next one is answered", async () => {
    const id = await add();
    const failing = Array.from({ length: 3 }, () => claim("worker", ["worker", ["no number"]]));
    const outcomes = await Promise.allSettled(failing);
    const invalid = { status: "rejected", reason: { code: "22P02" } };
    expect(outcomes).toMatchObject([invalid, invalid, invalid]);
    expect(await claim()).toMatchObject([{ id }]);
  });

  test("leave other statements of the library as they are, in transactions too", async () => {
    const client = await queue.forLibrary.connect();
    await client.query("begin");
    await client.query("set local application_name = 'only here'");
    expect((await client.query("show application_name")).rows).toEqual([{ application_name: "only here" }]);
    await client.query("rollback");
    client.release();
    await expect.poll(() => queue.pool.totalCount - queue.pool.idleCount).toBe(0);
  });
});

describe("a job with a key", () => {
  const put = async (payload: string) => {
    const text = "select svc_private.add_job('workflow', $1::json, null, 1000, 'workflow:1') as id";
    return (await db.sql(text, [payload]))[0]?.id;
  };
  const stored = () =>
    db.sql("select payload, key, attempts, max_attempts as most, flags from graphile_worker._private_jobs order by id");

  test("is replaced while it waits, with all of its attempts", async () => {
    const id = await put('{"runId": "a"}');
    await db.sql(`update graphile_worker._private_jobs set attempts = 3, flags = '{"deaths": 2}'`);
    expect(await put('{"runId": "b"}')).toBe(id);
    const expected = { payload: { runId: "b" }, key: "workflow:1", attempts: 0, most: 1000, flags: null };
    expect(await stored()).toEqual([expected]);
  });

  test("is added again while a worker holds it, which may not repeat the first one", async () => {
    await put('{"runId": "a"}');
    await db.sql("update graphile_worker._private_jobs set attempts = 1, locked_by = 'worker', locked_at = now()");
    await put('{"runId": "b"}');
    expect(await stored()).toMatchObject([
      { payload: { runId: "a" }, key: null, attempts: 1000 },
      { payload: { runId: "b" }, key: "workflow:1", attempts: 0 },
    ]);
  });

  test("waits for a worker that is just claiming it, and is not lost", async () => {
    await put('{"runId": "a"}');
    const [ids] = [(await db.sql("select id from graphile_worker._private_tasks")).map(({ id }) => id)];
    const worker = await db.connect("system");
    await worker.query("begin");
    expect((await worker.query("select id from svc_private.claim_job('worker', $1)", [ids])).rows).toHaveLength(1);
    const putting = put('{"runId": "b"}');
    const other = await db.connect("admin");
    const waits = "select from pg_stat_activity where wait_event_type = 'Lock' and query like '%svc_private.add_job%'";
    await expect.poll(async () => (await other.query(waits)).rowCount).toBe(1);
    await worker.query("commit");
    await putting;
    expect(await stored()).toMatchObject([{ key: null }, { payload: { runId: "b" }, key: "workflow:1" }]);
  });
});

test("a job is announced to workers", async () => {
  const listener = await db.connect("system");
  const notices: unknown[] = [];
  listener.on("notification", ({ payload }) => notices.push(JSON.parse(payload ?? "")));
  await listener.query('listen "jobs:insert"');
  await db.sql(
    "select svc_private.add_job('procedure', '{}', null, 1), svc_private.add_job('procedure', '{}', null, 1)",
  );
  await expect.poll(() => notices).toMatchObject([{ count: 1 }, { count: 1 }]);
});

test("a job that runs for longer than four hours stays with its worker", async () => {
  await add();
  await db.sql("update graphile_worker._private_jobs set locked_by = 'a', locked_at = now() - interval '5 hours'");
  // The library's own function, as it calls it.
  const file = join(root, "node_modules/graphile-worker/dist/sql/resetLockedAt.js");
  const { resetLockedAt } = await import(pathToFileURL(file).href);
  const withClient = async (work: (client: pg.PoolClient) => Promise<unknown>) => {
    const client = await queue.forLibrary.connect();
    await work(client).finally(() => client.release());
  };
  const worker = { preparedStatements: true, useNodeTime: false };
  const names = { escapedWorkerSchema: "graphile_worker", workerSchema: "graphile_worker" };
  const options = { ...names, resolvedPreset: { worker } };
  await resetLockedAt(options, Object.assign(withClient, { withRetries: withClient }));
  expect(await db.sql("select locked_by from graphile_worker._private_jobs")).toEqual([{ locked_by: "a" }]);
});
