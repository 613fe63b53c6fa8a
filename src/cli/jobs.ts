/**
 * `svc jobs`: what is in the queue, and what a person can do about it.
 * Next hop: `sql/jobs/list_jobs.sql`, `retry_job.sql`, `cancel_any_job.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { defineCommand } from "citty";
import pg from "pg";
import { DefinitionError } from "../define/definition-error.ts";
import { cwdArgument, openDatabase, readConfig, run, say } from "./command.ts";
import { paint, table } from "./table.ts";

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

const colours = { dead: 31, failing: 33, running: 36, due: 32, scheduled: 39 } as const;
const states = Object.keys(colours);

const idArgument = { id: { type: "positional", description: "The job's id.", required: true } } as const;

const list = defineCommand({
  meta: { name: "list", description: "What is in the queue, newest first." },
  args: {
    ...cwdArgument,
    state: { type: "string", description: `Only one of: ${states.join(", ")}.` },
    limit: { type: "string", description: "Rows at most. (Default: 50)", default: "50" },
  },
  run: ({ args }) =>
    run(args.cwd, async () => {
      if (args.state && !states.includes(args.state)) {
        throw new DefinitionError(`"${args.state}" is no state of a job.`, { hint: `States: ${states.join(", ")}.` });
      }
      const limit = Number(args.limit);
      if (!Number.isInteger(limit) || limit < 1)
        throw new DefinitionError(`--limit ${args.limit} is no number of rows.`);
      await withQueue(args.cwd, async (client) => {
        const jobs = await read(client, args.state ?? null, null, limit);
        process.stdout.write(describe(jobs));
        say(await summary(client));
      });
    }),
});

const show = defineCommand({
  meta: { name: "show", description: "All about one job." },
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) =>
    run(args.cwd, () =>
      withQueue(args.cwd, async (client) => {
        const [job] = await read(client, null, idOf(args.id), 1);
        if (!job) throw unknownJob(args.id);
        process.stdout.write(details(job));
      }),
    ),
});

const retry = defineCommand({
  meta: { name: "retry", description: "Run a job now, with all its attempts before it." },
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => run(args.cwd, () => change(args.cwd, args.id, "retry_job", "is due now")),
});

const cancel = defineCommand({
  meta: { name: "cancel", description: "Take a job that is not running out of the queue." },
  args: { ...cwdArgument, ...idArgument },
  run: ({ args }) => run(args.cwd, () => change(args.cwd, args.id, "cancel_any_job", "is gone")),
});

const tail = defineCommand({
  meta: { name: "tail", description: "Follow the queue: a line for each job whose state changes." },
  args: cwdArgument,
  run: ({ args }) => run(args.cwd, () => withQueue(args.cwd, follow)),
});

export const jobsCommand = defineCommand({
  meta: { name: "jobs", description: "Look at the queue; retry or cancel jobs." },
  subCommands: { list, show, retry, cancel, tail },
});

async function withQueue(cwd: string, work: (client: pg.Client) => Promise<void>): Promise<void> {
  const cluster = await openDatabase(await readConfig(cwd));
  const client = new pg.Client({ connectionString: cluster.urls.system, application_name: "svc jobs" });
  try {
    await client.connect();
    await work(client);
  } finally {
    await client.end();
    await cluster.stop();
  }
}

async function read(client: pg.Client, state: string | null, id: string | null, most: number): Promise<Job[]> {
  const { rows } = await client.query<Job>("select * from svc_private.list_jobs($1, $2, $3)", [state, id, most]);
  return rows;
}

async function change(cwd: string, text: string, what: "retry_job" | "cancel_any_job", outcome: string): Promise<void> {
  const id = idOf(text);
  await withQueue(cwd, async (client) => {
    const { rows } = await client.query<{ it: boolean }>(`select svc_private.${what}($1) as it`, [id]);
    if (rows[0]?.it) return say(`Job ${id} ${outcome}.`);
    const [job] = await read(client, null, id, 1);
    if (!job) throw unknownJob(id);
    throw new DefinitionError(`Job ${id} is running.`, { hint: "Wait for its end, or stop its worker." });
  });
}

/** Asks once a second, which is as often as a person reads. Ends with Ctrl+C. */
async function follow(client: pg.Client): Promise<void> {
  const known = new Map<string, string>();
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());
  for (let first = true; !stop.signal.aborted; first = false) {
    const jobs = await read(client, null, null, 1_000);
    for (const job of jobs.toReversed()) {
      const state = `${job.state} ${job.attempts}`;
      if (!first && known.get(job.id) !== state) process.stdout.write(`${line(job).join("  ")}\n`);
      known.set(job.id, state);
    }
    const present = new Set(jobs.map(({ id }) => id));
    for (const id of [...known.keys()].filter((one) => !present.has(one))) {
      known.delete(id);
      if (jobs.length < 1_000) process.stdout.write(`${id}  ${paint("done", 32)}\n`);
    }
    await sleep(1_000, undefined, { signal: stop.signal }).catch(() => {});
  }
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

const describe = (jobs: readonly Job[]) =>
  table(["id", "state", "name", "as", "attempts", "run at (UTC)", "last error"], jobs.map(line));

function details(job: Job): string {
  const rows = [
    ["id", job.id],
    ["state", paint(job.state, colours[job.state])],
    ["kind", job.kind],
    ["name", job.name ?? "-"],
    ["as", job.caller ?? "-"],
    ["attempts", `${job.attempts} of ${job.max_attempts}`],
    ["enqueued at", time(job.created_at)],
    ["run at", time(job.run_at)],
    ["worker", job.locked_by ? `${job.locked_by} since ${job.locked_at ? time(job.locked_at) : "-"}` : "-"],
    ["request", String(job.payload.requestId ?? "-")],
    ["arguments", JSON.stringify(job.payload.args ?? null)],
    ["last error", job.last_error ?? "-"],
  ];
  return rows.map(([name = "", value]) => `${name.padEnd(12)}  ${value}\n`).join("");
}

async function summary(client: pg.Client): Promise<string> {
  const { rows } = await client.query("select * from svc_private.queue_state()");
  const { due, running, scheduled, dead } = rows[0];
  return `${due} due, ${running} running, ${scheduled} scheduled, ${dead} dead.`;
}

const time = (value: Date) => value.toISOString().slice(0, 19).replace("T", " ");

function idOf(text: string): string {
  if (/^[1-9]\d{0,17}$/.test(text)) return text;
  throw new DefinitionError(`"${text}" is no job's id.`, { hint: "Ids are numbers: see `svc jobs list`." });
}

const unknownJob = (id: string) =>
  new DefinitionError(`There is no job ${id} in the queue.`, { hint: "Jobs that are done leave it: see the log." });
