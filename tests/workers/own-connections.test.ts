// If this file fails, an outage of a pooler, or of one login, uses up the attempts of every due job: after some minutes they
// are dead, although none of them is wrong. Needs PgBouncer 1.21 or newer; skipped with a message without it.
import { Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { Registry } from "prom-client";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { Bouncer, findBouncer } from "../../scripts/rehearse/bouncer.ts";
import { defineApi } from "../../src/app/api.ts";
import { workflow } from "../../src/index.ts";
import { addJobMetrics } from "../../src/telemetry/add-job-metrics.ts";
import { JobMetrics } from "../../src/telemetry/job-metrics.ts";
import { createLog } from "../../src/telemetry/log.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import { type Database, database } from "../support/database.ts";
import { jobs, until, workers } from "../support/worker.ts";

const found = findBouncer();
const missing = "problem" in found ? ` [skipped: ${found.problem}]` : "";

const user = "a user of this file";
const note = procedure.internal
  .name("outage.note")
  .input(z.object({ title: z.string() }))
  .handler(async ({ context, input }) => {
    await context.db.insert(notes).values({ title: input.title, userId: user });
  });
/** The first error of a step that counts is final. */
const fragile = workflow("outage.fragile", {
  retries: { limit: 0 },
  handler: async (wf) => {
    for (const title of ["first", "second"]) {
      await wf.step(title, () => wf.db.insert(notes).values({ title: `${wf.runId} ${title}`, userId: user }));
    }
  },
});
const api = defineApi({ procedures: { note }, workflows: { fragile } });
const db = database();

beforeAll(() =>
  db.sql(`insert into auth."user" (id, name, email, email_verified) values ($1, 'Kim', 'kim@example.com', true)`, [
    user,
  ]),
);

const addRun = async (): Promise<string> => {
  const text = "select svc_private.add_run($1, false, 'outage.fragile', 1, '{\"json\": {}}', null, null, null) as id";
  return (await db.sql(text, [user]))[0]?.id;
};
async function add(count: number): Promise<void> {
  for (let each = 0; each < count; each++) {
    await db.sql(
      `select svc_private.add_procedure_job(jsonb_build_object('kind', 'user', 'userId', $1::text), 'outage.note',
         '{"title": "by a job"}', null, null)`,
      [user],
    );
    await addRun();
  }
}

describe.skipIf(missing)(`a worker whose connections for jobs fail, but not that of the queue${missing}`, () => {
  test.for([
    ["the pooler is down", ["request", "system", "auth"]],
    ["the login of requests cannot connect", ["request"]],
  ] as const)("uses up no attempt while %s, says so once, and then runs all jobs", async ([, behind]) => {
    await db.sql("truncate svc.workflow_runs cascade; truncate svc.job_history, public.notes");
    const { hostname: host, port } = new URL(db.url("request"));
    const logins = behind.map((login) => new URL(db.url(login)));
    const options = {
      program: "program" in found ? found.program : "",
      server: { host, port: Number(port) },
      passwords: Object.fromEntries(logins.map(({ username, password }) => [username, password])),
      databases: { [db.name]: { name: db.name, mode: "transaction" as const } },
    };
    let bouncer = await Bouncer.start(options);
    onTestFinished(() => bouncer.stop());
    const at = { port: bouncer.port };
    const via = (login: keyof Database["urls"]) => {
      const url = new URL(db.url(login));
      url.port = String(at.port);
      return url.href;
    };
    const through = Object.fromEntries(behind.map((login) => [login, via(login)]));
    const lines: { msg: string; level: number; pool?: string }[] = [];
    const write: Writable["_write"] = (chunk, _encoding, done) => {
      lines.push(
        ...String(chunk)
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line)),
      );
      done();
    };
    const metrics = new JobMetrics();
    const registry = new Registry();
    addJobMetrics(registry, metrics);
    const paused = async () => /^svc_worker_paused (\d)$/m.exec(await registry.metrics())?.[1];
    const said = (message: string) => lines.filter(({ msg }) => msg.startsWith(message));
    const urls = { ...db.urls, queue: db.url("system"), ...through };
    const worker = await workers(
      { urls } as unknown as Database,
      api,
    )({
      log: createLog("info", new Writable({ write })),
      metrics,
    });
    await add(1);
    await until(async () => (await jobs(db)).length === 0); // its connections are open now

    await bouncer.stop();
    await add(6);
    await sleep(3_000); // several times as long as the worker waits between two looks at the queue
    await until(async () => (await jobs(db)).every((job) => job.locked_by === null));
    expect((await jobs(db)).map(({ attempts }) => attempts)).toEqual(Array(12).fill(0));
    expect(await db.sql("select from svc.workflow_runs where claims > 0 and status <> 'completed'")).toEqual([]);
    expect(said("this worker cannot connect")).toMatchObject([{ level: 50, pool: "request" }]);
    expect(await paused()).toBe("1");
    expect(said("job failed")).toEqual([]);
    expect(said("job postponed").length).toBeLessThanOrEqual(4); // those that it ran at the time

    bouncer = await Bouncer.start({ ...options, ...at });
    await until(async () => (await jobs(db)).length === 0);
    expect(said("this worker can connect")).toHaveLength(1);
    expect(await paused()).toBe("0");
    expect(await db.sql("select status, count(*)::integer from svc.workflow_runs group by 1")).toEqual([
      { status: "completed", count: 7 },
    ]);
    expect(await db.sql("select count(*)::integer from public.notes")).toEqual([{ count: 7 + 2 * 7 }]);
    await worker.stop(); // writes the history
    const [history] = await db.sql("select max(attempts) as most, count(*)::integer from svc.job_history");
    expect(history).toEqual({ most: 1, count: 2 * 7 });
  });
});

