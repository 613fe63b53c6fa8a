/**
 * `svc jobs`: lists the jobs of the queue and those that finished, retries and cancels them.
 * Next hop: `sql/jobs/list_jobs.sql`, `sql/jobs/list_job_history.sql`, `sql/studio/act_retry_job.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { follow, mostFollowed, resultOf, rowsOf, systemCommand } from "./inspect.ts";
import { before, choice, idReader, isEntry, limit, number, text, word } from "./options.ts";
import { conclude, print, printRows } from "./output.ts";
import { about, type Columns, details, firstLine, paint, time } from "./table.ts";

interface Job {
  id: string;
  kind: string;
  name: string | null;
  state: keyof typeof colours;
  caller: string | null;
  attempts: number;
  max_attempts: number;
  run_at: Date;
  created_at: Date;
  locked_by: string | null;
  locked_at: Date | null;
  last_error: string | null;
  payload: Record<string, unknown>;
}

interface Finished {
  entry: string;
  job: string;
  name: string;
  outcome: keyof typeof endColours;
  attempts: number;
  started_at: Date;
  ms: number;
}

const endColours = { done: 32, dead: 31 } as const;
const ends = Object.keys(endColours);
const colours = { dead: 31, failing: 33, running: 36, due: 32, scheduled: 39 } as const;
const states = Object.keys(colours);

const id = word("The job's id.", idReader("a job's id", isEntry, "Ids are numbers: see `svc jobs list`."));

const list = systemCommand({
  description: "List the jobs in the queue, newest first.",
  args: { state: choice(states, `Only one of: ${states.join(", ")}. (Default: all)`), limit },
  run: async (pool, { state, limit }) => {
    printRows(await read(pool, state, null, limit), columns);
    const { due, running, scheduled, dead } = (await pool.query("select * from svc_private.queue_state()")).rows[0];
    say(`${about(due)} due, ${about(running)} running, ${about(scheduled)} scheduled, ${about(dead)} dead.`);
  },
});

const show = systemCommand({
  description: "Show one job in full.",
  args: { id },
  run: async (pool, { id }) => {
    const [job] = await read(pool, null, id, 1);
    if (!job) throw unknownJob(id);
    print(job, () => describe(job));
  },
});

const change = (description: string, act: "act_retry_job" | "act_cancel_job", outcome: keyof typeof outcomes) =>
  systemCommand({
    description,
    args: { id },
    run: async (pool, { id }) => {
      if (await resultOf<boolean>(pool, act, id)) return conclude({ id, outcome }, `Job ${id} ${outcomes[outcome]}.`);
      const [job] = await read(pool, null, id, 1);
      if (!job) throw unknownJob(id);
      throw new DefinitionError(`Job ${id} is running.`, { hint: "Wait for its end, or stop its worker." });
    },
  });

const outcomes = { due: "is due now", cancelled: "is gone" } as const;

const tail = systemCommand({
  description: "Follow the queue: a line for each job whose state changes.",
  run: (pool) =>
    follow(
      () => read(pool, null, null, mostFollowed),
      columns,
      (job) => `${job.state} ${job.attempts}`,
      "done",
    ),
});

const history = systemCommand({
  description: "List jobs that finished lately, newest first.",
  args: {
    name: text("Only of this internal procedure or kind. (Default: all)"),
    outcome: choice(ends, `Only one of: ${ends.join(", ")}. (Default: both)`),
    least: number("Only those that took this many milliseconds or more. (Default: all)"),
    before: before("svc jobs history"),
    limit,
  },
  run: async (pool, { name, outcome, least, before, limit }) =>
    printRows(await rowsOf<Finished>(pool, "list_job_history", name, outcome, least, before, limit), finishedColumns),
});

export const command = defineCommand({
  subCommands: {
    list,
    show,
    history,
    retry: change("Run a job now, and give it all its attempts again.", "act_retry_job", "due"),
    cancel: change("Remove a job that is not running from the queue.", "act_cancel_job", "cancelled"),
    tail,
  },
});

const read = (pool: pg.Pool, state: string | null | undefined, id: string | null, most: number): Promise<Job[]> =>
  rowsOf(pool, "list_jobs", state, id, most);

const columns: Columns<Job> = {
  id: "id",
  state: ({ state }) => paint(state, colours[state]),
  name: ({ name, kind }) => name ?? kind,
  as: "caller",
  attempts: ({ attempts, max_attempts }) => `${attempts}/${max_attempts}`,
  "run at (UTC)": "run_at",
  "last error": ({ last_error }) => firstLine(last_error),
};

const finishedColumns: Columns<Finished> = {
  entry: "entry",
  job: "job",
  outcome: ({ outcome }) => paint(outcome, endColours[outcome]),
  name: "name",
  attempts: "attempts",
  "started at (UTC)": "started_at",
  took: ({ ms }) => `${Math.round(ms)} ms`,
};

const describe = (job: Job) =>
  details({
    id: job.id,
    state: paint(job.state, colours[job.state]),
    kind: job.kind,
    name: job.name,
    as: job.caller,
    attempts: `${job.attempts} of ${job.max_attempts}`,
    "enqueued at": job.created_at,
    "run at": job.run_at,
    worker: job.locked_by && `${job.locked_by} since ${time(job.locked_at)}`,
    request: job.payload.requestId,
    arguments: JSON.stringify(job.payload.args ?? null),
    "last error": job.last_error,
  });

const unknownJob = (id: string) =>
  new DefinitionError(`There is no job ${id} in the queue.`, {
    hint: "Finished jobs are removed: see `svc jobs history`.",
  });
