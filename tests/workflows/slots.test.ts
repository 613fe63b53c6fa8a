// If this file fails, a run that waits for other runs of its workflow to stop waits for ever, although none runs.
import type pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
let other: pg.Client;
let worker: pg.Client;
beforeAll(async () => {
  other = await db.connect("admin");
  worker = await db.connect("admin");
});
beforeEach(() => db.sql("truncate svc.workflow_runs cascade; truncate graphile_worker._private_jobs"));

const add = async (places: number | null, user: string | null = null): Promise<string> => {
  const text = "select svc_private.add_run($1, $2, 'narrow', 1, '{\"json\": {}}', null, null, $3) as id";
  return (await db.sql(text, [user, user === null, places]))[0]?.id;
};
/** @returns the fence, or null when the run has to wait */
const claim = async (id: string, client?: pg.Client, places?: number): Promise<number | null> => {
  const text = "select svc_private.claim_run($1, null, null, '{}', $2) ->> 'fence' as fence";
  const values = [id, JSON.stringify({ narrow: places })];
  const rows = client ? (await client.query(text, values)).rows : await db.sql(text, values);
  const fence = rows[0]?.fence ?? null;
  // As the worker does: the job of a claim without a result is done.
  if (fence === null) await db.sql("delete from graphile_worker._private_jobs where key = $1", [`workflow:${id}`]);
  return fence === null ? null : Number(fence);
};
const end = (id: string, fence: number | null) =>
  worker.query("select svc_private.end_run($1, $2, 'completed', null, null, null)", [id, fence]);
/** The runs that a worker will claim. */
const queued = async () =>
  (
    await db.sql(
      `select substr(key, 10) as id from graphile_worker._private_jobs
        where key is not null and run_at <= clock_timestamp() order by 1`,
    )
  ).map(({ id }) => id as string);
/** Works like workers until the queue is empty. @returns the claimed runs */
async function work(places?: number): Promise<Map<string, number>> {
  const claimed = new Map<string, number>();
  for (let ids = await queued(); ids.length > 0; ids = await queued()) {
    for (const id of ids) {
      const fence = await claim(id, undefined, places);
      if (fence !== null) claimed.set(id, fence);
      await db.sql("delete from graphile_worker._private_jobs where key = $1", [`workflow:${id}`]);
    }
  }
  return claimed;
}

/** Transactions that hold the row lock of a waiting run while another run of its workflow ends. */
const holders: [what: string, text: string][] = [
  ["a signal", "select svc_private.signal_any_workflow($1, 'go', '{\"json\": 1}')"],
  ["somebody who reads it for update", "select from svc.workflow_runs where id = $1 for update"],
];