describe("svc_private.postpone_job", () => {
  const held = async (run: string) => {
    const text = "update graphile_worker._private_jobs set locked_by = 'w', locked_at = now(), attempts = attempts + 1";
    return (await db.sql(`${text} where key = $1 returning id`, [`workflow:${run}`]))[0]?.id as string;
  };
  let at: Date;
  const postpone = async (id: string, worker = "w") => {
    const text = "select svc_private.postpone_job($1, $2, 'no connection') as it, clock_timestamp() as at";
    const [answer] = await db.sql(text, [id, worker]);
    at = answer?.at;
    return answer?.it;
  };
  /** `wait` is the time from its return to its next run. */
  const row = async (id: string) =>
    (
      await db.sql(
        `select attempts, locked_by, last_error, round(extract(epoch from run_at - $2))::integer as wait
           from graphile_worker._private_jobs where id = $1`,
        [id, at],
      )
    )[0];

  test("lets the job wait longer each time, up to a minute, and counts no attempt and no claim", async () => {
    const run = await addRun();
    const waits: number[] = [];
    let id = "";
    for (let each = 0; each < 12; each++) {
      id = await held(run);
      await db.sql("select svc_private.claim_run($1)", [run]);
      expect(await postpone(id)).toBe(true);
      const { wait, ...others } = (await row(id)) as { wait: number };
      expect(others).toEqual({ attempts: 0, locked_by: null, last_error: "no connection" });
      waits.push(wait);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60, 60]);
    expect(await db.sql("select status, claims from svc.workflow_runs where id = $1", [run])).toEqual([
      { status: "running", claims: 0 },
    ]);
    await db.sql("select svc_private.retry_job($1)", [id]);
    await held(run);
    await postpone(id);
    expect((await row(id))?.wait).toBe(1);
  });

  test("gives the job to other workers first, for two seconds", async () => {
    const id = await held(await addRun());
    await postpone(id);
    const claimedBy = async (worker: string, ago: string) => {
      await db.sql(`update graphile_worker._private_jobs set run_at = now() - $2::interval where id = $1`, [id, ago]);
      const text = `select id from svc_private.claim_job($1, (select array_agg(id) from graphile_worker._private_tasks), null)`;
      return (await db.sql(text, [worker])).map((job) => job.id);
    };
    expect(await claimedBy("w", "1 second")).toEqual([]);
    expect(await claimedBy("another", "1 second")).toEqual([id]);
    await postpone(id, "another");
    expect(await claimedBy("w", "1 second")).toEqual([]); // it has not forgotten the first
    expect(await claimedBy("w", "3 seconds")).toEqual([id]);
  });

  test("does not touch a job that another worker has got", async () => {
    const id = await held(await addRun());
    expect(await postpone(id, "another")).toBe(false);
    expect(await row(id)).toMatchObject({ attempts: 1, locked_by: "w" });
  });

  test("removes the job of a run that was woken meanwhile: another one continues it", async () => {
    const run = await addRun();
    const id = await held(run);
    await db.sql("select svc_private.wake_run($1, now())", [run]);
    expect(await postpone(id)).toBe(true);
    expect(await row(id)).toBeUndefined();
    const left = "select attempts from graphile_worker._private_jobs where payload ->> 'runId' = $1";
    expect(await db.sql(left, [run])).toEqual([{ attempts: 0 }]);
  });
});
