// If this file fails, a concurrent event and timeout both win or both lose, or an event is lost or used twice.
import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

/** Runs that wait while an event and their timeout coincide; `npm run chaos` raises them. */
const runs = process.env.CHAOS_KILLS ? 5_000 : 500;

const db = database();
let clients: pg.Client[];
beforeAll(async () => {
  clients = await Promise.all(Array.from({ length: 4 }, () => db.connect("admin")));
});

/** A run that waits for "go", and is released by its worker. */
const waiting = `
  create function public.waiting(patience interval) returns uuid language plpgsql as $$
  declare
    id constant uuid := svc_private.add_run(null, true, 'race', 1, '{"json": {}}', null, null, null);
    fence constant bigint := svc_private.claim_run(id) ->> 'fence';
  begin
    perform svc_private.begin_wait(id, fence, '0', 'wait', 'go', patience);
    perform svc_private.suspend_run(id, fence, array['0']);
    return id;
  end $$`;
const signal = "select svc_private.signal_any_workflow($1, 'go', json_build_object('json', $2::text)) as it";
const claim = "select svc_private.claim_run($1) as it";

test(`events, twice each, race the timeout of ${runs} waits: one outcome each`, async () => {
  await db.sql(waiting);
  const batch = 50;
  /** In milliseconds: the duration of a batch on this machine, so that events and timeouts coincide. */
  let taken = 50;
  for (let from = 0; from < runs; from += batch) {
    const made = await db.sql("select public.waiting('1 hour') as id from generate_series(1, $1)", [batch]);
    const ids = made.map(({ id }) => id as string);
    // They time out one after the other, while the events arrive.
    await db.sql(
      `update svc.workflow_steps s set due_at = clock_timestamp() + make_interval(secs => $2::float8 * array_position($1::uuid[], s.run_id))
        where s.run_id = any ($1::uuid[])`,
      [ids, taken / batch / 1000],
    );
    const started = performance.now();
    const [one, two, three, four] = clients as [pg.Client, pg.Client, pg.Client, pg.Client];
    const all = async (client: pg.Client, text: string, more: string[]) => {
      for (const id of ids) await client.query(text, [id, ...more]);
    };
    await Promise.all([all(one, signal, ["a"]), all(two, claim, []), all(three, signal, ["b"]), all(four, claim, [])]);
    taken = performance.now() - started;
  }
  const outcomes = await db.sql<{ outcome: string; count: number }>(`
    select case
        when not s.is_done then 'none'
        when s.timed_out and e.taken = 0 and s.result is null then 'time'
        when not s.timed_out and e.taken = 1 and e.result = s.result ->> 'json' then 'event'
        else 'both'
      end as outcome, count(*)::integer
      from svc.workflow_runs r
      join svc.workflow_steps s on s.run_id = r.id
      cross join lateral (
        select count(*) filter (where e.taken_by = '0') as taken, count(*) as kept,
               min(e.payload ->> 'json') filter (where e.taken_by = '0') as result
          from svc.workflow_events e where e.run_id = r.id) e
     where e.kept = 2
     group by 1`);
  const counts = Object.fromEntries(outcomes.map(({ outcome, count }) => [outcome, count]));
  // Both happen; otherwise this was no race.
  expect(counts).toEqual({ time: expect.any(Number), event: expect.any(Number) });
  expect((counts.time ?? 0) + (counts.event ?? 0)).toBe(runs);
});