describe("a run that waits for its turn", () => {
  test("is cancelled while the run before it ends: neither waits for the other", async () => {
    const first = await add(1);
    const fence = await claim(first);
    const second = await add(1);
    expect(await claim(second)).toBeNull();
    await db.sql("select svc_private.wake_run($1, now() + interval '1 hour')", [second]); // for its deadline
    // As the end of a run, which takes the places of its workflow first.
    await worker.query("begin; select pg_advisory_xact_lock(726502188, hashtext('narrow'))");
    const cancelled = other.query("select svc_private.cancel_any_workflow($1) as it", [second]);
    cancelled.catch(() => {});
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
    await end(first, fence);
    await worker.query("commit");
    expect((await cancelled).rows).toEqual([{ it: "accepted" }]);
    expect(await queued()).not.toContain(second);
  });

  test.for(holders)("is woken although %s locks it, once that commits or rolls back", async ([, text]) => {
    for (const how of ["commit", "rollback"]) {
      const first = await add(1);
      const fence = await claim(first);
      const second = await add(1);
      expect(await claim(second)).toBeNull();
      await db.sql("delete from graphile_worker._private_jobs");

      await other.query("begin");
      await other.query(text, [second]);
      await end(first, fence); // does not wait for the lock
      await other.query(how);

      const claimed = await work();
      expect([...claimed.keys()]).toEqual([second]);
      await end(second, claimed.get(second) as number);
    }
  });

  test.for([
    ["cancelled", "select svc_private.cancel_any_workflow($1)"],
    ["deleted", "delete from svc.workflow_runs where id = $1"],
  ])("is woken when the one before it is %s meanwhile", async ([, text]) => {
    const first = await add(1);
    const fence = await claim(first);
    const second = await add(1);
    await claim(second);
    const third = await add(1);
    await claim(third);
    await db.sql("delete from graphile_worker._private_jobs");

    // The second is locked for its end, the third by a signal: neither can be marked now.
    await other.query("begin");
    await other.query("select from svc.workflow_runs where id = $1 for update", [second]);
    const signaller = await db.connect("admin");
    await signaller.query("begin");
    await signaller.query("select svc_private.signal_any_workflow($1, 'go', '{\"json\": 1}')", [third]);
    await end(first, fence);
    await other.query(text as string, [second]);
    await other.query("commit");
    await signaller.query("commit");

    expect([...(await work()).keys()]).toEqual([third]);
  });

  test("does not wait for a second locked run: each free place is taken", async () => {
    const running = [await add(2), await add(2)];
    const fences = [await claim(running[0] as string), await claim(running[1] as string)];
    const waiting = [await add(2), await add(2), await add(2)];
    for (const id of waiting) expect(await claim(id)).toBeNull();
    await db.sql("delete from graphile_worker._private_jobs");

    // Both ends find the same run, since all others are locked too.
    await other.query("begin");
    await other.query("select from svc.workflow_runs where id = any ($1) for update", [waiting]);
    for (const [index, id] of running.entries()) await end(id, fences[index] as number);
    await other.query("rollback");

    expect([...(await work()).keys()].sort()).toEqual([waiting[0], waiting[1]].sort());
  });

  test("does not wait for runs that were started without a limit, before it was added or after it was removed", async () => {
    const unlimited = await claim(await add(null));
    const limited = await add(1);
    const fence = await claim(limited);
    expect([unlimited, fence]).toEqual([1, 1]);
    const next = await add(1);
    expect(await claim(next)).toBeNull();
    await db.sql("delete from graphile_worker._private_jobs");
    await end(limited, fence);
    expect([...(await work()).keys()]).toEqual([next]);
  });

  test("follows the limit of the code that a release has changed, also if it was started before", async () => {
    const first = await add(1);
    const fence = await claim(first);
    const waiting = [await add(1), await add(1), await add(3)];
    for (const id of waiting) expect(await claim(id, undefined, 1)).toBeNull();
    await db.sql("delete from graphile_worker._private_jobs");
    await end(first, fence);
    const raised = await work(2);
    expect([...raised.keys()]).toEqual(waiting.slice(0, 2));
    for (const [id, held] of raised) await end(id, held);
    expect([...(await work(2)).keys()]).toEqual(waiting.slice(2));
    // Lowered again.
    expect(await claim(await add(3), undefined, 1)).toBeNull();
  });

  test("takes turns with those of other users, and with its user's own in the order of their start", async () => {
    const users = ["ann", "bob", "cyd"];
    await db.sql(`insert into auth."user" (id, name, email) select n, n, n || '@x.test' from unnest($1::text[]) n`, [
      users,
    ]);
    const whose = new Map<string, string>();
    const start = async (user: string, label: string) => {
      const id = await add(2, user);
      whose.set(id, label);
      return id;
    };
    const fences = new Map<string, number>();
    for (const n of [1, 2, 3, 4, 5, 6]) {
      const id = await start("ann", `ann ${n}`);
      const fence = await claim(id);
      if (fence !== null) fences.set(id, fence);
    }
    expect(await claim(await start("cyd", "cyd 1"))).toBeNull();
    for (const label of ["bob 1", "bob 2"]) expect(await claim(await start("bob", label))).toBeNull();
    await db.sql("delete from graphile_worker._private_jobs");

    const order: string[] = [];
    while (fences.size > 0) {
      const [[id, fence] = ["", 0]] = fences;
      fences.delete(id);
      await end(id, fence);
      for (const [next, held] of await work()) {
        order.push(whose.get(next) ?? "");
        fences.set(next, held);
      }
    }
    // Two slots, each of which passes from ann to bob, to cyd, and to ann again.
    expect(order).toEqual(["bob 1", "bob 2", "cyd 1", "ann 3", "ann 4", "ann 5", "ann 6"]);
  });

  test.for([
    ["is locked", "for update"],
    ["waits for its turn", ""],
  ])("is not woken in place of one of its own workflow that %s", async ([, lock]) => {
    await db.sql(`insert into auth."user" (id, name, email) values ('gus', 'Gus', 'gus@x.test'), ('hal', 'Hal', 'hal@x.test')
      on conflict do nothing`);
    const first = await add(1, "gus");
    const fence = await claim(first);
    const own = await add(1, "hal");
    expect(await claim(own)).toBeNull();
    // Of another workflow; created earlier, and its user is between the two.
    const foreign = await add(1, "hal");
    expect(await claim(foreign)).toBeNull();
    await db.sql(
      "update svc.workflow_runs set name = 'wide', created_at = created_at - interval '1 hour' where id = $1",
      [foreign],
    );
    await db.sql("delete from graphile_worker._private_jobs");
    await other.query("begin");
    await other.query(`select from svc.workflow_runs where id = $1 ${lock}`, [own]);
    try {
      await worker.query("set lock_timeout = '5s'"); // it ends a wait for the lock
      await end(first, fence);
      expect(await queued()).toEqual([own]);
    } finally {
      await worker.query("reset lock_timeout");
      await other.query("rollback");
    }
  });

  test("is woken when the running one is deleted with its user", async () => {
    await db.sql(`insert into auth."user" (id, name, email) values ('dot', 'Dot', 'dot@x.test')`);
    expect(await claim(await add(1, "dot"))).not.toBeNull();
    const second = await add(1);
    expect(await claim(second)).toBeNull();
    await db.sql("delete from graphile_worker._private_jobs");
    const auth = await db.connect("auth");
    await auth.query(`delete from auth."user" where id = 'dot'`);
    expect([...(await work()).keys()]).toEqual([second]);
  });

  // Each deletion took the locks of its workflows in the order of its rows.
  test("does not end the deletion of one of two users who have runs of the same two workflows", async () => {
    const names = ["narrow", "thin"];
    for (const [user, order] of [["eve", names] as const, ["fay", names.toReversed()] as const]) {
      await db.sql(`insert into auth."user" (id, name, email) values ($1, $1, $1 || '@x.test')`, [user]);
      for (const name of order) {
        await db.sql("select svc_private.add_run($1, false, $2, 1, '{\"json\": {}}', null, null, 2)", [user, name]);
      }
    }
    const locks = await Promise.all(names.map(() => db.connect("admin")));
    for (const [index, lock] of locks.entries()) {
      await lock.query("select pg_advisory_lock(726502188, hashtext($1))", [names[index]]);
    }
    const deletions: Promise<unknown>[] = [];
    for (const user of ["eve", "fay"]) {
      deletions.push((await db.connect("auth")).query(`delete from auth."user" where id = $1`, [user]));
      await expect.poll(() => db.sql(waitsForLock)).toHaveLength(deletions.length);
    }
    for (const lock of locks) await lock.query("select pg_advisory_unlock_all()");
    await Promise.all(deletions);
    expect(await db.sql("select from svc.workflow_runs")).toEqual([]);
  });
});
