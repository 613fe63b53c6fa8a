// If this file fails, the jobs of a dead worker stay stuck, or a living worker loses its jobs.
import { describe, expect, test } from "vitest";
import { createLog } from "../../src/telemetry/log.ts";
import { startRescue } from "../../workers/rescue.ts";
import { database } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { began, crashJobs, gate, user } from "./crash-jobs.ts";

const db = database();
const { enqueue, job, rows, hold, worker } = crashJobs(db);

describe("the rescue", () => {
  test("gives the jobs of a dead worker to a living one, with one attempt used up", async () => {
    const id = await enqueue("crash.fail", "of a dead worker");
    await db.sql(
      "update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now(), attempts = 1 where id = $1",
      [id],
    );
    await worker({ rescueEveryMs: 50 });
    await until(async () => (await job(id))?.attempts === 2);
    // While it runs it cannot be cancelled; without this it would be dead in the end, and stay in the queue.
    await until(async () => (await db.sql("select svc_private.cancel_any_job($1) as it", [id]))[0]?.it);
  });

  /** Lets a worker die with the job this many times. @returns the seconds until the next run, and the last error */
  const die = async (id: string, deaths: number) => {
    for (let death = 0; death < deaths; death++) {
      await db.sql(
        "update graphile_worker._private_jobs set locked_by = 'killed', locked_at = now(), attempts = attempts + 1 where id = $1",
        [id],
      );
      await db.sql("select svc_private.rescue_workers('{killed}', '0')");
    }
    const [row] = await db.sql(
      "select extract(epoch from run_at - clock_timestamp())::float as wait, last_error as says, attempts from graphile_worker._private_jobs where id = $1",
      [id],
    );
    return row as { wait: number; says: string; attempts: number };
  };
  const between = (least: number, most: number) => expect.toSatisfy((wait: number) => wait > least && wait <= most);

  test("lets a job wait that kills its worker again and again, and says in the end how often it did", async () => {
    const id = await enqueue("crash.unknown", "deadly");
    expect(await die(id, 1)).toMatchObject({ wait: between(-60, 0), says: "The worker died while it ran this, once." });
    // e² and e³ seconds, give or take a half.
    expect(await die(id, 1)).toMatchObject({ wait: between(3, 12), says: expect.stringContaining("2 times") });
    expect(await die(id, 1)).toMatchObject({ wait: between(9, 31) });
    expect(await die(id, 7)).toMatchObject({ attempts: 10, says: "The worker died while it ran this, 10 times." });
    const state = () => db.sql("select state from svc_private.list_jobs(null, $1, 1)", [id]);
    expect(await state()).toEqual([{ state: "dead" }]);
    await db.sql("select svc_private.retry_job($1)", [id]);
    expect(await die(id, 1)).toMatchObject({ wait: between(-60, 0), says: expect.stringContaining("once") });
    await db.sql("select svc_private.cancel_any_job($1)", [id]);
  });

  test("counts the deaths of a run's workers from its last checkpoint", async () => {
    const add = "select svc_private.add_run($1, false, 'crash.unknown', 1, '{\"json\": {}}', null, null, null) as id";
    const [run] = await db.sql(add, [user]);
    const [row] = await db.sql("select id from graphile_worker._private_jobs where key = 'workflow:' || $1", [run?.id]);
    await db.sql("update svc.workflow_runs set claims = 3 where id = $1", [run?.id]);
    expect(await die(row?.id, 1)).toMatchObject({ wait: between(9, 31), says: expect.stringContaining("3 times") });
    await db.sql("update graphile_worker._private_jobs set run_at = now() where id = $1", [row?.id]);
    await db.sql("update svc.workflow_runs set claims = 0 where id = $1", [run?.id]);
    expect(await die(row?.id, 1)).toMatchObject({ wait: between(-60, 0), says: expect.stringContaining("once") });
    await db.sql("select svc_private.cancel_any_workflow($1)", [run?.id]);
  });

  test("leaves a living worker's jobs alone, however long they take", async () => {
    const { id } = await worker();
    const held = await enqueue("crash.wait", "long");
    await until(() => began.includes("long"));
    const holder = (await job(held))?.locked_by;
    // Two checks in a row that suspect every worker.
    for (let look = 0; look < 2; look++) {
      const found = await db.sql("select * from svc_private.rescue_workers(array[$1, $2], '0')", [id, holder]);
      expect(found).toEqual([]);
    }
    expect(await job(held)).toMatchObject({ attempts: 1, locked_by: holder });
    // By svc's own claim: the library's own reads all jobs that are scheduled for later.
    expect(
      await db.sql(
        "select from pg_stat_activity where query like '%svc_private.claim_jobs($1, $2, $3, $4)%' and pid <> pg_backend_pid()",
      ),
    ).not.toEqual([]);
    gate("long")?.resolve();
    await until(async () => !(await job(held)));
  });

  test("gives back what a living worker holds without knowing, and not what it runs", async () => {
    const { id } = await worker({ rescueEveryMs: 50 });
    const held = await enqueue("crash.wait", "known");
    await until(() => began.includes("known"));
    gate("unknown")?.resolve();
    // As when the answer to a claim is lost with its connection.
    const [lost] = await db.sql(
      `select svc_private.add_procedure_job(jsonb_build_object('kind', 'user', 'userId', $1::text), 'crash.wait',
         '{"title": "unknown"}', now() + interval '1 hour', null) as id`,
      [user],
    );
    await db.sql(
      `update graphile_worker._private_jobs
          set run_at = now(), attempts = 1, locked_by = $3, locked_at = now() - interval '1 minute'
        where id in ($1, $2)`,
      [held, lost?.id, id],
    );
    await until(async () => !(await job(lost?.id)));
    expect(await rows("unknown")).toBe(1);
    expect(await job(held)).toMatchObject({ attempts: 1, locked_by: id });
    gate("known")?.resolve();
    await until(async () => !(await job(held)));
    expect(began.filter((title) => title === "known")).toHaveLength(1);
  });

  test("waits at the first look, and for everybody after a restart of PostgreSQL", async () => {
    const id = await enqueue("crash.unknown", "never begun");
    await hold(id, "gone");
    const look = (suspects: string[], grace: string) =>
      db.sql("select * from svc_private.rescue_workers($1, $2)", [suspects, grace]);
    expect(await look(["gone"], "1 year")).toEqual([]);
    expect(await look([], "0")).toEqual([{ worker: "gone", rescued: false }]);
    expect(await look(["gone"], "0")).toEqual([{ worker: "gone", rescued: true }]);
    expect(await look(["gone"], "0")).toEqual([]);
    await db.sql("select svc_private.cancel_any_job($1)", [id]);
  });
});

