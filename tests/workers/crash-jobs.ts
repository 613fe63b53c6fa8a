/**
 * For the tests of crashes: jobs that wait for a signal or never succeed, ways to enqueue and inspect them, and workers
 * to kill.
 */
import { type ChildProcess, fork } from "node:child_process";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll } from "vitest";
import { defineApi } from "../../src/app/api.ts";
import type { Worker } from "../../workers/runner.ts";
import { procedure } from "../fixture/backend/index.ts";
import { notes } from "../fixture/backend/schema.ts";
import type { Database } from "../support/database.ts";
import { secret } from "../support/service.ts";
import { jobs, type StartWorker, workers } from "../support/worker.ts";

const gates = new Map<string, PromiseWithResolvers<void>>();
/** Titles of begun jobs, once per start. */
export const began: string[] = [];
/** The promise that a job waits for, by its title. */
export const gate = (name: string) => gates.get(name) ?? gates.set(name, Promise.withResolvers()).get(name);

/** Writes a row and then, the first time only, waits to be released. */
const wait = procedure.internal.name("crash.wait").handler(async ({ context, input }) => {
  const { title } = input as { title: string };
  const first = !began.includes(title);
  began.push(title);
  await context.db.insert(notes).values({ title, userId: context.auth.requireAuth().user.id });
  if (first) await gate(title)?.promise;
});
const fail = procedure.internal.name("crash.fail").handler(() => {
  throw new Error("This never works.");
});
/** Throws a value that is not an Error. */
const text = procedure.internal.name("crash.text").handler(() => {
  throw "This neither.";
});
const api = defineApi({ procedures: { wait, fail, text } });

/** The user of the jobs. */
export const user = "a user of this file";

/** The queue of a test file. Call it at the top of the file, after `database()`. */
export function crashJobs(db: Database) {
  beforeAll(() =>
    db.sql(`insert into auth."user" (id, name, email, email_verified) values ($1, 'Kim', 'kim@example.com', true)`, [
      user,
    ]),
  );
  const start = workers(db, api);
  const running: Worker[] = [];
  // Each test knows which worker takes its jobs.
  afterEach(() => Promise.all(running.splice(0).map((one) => one.stop())).then(() => {}));
  const worker: StartWorker = async (options) => {
    const one = await start(options);
    running.push(one);
    return one;
  };
  const children = new Set<ChildProcess>();
  afterAll(() => {
    for (const child of children) child.kill("SIGKILL");
  });
  return {
    /** Starts a worker that stops with its test. */
    worker,
    /** A worker in a separate process. */
    async startChild(): Promise<ChildProcess> {
      const child = fork(join(import.meta.dirname, "../support/worker-child.ts"), [JSON.stringify(db.urls), secret]);
      children.add(child);
      child.once("exit", () => children.delete(child));
      await new Promise((resolve, reject) => child.once("message", resolve).once("exit", reject));
      return child;
    },
    async enqueue(name: string, title: string): Promise<string> {
      const [row] = await db.sql(
        `select svc_private.add_procedure_job(jsonb_build_object('kind', 'user', 'userId', $1::text), $2,
           json_build_object('title', $3::text), null, null) as id`,
        [user, name, title],
      );
      return row?.id;
    },
    job: async (id: string) => (await jobs(db)).find((one) => one.id === id),
    /** How many rows of this title the jobs have written. */
    rows: async (title: string) => (await db.sql("select from public.notes where title = $1", [title])).length,
    /** Marks a job as begun by this worker, so that no other worker takes it within the hour. */
    hold: (id: string, worker: string) =>
      db.sql(
        `update graphile_worker._private_jobs
            set locked_by = $2, locked_at = now(), run_at = now() + interval '1 hour' where id = $1`,
        [id, worker],
      ),
  };
}
