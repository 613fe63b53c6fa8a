/**
 * `svc crons`: lists the application's crons with their last run, runs one now, pauses and resumes one.
 * Next hop: `workers/crontab.ts`; `sql/studio/act_run_cron.sql`.
 */
import { loadApp } from "../app/load-app.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { CronDefinition } from "../contract/cron.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { didYouMean } from "../kit/nearest.ts";
import { say } from "./command.ts";
import { defineCommand } from "./define.ts";
import { resultOf, rowsOf, systemCommand } from "./inspect.ts";
import { word } from "./options.ts";
import { conclude, printRows } from "./output.ts";

interface Registered {
  name: string;
  last_slot: Date;
  last_job: string | null;
  paused_at: Date | null;
}

const list = systemCommand({
  description: "List the application's crons, with their schedules and last runs.",
  run: async (pool, _, config) => {
    const crons = await definitions(config);
    const rows = await rowsOf<Registered>(pool, "list_crons");
    const found = crons.map(({ name, schedule, procedure }) => {
      const known: Partial<Registered> = rows.find((row) => row.name === name) ?? {};
      const { last_slot = null, last_job: lastJob = null, paused_at: pausedAt = null } = known;
      // The row's time is also that of its registration, when nothing has run yet.
      const lastRun = lastJob === null ? null : last_slot;
      return { name, schedule: schedule.text, procedure: procedure.name, lastRun, lastJob, pausedAt };
    });
    printRows(found, {
      name: "name",
      schedule: "schedule",
      procedure: "procedure",
      "last run (UTC)": "lastRun",
      "last job": "lastJob",
      "paused at (UTC)": "pausedAt",
    });
    const missing = found.length > 0 && rows.length === 0;
    if (missing) say("No worker has registered them yet: svc worker, or svc start --with-worker, runs them.");
  },
});

const name = word("The cron's name.");

const runNow = systemCommand({
  description: "Enqueue a cron's procedure now, as the system. Its schedule does not change.",
  args: { name },
  run: async (pool, args, config) => {
    const { name, procedure } = find(await definitions(config), args.name);
    // The job that `claim_cron` enqueues at its time, and the operator's line.
    const job = await resultOf<string>(pool, "act_run_cron", name, procedure.name);
    conclude({ cron: name, job }, `Enqueued ${procedure.name} as job ${job}; a worker runs it.`);
  },
});

const setPaused = (description: string, paused: boolean) =>
  systemCommand({
    description,
    args: { name },
    run: async (pool, args, config) => {
      const cron = find(await definitions(config), args.name).name;
      if (!(await resultOf<boolean>(pool, "act_pause_cron", cron, paused))) {
        throw new DefinitionError(`${cron} is ${paused ? "paused already" : "not paused"}, or not registered.`, {
          hint: "A worker registers an application's crons when it begins. `svc crons list` shows their state.",
        });
      }
      conclude({ cron, paused }, paused ? `${cron} is paused.` : `${cron} runs again at its next time.`);
    },
  });

export const command = defineCommand({
  subCommands: {
    list,
    run: runNow,
    pause: setPaused("Let a cron's times pass without a run, until svc crons resume.", true),
    resume: setPaused("Run a paused cron again, from its next time on.", false),
  },
});

const definitions = async (config: EffectiveConfig) => (await loadApp(config)).api["~svc"].crons;

function find(crons: readonly CronDefinition[], name: string): CronDefinition {
  const found = crons.find((one) => one.name === name);
  if (found) return found;
  const names = crons.map((one) => one.name);
  throw new DefinitionError(`There is no cron "${name}".`, { hint: didYouMean(name, names) });
}
