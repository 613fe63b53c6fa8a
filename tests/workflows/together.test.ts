// If this file fails, calls of runs that go to PostgreSQL together wait for each other, fail with each other, or happen
// twice.
import type pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
import { RunCalls } from "../../src/workflows/run-calls.ts";
import { database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const db = database();
const three = workflow("together.three", {
  handler: async (wf) => {
    let sum = 0;
    for (let index = 0; index < 3; index++) sum += await wf.step(`step ${index}`, () => index);
    return sum;
  },
});
const single = workflow("together.single", {
  concurrency: 1,
  handler: (wf) => wf.step("alone", () => 1),
});
const worker = workers(db, apiWith({ workflows: { three, single } }));

beforeAll(async () => {
  // Counts the calls of each statement, and lets others come meanwhile.
  await db.sql(`
    create table public.together (calls integer not null, nulls integer not null);
    create schema counted;
    alter function svc_private.advance_runs(json) set schema counted;
    create function svc_private.advance_runs(calls json) returns json language plpgsql security definer as $$
    declare answers constant json := counted.advance_runs(calls);
    begin
      perform pg_sleep(0.02);
      insert into public.together
        values (json_array_length(calls), (select count(*) from json_array_elements(answers) a where a::text = 'null'));
      return answers;
    end $$;
    grant execute on function svc_private.advance_runs(json) to svc_system`);
});
beforeEach(() => db.sql("truncate public.together, svc.workflow_runs cascade"));

/** A run that a worker holds, and the number of its claim. */
async function held(limit: number | null = null): Promise<{ run: string; fence: number }> {
  const [made] = await db.sql<{ run: string }>(
    "select svc_private.add_run(null, true, 'together.three', 1, '{\"json\": {}}', null, null, $1) as run",
    [limit],
  );
  const run = made?.run as string;
  const [claim] = await db.sql<{ fence: string }>("select svc_private.claim_run($1) ->> 'fence' as fence", [run]);
  return { run, fence: Number(claim?.fence) };
}
const step = (one: { run: string; fence: number }, place = "0") =>
  ({
    kind: "step",
    ...one,
    place,
    step: "s",
    result: '{"json":1}',
    failure: null,
    began: new Date().toISOString(),
  }) as const;
const stored = (run: string) =>
  db.sql("select position, result from svc.workflow_steps where run_id = $1 order by seq", [run]);
const sizes = async () =>
  (await db.sql<{ calls: number }>("select calls from public.together")).map(({ calls }) => calls);
const never = () => Promise.reject(new Error("was made alone"));
/** A call that is made alone and two statements are under way, so that what comes next goes together. */
async function busy(calls: RunCalls): Promise<{ ended: Promise<unknown> }> {
  const [one, two] = [await held(), await held()];
  const ending = oneAlone(calls);
  const ended = Promise.all([calls.make(step(one), never), calls.make(step(two), never)]);
  return { ended: ended.finally(ending) };
}
/** The next calls find it under way. @returns ends it */
function oneAlone(calls: RunCalls): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  void calls.make({ kind: "claim", run: "none" }, () => promise);
  return resolve;
}

test("runs of a worker are claimed, recorded and ended by fewer statements than they have calls", async () => {
  const running = await worker({ concurrency: 8 });
  const text = "select svc_private.add_run(null, true, 'together.three', 1, '{\"json\": {}}', null, null, null)";
  await db.sql(`${text} from generate_series(1, 40)`);
  const ended = () => db.sql("select status, result from svc.workflow_runs where finished_at is not null");
  await until(async () => (await ended()).length === 40);
  await running.stop();
  expect(new Set((await ended()).map((row) => JSON.stringify(row)))).toEqual(
    new Set(['{"status":"completed","result":{"json":3}}']),
  );
  const made = await sizes();
  const together = made.reduce((sum, size) => sum + size);
  expect(together).toBeGreaterThan(40 * 2); // of a claim, three steps and an end each
  expect(made.length).toBeLessThan(together / 1.5);
  expect(await db.sql("select from graphile_worker._private_jobs where key like 'workflow:%'")).toEqual([]);
});

