/**
 * Runs due jobs, one after the other, until none is left. Tests call it instead of starting a worker. The jobs, their
 * transactions and their effects are those of `run-job.ts`.
 * Next hop: `run-job.ts` for one job, `crontab.ts` for crons.
 */
import { type JobHelpers, Logger as QueueLogger, runTaskListOnce, type TaskList } from "graphile-worker";
import { sessionsOfUsers } from "../src/auth/sessions/find-user.ts";
import { createPools } from "../src/postgres/pools.ts";
import { createRuntime, type ProcessOptions } from "../src/service/runtime.ts";
import { createSender } from "../src/webhooks/sender.ts";
import { startCrontab } from "./crontab.ts";
import { runJob } from "./run-job.ts";
import { toPino } from "./runner.ts";
import type { TaskServices } from "./task.ts";
import { tasks } from "./tasks.ts";

export interface DueJobsOptions extends ProcessOptions {
  /** The service beside it: `context.baseUrl` without AUTHLIB_URL. (Default: by the configured port) */
  url?: string;
}

/** An error of a job. */
export interface Failure {
  /** The internal procedure or workflow. */
  name: string;
  /** The job's id, or the workflow run's. */
  id: string;
  error: Error;
}

export interface DueJobs {
  /** Runs all due jobs, and jobs that become due by them. @returns how many ran, and which failed */
  run(): Promise<{ ran: number; failures: Failure[] }>;
  /** Claims cron times that have come; `run` runs them. */
  claimCrons(): Promise<void>;
  /** Enqueues a cron's procedure at once. @throws TypeError for an unknown cron */
  enqueueCron(name: string): Promise<void>;
  close(): Promise<void>;
}

interface FailedRun {
  id: string;
  name: string;
  message: string;
}

/** Opens separate connections, and registers the crons as a starting worker does. */
export async function openDueJobs(options: DueJobsOptions): Promise<DueJobs> {
  const { app, config, urls, log, url } = options;
  const settings = { ...config.pool, ...config.limits, request: 2, system: 4, auth: 1 };
  const pools = createPools(urls, settings, log);
  const runtime = createRuntime(options, pools, { url });
  const services: TaskServices = { app, runtime, sessionOf: sessionsOfUsers(pools.system, app.auth) };
  const { crons } = app.api["~svc"];
  // A new one each time, because a test may have changed the times in the database.
  const claimCrons = () => startCrontab({ crons, pool: pools.system, log, now: () => new Date() }).look();
  const sender = createSender({ pool: pools.system, config: config.webhooks, log, looks: false });
  const close = async () => {
    runtime.documents.children.close();
    await pools.close();
  };
  await claimCrons().catch(async (error) => {
    await close();
    throw error;
  });

  async function run() {
    const failures: Failure[] = [];
    let ran = 0;
    const list: TaskList = {};
    const client = await pools.system.connect();
    try {
      const { rows } = await client.query<{ now: Date }>("select clock_timestamp() as now");
      for (const task of tasks) {
        list[task.kind] = async (payload, helpers: JobHelpers) => {
          ran++;
          await runJob(task, payload, helpers, pool.id, services).catch((error: Error) => {
            const { procedure } = payload as { procedure?: string };
            failures.push({ name: procedure ?? task.kind, id: helpers.job.id, error });
            throw error;
          });
        };
      }
      const pool = runTaskListOnce({ noHandleSignals: true, logger: new QueueLogger(() => toPino(log)) }, list, client);
      await pool.promise;
      // A failed step does not fail its job: the run stores the error and is retried, or has failed for good.
      const failed = await client.query<FailedRun>("select id, name, message from svc_private.list_failed_runs($1)", [
        rows[0]?.now,
      ]);
      for (const { id, name, message } of failed.rows) failures.push({ id, name, error: new Error(message) });
    } finally {
      client.release();
    }
    await sender.drain();
    return { ran, failures };
  }

  return {
    run,
    claimCrons,
    async enqueueCron(name) {
      const cron = crons.find((one) => one.name === name);
      if (!cron) throw new TypeError(`There is no cron "${name}". Crons: ${crons.map((one) => one.name).join(", ")}.`);
      const text = "select svc_private.enqueue_system_job($1, null, null, null, $2)";
      await pools.system.query(text, [cron.procedure.name, `cron:${name}`]);
    },
    close,
  };
}
