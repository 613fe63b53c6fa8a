// If this file fails, a workflow whose handler runs many times reads all checkpoints each time: a thousand steps cost a
// million rows. Or a worker relies on checkpoints that no longer exist.
import { beforeAll, describe, expect, test } from "vitest";
import { workflow } from "../../src/index.ts";
import { claimArguments, type NumberedStep, StepCache } from "../../src/workflows/step-cache.ts";
import { collectGarbage } from "../support/collect-garbage.ts";
import { database } from "../support/database.ts";
import { apiWith } from "../support/service.ts";
import { until, workers } from "../support/worker.ts";

const steps = 200;
/** A step and a pause, repeatedly, beside a long wait: each pause ends one run of the handler. */
const long = workflow("claims.long", {
  handler: async (wf) => {
    const [sum] = await wf.parallel([
      async () => {
        let total = 0;
        for (let index = 0; index < steps; index++) {
          total += await wf.step(`step ${index}`, () => index);
          await wf.sleep(0);
        }
        return total;
      },
      () => wf.waitForEvent("go"),
    ]);
    return sum;
  },
});

const db = database();
const worker = workers(db, apiWith({ workflows: { long } }));
beforeAll(async () => {
  // Counts the results of the platform's own function.
  await db.sql(`
    create table public.claims (steps integer not null);
    create schema counted;
    alter function svc_private.claim_run(uuid, bigint, timestamptz, bigint[], json) set schema counted;
    create function svc_private.claim_run(
      run_id uuid, known_seq bigint default null, known_at timestamptz default null, unfinished bigint[] default '{}',
      limits json default null
    ) returns json language plpgsql security definer as $$
    declare claim constant json := counted.claim_run(run_id, known_seq, known_at, unfinished, limits);
    begin
      if claim is not null then insert into public.claims values (json_array_length(claim -> 'steps')); end if;
      return claim;
    end $$;
    grant execute on function svc_private.claim_run(uuid, bigint, timestamptz, bigint[], json) to svc_system`);
});

const add = async () => {
  const text = "select svc_private.add_run(null, true, 'claims.long', 1, '{\"json\": {}}', null, null, null) as id";
  return (await db.sql(text))[0]?.id as string;
};

test(`a workflow whose handler runs ${steps} times reads each checkpoint a few times, not each time`, async () => {
  const running = await worker();
  const id = await add();
  const count = async () => (await db.sql("select count(*)::int as n from svc.workflow_steps where is_done"))[0]?.n;
  await until(async () => (await count()) === 2 * steps);
  await db.sql("select svc_private.signal_any_workflow($1, 'go', '{\"json\": 1}')", [id]);
  const state = async () => (await db.sql("select status, result from svc.workflow_runs where id = $1", [id]))[0];
  await until(async () => (await state())?.status === "completed");
  await running.stop();
  expect((await state())?.result).toEqual({ json: (steps * (steps - 1)) / 2 });
  const [claims] = await db.sql("select count(*)::int as runs, sum(steps)::int as given from public.claims");
  expect(claims?.runs).toBeGreaterThan(steps / 2);
  // Each step and pause once, and in each run the wait and an unfinished pause. All checkpoints each time would be
  // 40,000.
  expect(claims?.given).toBeLessThan(2 * steps + 1 + 3 * (claims?.runs + 1));
});