test("runs of a workflow with a limit are claimed alone: their claims wait for each other", async () => {
  const running = await worker({ concurrency: 4 });
  const text = "select svc_private.add_run(null, true, 'together.single', 1, '{\"json\": {}}', null, null, 1)";
  await db.sql(`${text} from generate_series(1, 6)`);
  const ended = () => db.sql("select from svc.workflow_runs where status = 'completed'");
  await until(async () => (await ended()).length === 6);
  await running.stop();
  const made = await db.sql("select from public.together where nulls < calls");
  expect(made).toEqual([]);
});

test("a claim of a run that has begun is made alone: it reads checkpoints", async () => {
  const { run } = await held();
  const begun =
    "select svc_private.advance_runs(json_build_array(json_build_object('kind', 'claim', 'run', $1::uuid))) as it";
  expect(await db.sql(begun, [run])).toEqual([{ it: [null] }]);
});

describe("a call beside others", () => {
  let pool: pg.Pool;
  let calls: RunCalls;
  beforeAll(() => {
    pool = db.pool("system");
  });
  beforeEach(() => {
    calls = new RunCalls(pool);
  });

  test("waits for no run that another transaction has locked, and is then made alone", async () => {
    const [locked, free] = [await held(), await held()];
    const client = await db.connect("admin");
    await client.query("begin");
    await client.query("select from svc.workflow_runs where id = $1 for no key update", [locked.run]);
    const before = await busy(calls);
    const alone = Promise.withResolvers<string>();
    const blocked = calls.make<unknown>(step(locked), () => alone.promise);
    expect(await calls.make<unknown>(step(free), never)).toEqual({});
    await client.query("rollback");
    alone.resolve("by itself");
    expect(await blocked).toBe("by itself");
    await before.ended;
    expect(await stored(free.run)).toHaveLength(1);
  });

  test("that is refused leaves the others what they were: each is made alone", async () => {
    const [lost, free] = [await held(), await held()];
    const before = await busy(calls);
    const refused = calls.make<unknown>(step({ ...lost, fence: 7 }), () => Promise.reject(new Error("its own error")));
    const other = calls.make<unknown>(step(free), async () => "by itself");
    await expect(refused).rejects.toThrow("its own error");
    expect(await other).toBe("by itself");
    await before.ended;
    expect(await stored(free.run)).toEqual([]); // the statement for both was undone
  });

  test("whose connection breaks is not made again, because it may have happened; those behind it are made", async () => {
    const runs = [await held(), await held(), await held()];
    const client = await db.connect("admin");
    await client.query("begin; lock table public.together");
    oneAlone(calls);
    const [one, two, behind] = runs.map((run) => calls.make<unknown>(step(run), never));
    const both = Promise.allSettled([one, two]);
    await until(async () => {
      const waiting = await db.sql<{ pid: number }>(
        `select pid from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock' and query like '%advance_runs%'`,
      );
      if (waiting.length < 2) return false;
      for (const { pid } of waiting) await db.sql("select pg_terminate_backend($1)", [pid]);
      return true;
    });
    await client.query("rollback");
    for (const outcome of await both) {
      expect(String((outcome as PromiseRejectedResult).reason)).toMatch(/terminat/);
    }
    expect(await behind).toEqual({});
  });

  test("that finds no other under way is made alone", async () => {
    expect(await calls.make<unknown>(step(await held()), async () => "by itself")).toBe("by itself");
    expect(await sizes()).toEqual([]);
  });

  test("that is large is made alone", async () => {
    const one = await held();
    oneAlone(calls);
    const result = JSON.stringify({ json: "x".repeat(20_000) });
    expect(await calls.make<unknown>({ ...step(one), result }, async () => "by itself")).toBe("by itself");
  });

  test("stores a result as it was given", async () => {
    const one = await held();
    oneAlone(calls);
    const result = '{"json":{"b":1.10,"a":"\\u0041 \\"quoted\\" \\\\ 字"}}';
    await calls.make<unknown>({ ...step(one), result }, never);
    const [row] = await db.sql("select result::text as text from svc.workflow_steps where run_id = $1", [one.run]);
    expect(row?.text).toBe(result);
  });

  test("is answered in the order of the calls", async () => {
    const runs = [await held(), await held(1), await held()];
    const before = await busy(calls);
    const made = runs.map((one, index) => calls.make<unknown>(step(one, String(index)), async () => "by itself"));
    expect(await Promise.all(made)).toEqual([{}, "by itself", {}]);
    await before.ended;
    expect(await sizes()).toContain(3);
  });
});
