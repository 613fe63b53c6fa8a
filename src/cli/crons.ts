/**
 * `svc crons`: lists the application's crons with their last run, and runs one now.
 * Next hop: `workers/crontab.ts`; `sql/jobs/enqueue_system_job.sql`.
 */
import type pg from "pg";
import { loadApp } from "../app/load-app.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { CronDefinition } from "../contract/cron.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { byNearness } from "../kit/nearest.ts";
import { cwdArgument, run, say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { withSystem } from "./inspect.ts";
import { conclude, print } from "./output.ts";
import { table, time } from "./table.ts";

interface Registered {
  name: string;
  last_slot: Date;
  last_job: string | null;
}

const list = defineCommand({
  meta: { name: "list", description: "List the application's crons, with their schedules and last runs." },
  args: cwdArgument,
  run: ({ args }) =>
    run(args.cwd, () =>
      withSystem(args.cwd, async (pool, config) => {
        const crons = await definitions(config);
        const { rows } = await pool.query<Registered>("select name, last_slot, last_job from svc_private.list_crons()");
        const found = crons.map(({ name, schedule, procedure }) => {
          const known = rows.find((row) => row.name === name);
          const lastJob = known?.last_job ?? null;
          // The row's time is also that of its registration, when nothing has run yet.
          const lastRun = lastJob === null ? null : (known?.last_slot ?? null);
          return { name, schedule: schedule.text, procedure: procedure.name, lastRun, lastJob };
        });
        const head = ["name", "schedule", "procedure", "last run (UTC)", "last job"];
        const line = (one: (typeof found)[number]) => [
          one.name,
          one.schedule,
          one.procedure,
          time(one.lastRun),
          one.lastJob ?? "-",
        ];
        print(found, () => table(head, found.map(line)));
        const missing = found.length > 0 && rows.length === 0;
        if (missing) say("No worker has registered them yet: svc worker, or svc start --with-worker, runs them.");
      }),
    ),
});

const runNow = defineCommand({
  meta: { name: "run", description: "Enqueue a cron's procedure now, as the system. Its schedule does not change." },
  args: { ...cwdArgument, name: { type: "positional", description: "The cron's name.", required: true } },
  run: ({ args }) =>
    run(args.cwd, () =>
      withSystem(args.cwd, async (pool, config) => {
        const cron = find(await definitions(config), args.name);
        const job = await enqueue(pool, cron);
        conclude({ cron: cron.name, job }, `Enqueued ${cron.procedure.name} as job ${job}; a worker runs it.`);
      }),
    ),
});

export const cronsCommand = defineCommand({
  meta: { name: "crons", description: "Look at crons; run one now." },
  subCommands: { list, run: runNow },
});

const definitions = async (config: EffectiveConfig) => (await loadApp(config)).api["~svc"].crons;

function find(crons: readonly CronDefinition[], name: string): CronDefinition {
  const found = crons.find((one) => one.name === name);
  if (found) return found;
  const [nearest] = byNearness(
    name,
    crons.map((one) => one.name),
  );
  throw new DefinitionError(`There is no cron "${name}".`, {
    hint: nearest ? `Did you mean ${nearest}? \`svc crons list\` lists all.` : "The application defines none.",
  });
}

/** As `claim_cron` does when its time has come. */
async function enqueue(pool: pg.Pool, { name, procedure }: CronDefinition): Promise<string> {
  const text = "select svc_private.enqueue_system_job($1, null, null, null, $2) as job";
  return (await pool.query<{ job: string }>(text, [procedure.name, `cron:${name}`])).rows[0]?.job ?? "";
}
