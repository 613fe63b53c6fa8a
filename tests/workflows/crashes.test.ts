// If this file fails, a process that dies makes a run repeat a step, lose the writes of a step, or stop for ever.
import { pino } from "pino";
import { beforeAll, describe, expect, test } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import { workflow } from "../../src/index.ts";
import { replay } from "../../src/workflows/replay.ts";
import type { ReplayPort } from "../../src/workflows/replay-port.ts";
import { database } from "../support/database.ts";
import { names, twentySteps } from "../support/twenty-steps.ts";
import { dies, until, workers } from "../support/worker.ts";

/** Real kills of processes: with `npm run chaos` one after each of the twenty checkpoints, and one before each. */
const thorough = process.env.CHAOS_KILLS !== undefined;
const user = "a user of the crashes";

/** The runs that stop after a checkpoint, as in a process that died there, or was considered dead. */
const dead = new Map<string, string>();
let awakening = Promise.withResolvers<void>();
const began: string[] = [];
const steps = twentySteps({
  began: (run, name) => void began.push(`${run} ${name}`),
  wrote() {},
  async passed(run, name) {
    if (dead.get(run) !== name) return;
    dead.set(run, "");
    await awakening.promise;
  },
});
/** Steps that the first worker never ends. */
const held = new Set<string>();
const holding = workflow("crashes.holding", {
  handler: async (wf) => {
    for (const name of ["first", "second", "third"]) {
      await wf.step(name, async () => {
        if (held.delete(name)) await awakening.promise;
      });
    }
  },
});

const db = database();
const startWorker = workers(db, defineApi({ workflows: { steps, holding } }));
beforeAll(async () => {
  await db.sql(
    `insert into auth."user" (id, name, email, email_verified) values ($1, 'Kim', 'kim@example.com', true)`,
    [user],
  );
  await db.sql(
    "create table public.starts (run uuid not null, name text not null, at timestamptz not null default clock_timestamp())",
  );
});

const begin = async () => {
  const call = "select svc_private.add_run($1, false, 'crash.steps', 1, '{\"json\": {}}', null, null, null) as id";
  return (await db.sql(call, [user]))[0]?.id as string;
};
const statusOf = async (id: string) => (await db.sql("select * from svc.workflow_runs where id = $1", [id]))[0]?.status;
/** The rows of steps, as often as each was written. */
const written = async (ids: string[]) =>
  (await db.sql("select title from public.notes where split_part(title, ' ', 1) = any ($1)", [ids]))
    .map(({ title }) => title)
    .sort();
const each = (ids: string[]) => ids.flatMap((id) => names.map((name) => `${id} ${name}`)).sort();

describe("a run of twenty steps whose process stops", () => {
  test("after any one of its checkpoints, in a row or in parallel, does no step again", async () => {
    const ids: string[] = [];
    for (const name of names) {
      const id = await begin();
      dead.set(id, name);
      ids.push(id);
    }
    const first = await startWorker({ concurrency: names.length, queues: ["workflow"] });
    await until(() => [...dead.values()].every((left) => left === ""));
    // A dead process does nothing more: the other branches beside the stopped one are done by then.
    const recorded = "select count(*) from svc.workflow_steps where run_id = any ($1)";
    await until(async () => Number((await db.sql(recorded, [ids]))[0]?.count) === 55 + 10 * 20);
    // Does what the rescue does with jobs of dead workers.
    await db.sql(
      "select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker._private_jobs",
    );
    const second = await startWorker({ concurrency: 4, queues: ["workflow"] });
    await until(async () => (await Promise.all(ids.map(statusOf))).every((status) => status === "completed"));
    expect([...began].sort()).toEqual(each(ids));
    expect(await written(ids)).toEqual(each(ids));
    // Runs that were considered dead wake up and continue: their writes are refused.
    awakening.resolve();
    await Promise.all([first.stop(), second.stop()]);
    expect(await written(ids)).toEqual(each(ids));
  });

  test("by kill -9, again and again, does no step again that had its checkpoint, and writes each row once", {
    timeout: thorough ? 400_000 : 120_000,
  }, async () => {
    // One run and a kill at every point; or three runs, and a kill after every few points of any of them.
    const ids = await Promise.all(Array.from({ length: thorough ? 1 : 3 }, begin));
    const every = thorough ? 1 : 22;
    let kills = 0;
    for (let life = 0; ; life++) {
      const where = life % 2 === 0 ? "passed" : "wrote";
      if (await lifetime(where, every, ids)) break;
      kills++;
    }
    expect(kills).toBeGreaterThanOrEqual(thorough ? 20 : 2);
    expect(await written(ids)).toEqual(each(ids));
    const again = await db.sql(
      `select s.name from public.starts s join svc.workflow_steps w on w.run_id = s.run and w.name = s.name
        where s.at > w.finished_at`,
    );
    expect(again).toEqual([]);
  });
});

/** Lets a worker live until it dies. @returns whether all runs were completed before that */
async function lifetime(where: string, at: number, ids: string[]): Promise<boolean> {
  const completed = async () => (await Promise.all(ids.map(statusOf))).every((one) => one === "completed");
  await dies(db, "workflow-child.ts", [where, String(at)], completed);
  return completed();
}

test.for([
  ["first", [2, 1, 1]],
  ["second", [1, 2, 1]],
] as const)("the attempt in a worker that died is counted: %s", async ([name, attempts]) => {
  awakening = Promise.withResolvers<void>();
  held.add(name);
  const call = "select svc_private.add_run($1, false, 'crashes.holding', 1, '{\"json\": {}}', null, null, null) as id";
  const id = (await db.sql(call, [user]))[0]?.id as string;
  const first = await startWorker({ queues: ["workflow"] });
  await until(() => !held.has(name));
  await db.sql(
    "select graphile_worker.force_unlock_workers(array_agg(distinct locked_by)) from graphile_worker._private_jobs",
  );
  const second = await startWorker({ queues: ["workflow"] });
  await until(async () => (await statusOf(id)) === "completed");
  const rows = await db.sql("select attempts from svc.workflow_steps where run_id = $1 order by seq", [id]);
  expect(rows.map((row) => row.attempts)).toEqual(attempts);
  awakening.resolve();
  await Promise.all([first.stop(), second.stop()]);
});

// suspend_run() queues a run at once only if it is told no wait. The next step would have waited for the other branch's event.
test("a worker that stops leaves a run that can continue in one branch while another one waits", async () => {
  const stopping = new AbortController();
  const port: ReplayPort = {
    step: async (position, _name, _last, run) => run({ position } as Parameters<typeof run>[0]),
    wait: async () => ({ done: false, result: null }),
    convert: () => Promise.reject(new Error("no documents here")),
    conversion: () => Promise.reject(new Error("no documents here")),
  };
  const both = workflow("crashes.both", {
    handler: (wf) =>
      wf.parallel([
        () => wf.waitForEvent("go"),
        async () => {
          await wf.step("last of this worker", () => stopping.abort());
          await wf.step("first of the next", () => {});
        },
      ]),
  });
  const { workflow: definition } = both["~svc"];
  const options = { runId: "", definition, args: {}, recorded: [], attempts: 0, port, log: pino({ level: "silent" }) };
  expect(await replay({ ...options, signal: stopping.signal })).toEqual({ kind: "suspended", stuck: [] });
  const { signal } = new AbortController();
  expect(await replay({ ...options, signal })).toEqual({ kind: "suspended", stuck: ["0.0.0"] });
});