describe("an event", () => {
  const start = async () => {
    const add = "select svc_private.add_run(null, true, 'event', 1, '{\"json\": {}}', null, null, null) as id";
    const id = (await db.sql(add))[0]?.id as string;
    return { id, fence: await fenceOf(id) };
  };
  const fenceOf = async (id: string) => (await db.sql<{ it: { fence: number } }>(claim, [id]))[0]?.it.fence as number;
  const send = async (id: string, payload: string) => (await db.sql(signal, [id, payload]))[0]?.it;
  const wait = async (id: string, fence: number, place: string, patience: string | null = null) => {
    const text = "select svc_private.begin_wait($1, $2, $3, 'wait', 'go', $4) as it";
    return (await db.sql(text, [id, fence, place, patience]))[0]?.it;
  };
  const letGo = (id: string, fence: number, place: string) =>
    db.sql("select svc_private.suspend_run($1, $2, array[$3])", [id, fence, place]);
  const steps = async (id: string) =>
    db.sql(
      "select position, is_done, timed_out, result ->> 'json' as result from svc.workflow_steps where run_id = $1 order by seq",
      [id],
    );
  const queued = async (id: string) =>
    (
      await db.sql("select run_at <= now() as now from graphile_worker._private_jobs where key = $1", [
        `workflow:${id}`,
      ])
    ).map(({ now }) => now);

  test("before the wait ends it when it begins", async () => {
    const { id, fence } = await start();
    expect(await send(id, "early")).toBe("accepted");
    expect(await wait(id, fence, "0")).toEqual({ done: true, result: { json: "early" } });
  });

  test("while the worker still holds the run is seen when it lets go", async () => {
    const { id, fence } = await start();
    expect(await wait(id, fence, "0", "1 hour")).toEqual({ done: false, result: null });
    await send(id, "between");
    await letGo(id, fence, "0");
    expect(await queued(id)).toEqual([true]);
    expect(await steps(id)).toEqual([{ position: "0", is_done: true, timed_out: false, result: "between" }]);
  });

  test("during the wait wakes the run at once", async () => {
    const { id, fence } = await start();
    await wait(id, fence, "0", "1 hour");
    await letGo(id, fence, "0");
    expect(await queued(id)).toEqual([false]);
    await send(id, "during");
    expect(await queued(id)).toEqual([true]);
  });

  test("that comes twice ends one wait, and the next one with its second coming", async () => {
    const { id, fence } = await start();
    await wait(id, fence, "0");
    await letGo(id, fence, "0");
    await Promise.all([send(id, "first"), send(id, "second")]);
    const next = await wait(id, await fenceOf(id), "1");
    expect([(await steps(id))[0]?.result, next.result.json].sort()).toEqual(["first", "second"]);
    expect(await wait(id, await fenceOf(id), "2")).toEqual({ done: false, result: null });
  });

  test("after the timeout does not end the wait that is over, and is kept for the next", async () => {
    const { id, fence } = await start();
    await wait(id, fence, "0", "0 seconds");
    await letGo(id, fence, "0");
    expect(await send(id, "late")).toBe("accepted");
    expect(await steps(id)).toEqual([{ position: "0", is_done: true, timed_out: true, result: null }]);
    expect(await wait(id, await fenceOf(id), "1")).toEqual({ done: true, result: { json: "late" } });
  });

  test("after the end of the run is refused", async () => {
    const { id, fence } = await start();
    await db.sql("select svc_private.end_run($1, $2, 'completed', null, null, null)", [id, fence]);
    expect(await send(id, "late")).toBe("ended");
    expect(await db.sql("select from svc.workflow_events where run_id = $1", [id])).toEqual([]);
  });

  test("while the account of the run's user is being deleted waits for the deletion, which does not wait for it", async () => {
    await db.sql(`insert into auth."user" (id, name, email) values ('ann', 'Ann', 'ann@example.com')`);
    const [{ id } = { id: "" }] = await db.sql(
      "select svc_private.add_run('ann', false, 'race', 1, '{}', null, null, null) as id",
    );
    const [deleting, sending] = clients as [pg.Client, pg.Client];
    await deleting.query(`begin; select from auth."user" where id = 'ann' for update`);
    const sent = sending.query(signal, [id, "late"]);
    sent.catch(() => {});
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await deleting.query(`delete from auth."user" where id = 'ann'; commit`);
    expect((await sent).rows).toEqual([{ it: "unknown" }]);
  });
});
