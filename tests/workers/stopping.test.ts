// If this file fails, a worker that stops loses jobs, or one job that cannot run blocks the others.
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load-config.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { database } from "../support/database.ts";
import { until } from "../support/worker.ts";
import { began, crashJobs, gate } from "./crash-jobs.ts";

const db = database();
const { enqueue, job, rows, worker } = crashJobs(db);

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
    const lines: string[] = [];
    const log = createLog("info", { write: (line) => void lines.push(line) });
    const hasty = await worker({ log, config: { ...config, limits: { ...config.limits, shutdownMs: 100 } } });
    await db.sql("truncate graphile_worker._private_jobs");
    const id = await enqueue("crash.wait", "hangs");
    await until(() => began.includes("hangs"));
    await hasty.stop();
    expect(await job(id)).toMatchObject({ locked_by: null, attempts: 0 });
    expect(await rows("hangs")).toBe(0);
    const said = JSON.parse(lines.find((line) => line.includes("limits.shutdownMs")) ?? "{}");
    expect(said).toMatchObject({ level: 40, jobs: [`${id} crash.wait`] });
    await worker();
    gate("hangs")?.resolve();
    await until(async () => !(await job(id)));
    expect(await rows("hangs")).toBe(1);
  });

  test("does not begin with a queue that does not exist", async () => {
    await expect(worker({ queues: ["procedures"] })).rejects.toThrow(/There is no queue "procedures"/);
  });
});

describe("a job that cannot be done", () => {
  test("keeps its error, does not hold up the others, and in the end waits for a person", async () => {
    const lines: Record<string, unknown>[] = [];
    await worker({ log: createLog("info", { write: (line) => void lines.push(JSON.parse(line)) }) });
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
    const last = () => lines.find(({ level }) => level === 50);
    await until(() => last() !== undefined);
    const msg = "job failed for good; svc jobs show tells more, svc jobs retry runs it again";
    expect(last()).toMatchObject({ job: poison, name: "crash.fail", err: { message: "This never works." }, msg });
    expect((await db.sql("select dead from svc_private.queue_state()"))[0]).toEqual({ dead: "1" });

    expect((await db.sql("select svc_private.retry_job($1) as it", [poison]))[0]?.it).toBe(true);
    await until(async () => (await state()) === "failing");
  });
});