describe("what a worker knows", () => {
  const made = (_: unknown, seq: number) =>
    ({ seq, at: "now", position: String(seq), kind: "step", name: "s", done: true, result: null }) as NumberedStep;
  const claim = async (id: string, cache: StepCache, meanwhile = () => {}) => {
    const known = cache.of(id);
    const text = "select counted.claim_run($1, $2, $3, $4, null) as it";
    const { it } = (await db.sql(text, [id, ...claimArguments(known)]))[0] as {
      it: { steps: NumberedStep[]; isAddition: boolean; fence: number };
    };
    meanwhile();
    return { given: it.steps.length, fence: it.fence, all: cache.merge(id, it.isAddition ? known : [], it.steps) };
  };
  const stored = (id: string) =>
    db.sql("select position, is_done as done, result from svc.workflow_steps where run_id = $1 order by seq", [id]);
  const seen = (all: NumberedStep[]) => all.map(({ position, done, result }) => ({ position, done, result }));
  const step = (id: string, fence: number, position: number | string, failure: string | null = null) =>
    db.sql("select svc.record_step($1, $2, $3, $4, $5, $6, now())", [
      id,
      fence,
      String(position),
      `s${position}`,
      '{"json": 1}',
      failure,
    ]);

  test("holds after another worker's run of the handler, an event for a wait, and a retry from a step", async () => {
    const id = await add();
    const [one, other] = [new StepCache(), new StepCache()];
    let { fence } = await claim(id, one);
    for (const position of [0, 1, 2]) await step(id, fence, position);
    await db.sql("select svc_private.begin_wait($1, $2, '3', 'wait', 'go', null)", [id, fence]);
    let claimed = await claim(id, one);
    expect([claimed.given, seen(claimed.all)]).toEqual([4, await stored(id)]);

    ({ fence } = await claim(id, other));
    await step(id, fence, 4);
    await db.sql("select svc_private.signal_any_workflow($1, 'go', '{\"json\": 7}')", [id]);
    claimed = await claim(id, one);
    expect([claimed.given, seen(claimed.all)]).toEqual([2, await stored(id)]); // the wait, and the other's step
    expect((await claim(id, one)).given).toBe(0);

    await db.sql("select svc_private.end_run($1, $2, 'failed', null, null, null)", [id, (await claim(id, one)).fence]);
    await db.sql("select svc_private.retry_any_workflow($1, 's1')", [id]);
    ({ fence } = await claim(id, other));
    for (const position of [1, 2, 3, 4, 5]) await step(id, fence, position);
    claimed = await claim(id, one);
    expect([claimed.given, seen(claimed.all)]).toEqual([6, await stored(id)]);
  });

  test("does not hold after a retry that repeats a branch and keeps the later checkpoint of another", async () => {
    const id = await add();
    const cache = new StepCache();
    const { fence } = await claim(id, cache);
    await step(id, fence, "0.0.0", '{"code": "INTERNAL", "step": "s0.0.0"}');
    await step(id, fence, "0.1.0");
    const { fence: last } = await claim(id, cache);
    await db.sql("select svc_private.end_run($1, $2, 'failed', null, $3, null)", [
      id,
      last,
      '{"code": "INTERNAL", "step": "s0.0.0"}',
    ]);
    await db.sql("select svc_private.retry_any_workflow($1, null)", [id]);
    const { all } = await claim(id, cache);
    expect(all.map(({ position }) => position)).toEqual(["0.1.0"]);
  });

  test("does not hold for a checkpoint of the same number that was made at another time, as after a failover", async () => {
    const id = await add();
    const cache = new StepCache();
    const { fence } = await claim(id, cache);
    await step(id, fence, 0);
    await claim(id, cache);
    await db.sql(
      `update svc.workflow_steps set started_at = started_at + '1 microsecond', result = '{"json": 2}' where run_id = $1`,
      [id],
    );
    const { given, all } = await claim(id, cache);
    expect([given, seen(all)]).toEqual([1, await stored(id)]);
  });

  test("holds for a claim under way when other runs take its place in the cache", async () => {
    const id = await add();
    const cache = new StepCache(1_000);
    const { fence } = await claim(id, cache);
    await step(id, fence, 0);
    await claim(id, cache);
    expect(cache.of(id).length).toBe(1);
    const { given, all } = await claim(id, cache, () => {
      cache.merge("large", [], Array.from({ length: 100 }, made));
    });
    expect([given, seen(all)]).toEqual([0, await stored(id)]);
  });

  test("is bounded: the runs that were claimed longest ago are forgotten, and read again", () => {
    const cache = new StepCache(1_000);
    for (let run = 0; run < 50; run++) cache.merge(`run ${run}`, [], [made(null, run)]);
    expect(cache.of("run 0")).toEqual([]);
    expect(cache.of("run 49")).toMatchObject([{ seq: 49 }]);
    cache.merge("large", [], Array.from({ length: 100 }, made));
    expect(cache.of("large")).toEqual([]);
    expect(cache.of("run 49")).toEqual([]);
  });

  test("keeps nothing of runs without checkpoints: another worker may take them, or a user cancel them", () => {
    const cache = new StepCache();
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let run = 0; run < 100_000; run++) cache.merge(`run ${run}`, [], []);
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(5_000_000); // 25 MB when they were kept
    expect(cache.of("run 0")).toEqual([]);
  });
});
