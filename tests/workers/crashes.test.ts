// If this file fails, a worker that dies loses jobs, leaves them stuck, or has them done twice.
import { join } from "node:path";
import pg from "pg";
import { afterEach, describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { startRescue } from "../../workers/rescue.ts";
import type { Worker } from "../../workers/runner.ts";
import { database } from "../support/database.ts";
import { jobs, type StartWorker, until, workers } from "../support/worker.ts";
import { api, began, crashJobs, gate, user } from "./crash-jobs.ts";

/** Kills, and fifty jobs to each; `npm run chaos` raises them. */
const rounds = Number(process.env.CHAOS_KILLS ?? 5);

const db = database();
const { enqueue, job, rows, hold, startChild } = crashJobs(db);
const start = workers(db, api);
const running: Worker[] = [];
const worker: StartWorker = async (options) => {
  const one = await start(options);
  running.push(one);
  return one;
};
// Each test knows who takes its jobs.
afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())).then(() => {}));

describe("workers killed at random points", () => {
  test(`lose no job of ${rounds * 50} and do none twice, killed ${rounds} times`, {
    timeout: rounds * 40_000,
  }, async () => {
    const total = rounds * 50;
    for (let index = 0; index < total; index++) await enqueue("child.record", `job ${index}`);
    const done = async () =>
      Number((await db.sql("select count(*) from public.notes where title like 'job %'"))[0]?.count);
    const running = [await startChild(), await startChild()];
    for (let kill = 1; kill <= rounds; kill++) {
      await until(async () => (await done()) >= ((kill - 0.5) * total) / (rounds + 1));
      const victim = running.shift();
      victim?.kill("SIGKILL");
      running.push(await startChild());
    }
    await until(async () => {
      // One whose worker was killed twice waits: not here.
      await db.sql("update graphile_worker._private_jobs set run_at = now() where locked_at is null and attempts > 0");
      return (await done()) >= total;
    });
    await until(async () => (await jobs(db)).every(({ locked_by }) => locked_by === null));

    const titles = await db.sql(
      "select title, count(*)::integer from public.notes where title like 'job %' group by title",
    );
    expect(titles).toHaveLength(total);
    expect(titles.filter(({ count }) => count !== 1)).toEqual([]);
    // What a job scheduled is there as often as its row: they are one transaction.
    const left = await jobs(db);
    expect(left.map(({ payload }) => (payload.args as { title: string }).title).sort()).toEqual(
      titles.map(({ title }) => `follows ${title}`).sort(),
    );
    expect(left.filter(({ last_error }) => last_error !== null)).toEqual([]);
    await db.sql("truncate graphile_worker._private_jobs");
    for (const child of running) child.kill("SIGKILL");
  });
});