describe("the job of a run that was woken meanwhile", () => {
  // Otherwise it is dead for ever, and an operator is called although the run has gone on.
  test.for([
    ["its worker died", "select svc_private.rescue_workers('{gone}', '0')"],
    ["its worker stops", "select svc_private.return_jobs('gone')"],
    ["its worker does not know of it", "select svc_private.return_lost_jobs('gone', '{}', array[$1::bigint])"],
  ])("is removed when %s: the run has another one", async ([, text]) => {
    const add = "select svc_private.add_run($1, false, 'crash.unknown', 1, '{\"json\": {}}', null, null, null) as id";
    const [run] = await db.sql(add, [user]);
    const later = "now() + interval '1 hour'";
    const [replaced] = await db.sql(
      `update graphile_worker._private_jobs set locked_by = 'gone', locked_at = now() - interval '1 minute', attempts = 1
        where key = 'workflow:' || $1 returning id`,
      [run?.id],
    );
    await db.sql(`select svc_private.wake_run($1, ${later})`, [run?.id]);
    expect(await job(replaced?.id)).toMatchObject({ attempts: 1000, locked_by: "gone" });
    await db.sql(text as string, text?.includes("$1") ? [replaced?.id] : []);
    expect(await job(replaced?.id)).toBeUndefined();
    const left = "select attempts from graphile_worker._private_jobs where key = 'workflow:' || $1";
    expect(await db.sql(left, [run?.id])).toEqual([{ attempts: 0 }]);
    await db.sql("select svc_private.cancel_any_workflow($1)", [run?.id]);
  });
});

describe("a worker that lost the database and is back under another name", () => {
  test("gives the jobs back that it held before, and waits for those that it still runs", async () => {
    const id = await enqueue("crash.unknown", "held before");
    await hold(id, "before");
    const running = new Set([id]);
    const pool = db.pool("system");
    const rescue = startRescue({
      url: db.url("system"),
      worker: "after",
      running: new Set(),
      former: { id: "before", running },
      pool,
      log: createLog("silent"),
      lookEveryMs: 20,
      graceMs: 3_600_000, // in which nobody else's jobs are given back
    });
    try {
      await rescue.held;
      let looks = 0;
      pool.on("acquire", () => void looks++);
      await until(() => looks > 10);
      expect(await job(id)).toMatchObject({ locked_by: "before" });
      running.clear();
      await until(async () => (await job(id))?.locked_by === null);
    } finally {
      await rescue.close();
      await pool.end();
    }
    await db.sql("select svc_private.cancel_any_job($1)", [id]);
  });
});

describe("a worker that has lost its own lock, as all do at once in a failover", () => {
  test("takes nobody for dead until they had time to come back", async () => {
    const id = await enqueue("crash.unknown", "of a slow one");
    const pool = db.pool("system");
    // At most the server's uptime: during that time after its start the database considers no worker dead.
    const [up] = await db.sql(
      "select round(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000) as ms",
    );
    const rescue = startRescue({
      url: db.url("system"),
      worker: "alive",
      running: new Set(),
      pool,
      log: createLog("silent"),
      lookEveryMs: 20,
      graceMs: Number(up?.ms),
    });
    try {
      const own =
        "select pid from pg_stat_activity where application_name = 'svc alive' and query like '%hold_worker%'";
      await rescue.held;
      const [before] = await db.sql(own);
      await db.sql("select pg_terminate_backend($1)", [before?.pid]);
      await until(async () => ![undefined, before?.pid].includes((await db.sql(own))[0]?.pid));
      await hold(id, "slow");
      let looks = 0;
      pool.on("acquire", () => void looks++);
      await until(() => looks > 10);
      expect(await job(id)).toMatchObject({ locked_by: "slow" });
    } finally {
      await rescue.close();
      await pool.end();
    }
    await db.sql("select graphile_worker.force_unlock_workers(array['slow'])");
    await db.sql("select svc_private.cancel_any_job($1)", [id]);
  });
});
