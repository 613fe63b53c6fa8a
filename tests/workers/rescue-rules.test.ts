// If this file fails, a rescue takes a job that another worker has by then, counts the deaths of another job, leaves a named
// queue locked for ever, or nobody is told that there are jobs again.
import type pg from "pg";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { database, waitsForLock } from "../support/database.ts";

const db = database();
let other: pg.Client;
beforeAll(async () => {
  other = await db.connect("admin");
});
beforeEach(() => db.sql("truncate graphile_worker._private_jobs, graphile_worker._private_job_queues"));

/** Adds a job that a worker has held for a minute. @returns its id */
async function held(by: string, deaths = 0): Promise<string> {
  const [row] = await db.sql("select svc_private.add_job('procedure', '{}', null, 10) as id");
  await db.sql(
    `update graphile_worker._private_jobs
        set attempts = 1, locked_by = $2, locked_at = now() - interval '1 minute', flags = jsonb_build_object('deaths', $3::integer)
      where id = $1`,
    [row?.id, by, deaths],
  );
  return row?.id;
}
const jobs = () =>
  db.sql(
    "select id, locked_by, (flags ->> 'deaths')::integer as deaths from graphile_worker._private_jobs order by id",
  );
const rescue = "select * from svc_private.rescue_workers('{dead}', '0')";
const returnLost = "select * from svc_private.return_lost_jobs('alive', $1, $2)";

test("each job of a dead worker counts its own deaths", async () => {
  const [one, two] = [await held("dead"), await held("dead", 3)];
  await db.sql(rescue);
  expect(await jobs()).toEqual([
    { id: one, locked_by: null, deaths: 1 },
    { id: two, locked_by: null, deaths: 4 },
  ]);
});

test("a job that changes hands while a rescue waits for it stays where it is", async () => {
  const id = await held("dead");
  await other.query("begin; update graphile_worker._private_jobs set locked_by = 'living'");
  const rescuing = (await db.connect("admin")).query(rescue);
  try {
    await expect.poll(() => db.sql(waitsForLock)).toHaveLength(1);
  } finally {
    await other.query("commit");
  }
  await rescuing;
  expect(await jobs()).toEqual([{ id, locked_by: "living", deaths: 0 }]);
});

test("a named queue whose worker died is free again, also when no job of it is left", async () => {
  await db.sql(
    `insert into graphile_worker._private_job_queues (queue_name, locked_by, locked_at)
     values ('a', 'dead', now()), ('b', 'living', now())`,
  );
  await db.sql("select pg_advisory_lock(726502186, hashtext('living'))");
  expect(await other.query(rescue)).toMatchObject({ rows: [{ worker: "dead", rescued: true }] });
  await db.sql("select pg_advisory_unlock(726502186, hashtext('living'))");
  const queues = "select queue_name, locked_by from graphile_worker._private_job_queues order by 1";
  expect(await db.sql(queues)).toEqual([
    { queue_name: "a", locked_by: null },
    { queue_name: "b", locked_by: "living" },
  ]);
});

test("workers are told of jobs that are returned", async () => {
  const listener = await db.connect("system");
  const notices: unknown[] = [];
  listener.on("notification", ({ payload }) => notices.push(JSON.parse(payload ?? "")));
  await listener.query('listen "jobs:insert"');
  const ids = [await held("dead"), await held("alive")];
  await expect
    .poll(() => notices)
    .toEqual([{ count: 1 }, { count: 1 }].map((notice) => expect.objectContaining(notice)));
  await db.sql(rescue);
  await expect.poll(() => notices).toHaveLength(3);
  await db.sql(returnLost, [[], [ids[1]]]);
  await expect.poll(() => notices).toHaveLength(4);
});

test("of the jobs that a living worker does not know of, only those of an earlier look are returned, and none just claimed", async () => {
  const [suspect, found, running, claimed, others] = [
    await held("alive"),
    await held("alive"),
    await held("alive"),
    await held("alive"),
    await held("other"),
  ];
  await db.sql("update graphile_worker._private_jobs set locked_at = now() where id = $1", [claimed]);
  const rows = await db.sql(returnLost, [[running], [suspect, running, claimed, others]]);
  expect(rows.sort((a, b) => Number(a.job) - Number(b.job))).toEqual([
    { job: suspect, returned: true },
    { job: found, returned: false },
  ]);
  expect((await jobs()).map(({ locked_by }) => locked_by)).toEqual([null, "alive", "alive", "alive", "other"]);
});

test("a job that somebody has locked is looked at later", async () => {
  const id = await held("alive");
  await other.query("begin; select from graphile_worker._private_jobs for update");
  try {
    await db.sql("set lock_timeout = '5s'"); // it ends a look that waits
    expect(await db.sql(returnLost, [[], [id]])).toEqual([]);
  } finally {
    await other.query("rollback");
  }
  expect(await db.sql(returnLost, [[], [id]])).toEqual([{ job: id, returned: true }]);
});