describe("the rescue", () => {
  test("gives the jobs of a dead worker to a living one, with one attempt used up", async () => {
    const id = await enqueue("crash.fail", "of a dead worker");
    await db.sql(
      "update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now(), attempts = 1 where id = $1",
      [id],
    );
    await worker({ rescueEveryMs: 50 });
    await until(async () => (await job(id))?.attempts === 2);
    // While it runs it cannot be cancelled; left alone it would end among the dead, and never leave the queue.
    await until(async () => (await db.sql("select svc_private.cancel_any_job($1) as it", [id]))[0]?.it);
  });

  /** Lets a worker die with the job so many times. @returns the seconds that it waits after the last, and what it says */
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
    // Two looks in a row, by somebody who suspects everybody.
    for (let look = 0; look < 2; look++) {
      const found = await db.sql("select * from svc_private.rescue_workers(array[$1, $2], '0')", [id, holder]);
      expect(found).toEqual([]);
    }
    expect(await job(held)).toMatchObject({ attempts: 1, locked_by: holder });
    // By svc's own claim: that of the library reads all that are scheduled for later.
    expect(
      await db.sql("select from pg_stat_activity where query = 'select * from svc_private.claim_job($1, $2)'"),
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

describe("a worker that has lost its own lock, as all do at once in a failover", () => {
  test("takes nobody for dead until they had time to come back", async () => {
    const id = await enqueue("crash.unknown", "of a slow one");
    const pool = new pg.Pool({ connectionString: db.url("system") });
    // No longer than the server has been up: for as long as that after its start the database takes nobody for dead.
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

describe("a worker whose connections are cut, again and again", () => {
  test("does every job once, and its process lives on", { timeout: 120_000 }, async () => {
    await worker({ rescueEveryMs: 50, graceAfterRestartMs: 200 });
    const total = 100;
    for (let index = 0; index < total; index++) {
      gate(`cut ${index}`)?.resolve();
      await enqueue("crash.wait", `cut ${index}`);
    }
    const count = async () =>
      Number((await db.sql("select count(*) from public.notes where title like 'cut %'"))[0]?.count);
    for (let cut = 1; cut <= 4; cut++) {
      await until(async () => (await count()) >= (cut * total) / 6);
      // All but the test's own: as a restart of PostgreSQL, which would disturb other files.
      await db.sql(
        `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and usename in ('svc_request', 'svc_system')`,
      );
    }
    // A handler whose answer was lost has failed: its next attempt is seconds away.
    await until(async () => {
      await db.sql(
        "update graphile_worker._private_jobs set run_at = now() where locked_at is null and run_at > now() and key is distinct from 'sweep-storage'",
      );
      return (await jobs(db)).length === 0;
    });
    const titles = await db.sql(
      "select title, count(*)::integer from public.notes where title like 'cut %' group by title",
    );
    expect(titles).toHaveLength(total);
    expect(titles.filter((row) => row.count !== 1)).toEqual([]);
  });
});

describe("a worker that lost its job and goes on", () => {
  test("cannot commit what it did for it", async () => {
    await worker();
    const id = await enqueue("crash.wait", "fenced");
    await until(() => began.includes("fenced"));
    // As the rescue does; another takes the job and finishes it.
    await db.sql("select graphile_worker.force_unlock_workers(array[$1])", [(await job(id))?.locked_by]);
    await until(async () => !(await job(id)));
    gate("fenced")?.resolve();
    await until(() => began.filter((title) => title === "fenced").length === 2);
    // The first one's end comes after its gate: let the worker do another job before counting.
    const next = await enqueue("crash.wait", "after");
    await until(() => began.includes("after"));
    gate("after")?.resolve();
    await until(async () => !(await job(next)));
    expect(await rows("fenced")).toBe(1);
  });

  test("is told so by svc.finish_job, which leaves the job alone", async () => {
    const id = await enqueue("crash.unknown", "mine");
    await hold(id, "new");
    await expect(db.sql("select svc.finish_job($1, 'old')", [id])).rejects.toMatchObject({ code: "SV409" });
    expect(await job(id)).toMatchObject({ locked_by: "new" });
    await db.sql("select svc.finish_job($1, 'new')", [id]);
    expect(await job(id)).toBeUndefined();
  });
});

describe("a worker that is told to stop", () => {
  test("lets its jobs end, and takes no more", async () => {
    await db.sql("truncate graphile_worker._private_jobs");
    const stopping = await worker({ queues: ["procedure"] });
    const id = await enqueue("crash.wait", "ends");
    await until(() => began.includes("ends"));
    const holder = (await job(id))?.locked_by;
    const stopped = stopping.stop();
    gate("ends")?.resolve();
    await stopped;
    expect(await job(id)).toBeUndefined();
    expect(await rows("ends")).toBe(1);
    expect(holder).toMatch(/^pool-/);
  });

  test("gives back what does not end in time, without using up an attempt", async () => {
    const config = await loadConfig({ cwd: join(import.meta.dirname, "../fixture"), env: {} });
    const hasty = await worker({ config: { ...config, limits: { ...config.limits, shutdownMs: 100 } } });
    await db.sql("truncate graphile_worker._private_jobs");
    const id = await enqueue("crash.wait", "hangs");
    await until(() => began.includes("hangs"));
    await hasty.stop();
    expect(await job(id)).toMatchObject({ locked_by: null, attempts: 0 });
    expect(await rows("hangs")).toBe(0);
    await worker();
    gate("hangs")?.resolve();
    await until(async () => !(await job(id)));
    expect(await rows("hangs")).toBe(1);
  });

  test("does not begin with a queue that does not exist", async () => {
    await expect(worker({ queues: ["procedures"] })).rejects.toThrow(/There is no queue "procedures"/);
  });
});

test("a job is cancelled when its worker has died, and not while that lives", async () => {
  const id = await enqueue("crash.fail", "kills whoever takes it");
  await db.sql("update graphile_worker._private_jobs set locked_by = 'one', locked_at = now() where id = $1", [id]);
  const cancelled = async () => (await db.sql("select svc_private.cancel_any_job($1) as it", [id]))[0]?.it;
  const client = await db.connect("system");
  await client.query("select svc_private.hold_worker('one')");
  expect(await cancelled()).toBe(false);
  await client.end();
  await until(cancelled);
  expect(await job(id)).toBeUndefined();
});

describe("a job that cannot be done", () => {
  test("keeps its error, does not hold up the others, and in the end waits for a person", async () => {
    await worker();
    const poison = await enqueue("crash.fail", "poison");
    const text = await enqueue("crash.text", "text");
    const [broken] = await db.sql("select id from graphile_worker.add_job('procedure', '{\"no\": \"payload\"}')");
    const good = await enqueue("crash.wait", "good");
    gate("good")?.resolve();
    await until(async () => !(await job(good)));
    await until(async () => (await job(poison))?.last_error === "This never works.");
    await until(async () => (await job(text))?.last_error === "This neither.");
    await until(async () => /procedure/.test((await job(broken?.id))?.last_error ?? ""));

    await db.sql("update graphile_worker._private_jobs set attempts = max_attempts - 1, run_at = now() where id = $1", [
      poison,
    ]);
    await db.sql('notify "jobs:insert", \'{"count":1}\'');
    const state = async () =>
      (await db.sql("select state from svc_private.list_jobs(null, $1, 1)", [poison]))[0]?.state;
    await until(async () => (await state()) === "dead");
    expect((await db.sql("select dead from svc_private.queue_state()"))[0]).toEqual({ dead: "1" });

    expect((await db.sql("select svc_private.retry_job($1) as it", [poison]))[0]?.it).toBe(true);
    await until(async () => (await state()) === "failing");
  });
});
