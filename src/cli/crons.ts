/**
 * `svc crons`: lists the application's crons with their last run, runs one now, pauses and resumes one.
 * Next hop: `workers/crontab.ts`; `sql/studio/act_run_cron.sql`.
 */
import type pg from "pg";
import { loadApp } from "../app/load-app.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { CronDefinition } from "../contract/cron.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { cwdArgument, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { conclude, print } from "./output.ts";
import { table, time } from "./table.ts";

interface Registered {
  name: string;
  last_slot: Date;
  last_job: string | null;
  paused_at: Date | null;
}

const list = defineCommand({
  description: "List the application's crons, with their schedules and last runs.",
  args: cwdArgument,
  run: ({ args }) =>
    withSystem(args.cwd, async (pool, config) => {
      const crons = await definitions(config);
      const { rows } = await pool.query<Registered>("select * from svc_private.list_crons()");
      const found = crons.map(({ name, schedule, procedure }) => {
        const known = rows.find((row) => row.name === name);
        const lastJob = known?.last_job ?? null;
        // The row's time is also that of its registration, when nothing has run yet.
        const lastRun = lastJob === null ? null : (known?.last_slot ?? null);
        const pausedAt = known?.paused_at ?? null;
        return { name, schedule: schedule.text, procedure: procedure.name, lastRun, lastJob, pausedAt };
      });
      const head = ["name", "schedule", "procedure", "last run (UTC)", "last job", "paused at (UTC)"];
      const line = (one: (typeof found)[number]) => [
        one.name,
        one.schedule,
        one.procedure,
        time(one.lastRun),
        one.lastJob ?? "-",
        time(one.pausedAt),
      ];
      print(found, () => table(head, found.map(line)));
      const missing = found.length > 0 && rows.length === 0;
      if (missing) say("No worker has registered them yet: svc worker, or svc start --with-worker, runs them.");
    }),
});

const nameArgument = {
  ...cwdArgument,
  name: { type: "positional", description: "The cron's name.", required: true },
} as const;

const runNow = defineCommand({
  description: "Enqueue a cron's procedure now, as the system. Its schedule does not change.",
  args: nameArgument,
  run: ({ args }) =>
    withSystem(args.cwd, async (pool, config) => {
      const cron = find(await definitions(config), args.name);
      const job = await enqueue(pool, cron);
      conclude({ cron: cron.name, job }, `Enqueued ${cron.procedure.name} as job ${job}; a worker runs it.`);
    }),
});

const pause = defineCommand({
  description: "Let a cron's times pass without a run, until svc crons resume.",
  args: nameArgument,
  run: ({ args }) => setPaused(args.cwd, args.name, true),
});

const resume = defineCommand({
  description: "Run a paused cron again, from its next time on.",
  args: nameArgument,
  run: ({ args }) => setPaused(args.cwd, args.name, false),
});

export const command = defineCommand({
  subCommands: { list, run: runNow, pause, resume },
});

function setPaused(cwd: string, name: string, paused: boolean): Promise<void> {
  return withSystem(cwd, async (pool, config) => {
    const cron = find(await definitions(config), name).name;
    const text = "select svc_private.act_pause_cron($1, $2) as done";
    if (!(await pool.query<{ done: boolean }>(text, [cron, paused])).rows[0]?.done) {
      throw new DefinitionError(`${cron} is ${paused ? "paused already" : "not paused"}, or not registered.`, {
        hint: "A worker registers an application's crons when it begins. `svc crons list` shows their state.",
      });
    }
    conclude({ cron, paused }, paused ? `${cron} is paused.` : `${cron} runs again at its next time.`);
  });
}

const definitions = async (config: EffectiveConfig) => (await loadApp(config)).api["~svc"].crons;

function find(crons: readonly CronDefinition[], name: string): CronDefinition {
  const found = crons.find((one) => one.name === name);
  if (found) return found;
  const names = crons.map((one) => one.name);
  throw new DefinitionError(`There is no cron "${name}".`, { hint: didYouMean(name, names) });
}

/** Enqueues the job that `claim_cron` enqueues at its time, and writes the operator's line. */
async function enqueue(pool: pg.Pool, { name, procedure }: CronDefinition): Promise<string> {
  const text = "select svc_private.act_run_cron($1, $2) as job";
  return (await pool.query<{ job: string }>(text, [name, procedure.name])).rows[0]?.job ?? "";
}
