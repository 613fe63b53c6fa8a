// If this file fails, a worker that dies loses jobs, leaves them stuck, or causes a second run.
import { describe, expect, test } from "vitest";
import { database } from "../support/database.ts";
import { jobs, until } from "../support/worker.ts";
import { began, crashJobs, gate } from "./crash-jobs.ts";

/** The number of kills, with fifty jobs each; `npm run chaos` raises it. */
const rounds = Number(process.env.CHAOS_KILLS ?? 5);

const db = database();
const { enqueue, job, rows, hold, startChild, worker } = crashJobs(db);

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
      // A job whose worker was killed twice would wait: not in this test.
      await db.sql("update graphile_worker._private_jobs set run_at = now() where locked_at is null and attempts > 0");
      return (await done()) >= total;
    });
    await until(async () => (await jobs(db)).every(({ locked_by }) => locked_by === null));

    const titles = await db.sql(
      "select title, count(*)::integer from public.notes where title like 'job %' group by title",
    );
    expect(titles).toHaveLength(total);
    expect(titles.filter(({ count }) => count !== 1)).toEqual([]);
    // A scheduled job exists as often as its row: they are one transaction.
    const left = await jobs(db);
    expect(left.map(({ payload }) => (payload.args as { title: string }).title).sort()).toEqual(
      titles.map(({ title }) => `follows ${title}`).sort(),
    );
    expect(left.filter(({ last_error }) => last_error !== null)).toEqual([]);
    await db.sql("truncate graphile_worker._private_jobs");
    for (const child of running) child.kill("SIGKILL");
  });
});

describe("a worker whose connections are cut, again and again", () => {
  test("does every job once, and its process lives on", async () => {
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
      // All except the test's own: like a restart of PostgreSQL, which would disturb other files.
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
    // Does what the rescue does; another worker takes the job and finishes it.
    await db.sql("select graphile_worker.force_unlock_workers(array[$1])", [(await job(id))?.locked_by]);
    await until(async () => !(await job(id)));
    gate("fenced")?.resolve();
    await until(() => began.filter((title) => title === "fenced").length === 2);
    // The first job's end comes after its gate: let the worker do another job before counting.
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
