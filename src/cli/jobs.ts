/**
 * `svc jobs`: lists the jobs of the queue and those that finished, retries and cancels them.
 * Next hop: `sql/jobs/list_jobs.sql`, `sql/jobs/list_job_history.sql`, `sql/studio/act_retry_job.sql`.
 */
import type pg from "pg";
import { DefinitionError } from "../kit/definition-error.ts";
import { cwdArgument, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { follow, mostFollowed, withSystem } from "./inspect.ts";
import { limitArgument, oneOf, wholeNumber } from "./options.ts";
import { conclude, print } from "./output.ts";
import { about, details, paint, table, time } from "./table.ts";

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
  kind: string;
  name: string;
  outcome: keyof typeof endColours;
  attempts: number;
  run_at: Date;
  started_at: Date;
  finished_at: Date;
  ms: number;
}

const endColours = { done: 32, dead: 31 } as const;
const ends = Object.keys(endColours);
const colours = { dead: 31, failing: 33, running: 36, due: 32, scheduled: 39 } as const;
const states = Object.keys(colours);

const idArgument = { id: { type: "positional", description: "The job's id.", required: true } } as const;

const list = defineCommand({
  description: "List the jobs in the queue, newest first.",
  args: {
    ...cwdArgument,
    state: { type: "string", description: `Only one of: ${states.join(", ")}. (Default: all)` },
    ...limitArgument,
  },
  run: async ({ args }) => {
    const state = oneOf("state", args.state, states);
    const limit = wholeNumber("limit", args.limit);
    await withSystem(args.cwd, async (pool) => {
      const jobs = await read(pool, state, null, limit);
      const head = ["id", "state", "name", "as", "attempts", "run at (UTC)", "last error"];
      print(jobs, () => table(head, jobs.map(line)));
      say(await summary(pool));
    });
  },
});

const show = defineCommand({
  description: "Show one job in full.",
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) =>
    withSystem(args.cwd, async (pool) => {
      const [job] = await read(pool, null, idOf(args.id), 1);
      if (!job) throw unknownJob(args.id);
      print(job, () => describe(job));
    }),
});

const retry = defineCommand({
  description: "Run a job now, and give it all its attempts again.",
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => change(args.cwd, args.id, "act_retry_job", "due"),
});

const cancel = defineCommand({
  description: "Remove a job that is not running from the queue.",
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => change(args.cwd, args.id, "act_cancel_job", "cancelled"),
});

const tail = defineCommand({
  description: "Follow the queue: a line for each job whose state changes.",
  args: cwdArgument,
  run: ({ args }) =>
    withSystem(args.cwd, (pool) =>
      follow(
        async () => (await read(pool, null, null, mostFollowed)).map(followed),
        (id) => ({ line: `${id}  ${paint("done", 32)}`, value: { id, state: "done" } }),
      ),
    ),
});

const history = defineCommand({
  description: "List jobs that finished lately, newest first.",
  args: {
    ...cwdArgument,
    name: { type: "string", description: "Only of this internal procedure or kind. (Default: all)" },
    outcome: { type: "string", description: `Only one of: ${ends.join(", ")}. (Default: both)` },
    least: { type: "string", description: "Only those that took this many milliseconds or more. (Default: all)" },
    before: {
      type: "string",
      description: "Only entries before this one: the last of the page before. (Default: none)",
    },
    ...limitArgument,
  },
  run: async ({ args }) => {
    const values = [
      args.name ?? null,
      oneOf("outcome", args.outcome, ends),
      args.least === undefined ? null : wholeNumber("least", args.least),
      args.before === undefined ? null : entryOf(args.before),
      wholeNumber("limit", args.limit),
    ];
    await withSystem(args.cwd, async (pool) => {
      const text = "select * from svc_private.list_job_history($1, $2, $3, $4, $5)";
      const { rows } = await pool.query<Finished>(text, values);
      const head = ["entry", "job", "outcome", "name", "attempts", "started at (UTC)", "took"];
      print(rows, () => table(head, rows.map(finishedLine)));
    });
  },
});

export const command = defineCommand({
  subCommands: { list, show, history, retry, cancel, tail },
});

async function read(pool: pg.Pool, state: string | null, id: string | null, most: number): Promise<Job[]> {
  const { rows } = await pool.query<Job>("select * from svc_private.list_jobs($1, $2, $3)", [state, id, most]);
  return rows;
}

const outcomes = { due: "is due now", cancelled: "is gone" } as const;

async function change(
  cwd: string,
  text: string,
  what: "act_retry_job" | "act_cancel_job",
  outcome: keyof typeof outcomes,
): Promise<void> {
  const id = idOf(text);
  await withSystem(cwd, async (pool) => {
    const { rows } = await pool.query<{ it: boolean }>(`select svc_private.${what}($1) as it`, [id]);
    if (rows[0]?.it) return conclude({ id, outcome }, `Job ${id} ${outcomes[outcome]}.`);
    const [job] = await read(pool, null, id, 1);
    if (!job) throw unknownJob(id);
    throw new DefinitionError(`Job ${id} is running.`, { hint: "Wait for its end, or stop its worker." });
  });
}

const line = (job: Job): string[] => [
  job.id,
  paint(job.state, colours[job.state]),
  job.name ?? job.kind,
  job.caller ?? "-",
  `${job.attempts}/${job.max_attempts}`,
  time(job.run_at),
  (job.last_error ?? "").split("\n", 1)[0]?.slice(0, 80) ?? "",
];

const finishedLine = (job: Finished): string[] => [
  job.entry,
  job.job,
  paint(job.outcome, endColours[job.outcome]),
  job.name,
  String(job.attempts),
  time(job.started_at),
  `${Math.round(job.ms)} ms`,
];

const followed = (job: Job) => ({
  id: job.id,
  state: `${job.state} ${job.attempts}`,
  line: line(job).join("  "),
  value: job,
});

function describe(job: Job): string {
  return details([
    ["id", job.id],
    ["state", paint(job.state, colours[job.state])],
    ["kind", job.kind],
    ["name", job.name ?? "-"],
    ["as", job.caller ?? "-"],
    ["attempts", `${job.attempts} of ${job.max_attempts}`],
    ["enqueued at", time(job.created_at)],
    ["run at", time(job.run_at)],
    ["worker", job.locked_by ? `${job.locked_by} since ${time(job.locked_at)}` : "-"],
    ["request", String(job.payload.requestId ?? "-")],
    ["arguments", JSON.stringify(job.payload.args ?? null)],
    ["last error", job.last_error ?? "-"],
  ]);
}

async function summary(pool: pg.Pool): Promise<string> {
  const { rows } = await pool.query("select * from svc_private.queue_state()");
  const { due, running, scheduled, dead } = rows[0];
  return `${about(due)} due, ${about(running)} running, ${about(scheduled)} scheduled, ${about(dead)} dead.`;
}

function idOf(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new DefinitionError(`"${text}" is not a job's id.`, { hint: "Ids are numbers: see `svc jobs list`." });
}

function entryOf(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new DefinitionError(`--before ${text} is not an entry.`, {
    hint: "Entries are numbers: see `svc jobs history`.",
  });
}

const unknownJob = (id: string) =>
  new DefinitionError(`There is no job ${id} in the queue.`, {
    hint: "Finished jobs are removed: see `svc jobs history`.",
  });
