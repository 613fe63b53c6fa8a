/**
 * A worker: takes jobs from the queue and runs several at a time. Any number may run, in the serving process or apart.
 * The library, graphile-worker, retries a failed job e^n seconds after attempt n, at most e^10 (6 hours);
 * `sql/jobs/add_procedure_job.sql` sets the number of attempts.
 * Next hop: `run-job.ts` for one job, `rescue.ts` for what happens when a worker dies, `crontab.ts` for crons.
 */
import { EventEmitter } from "node:events";
import { Logger as QueueLogger, runTaskList, type TaskList, type WorkerEvents } from "graphile-worker";
import pg from "pg";
import type { Logger } from "pino";
import { sessionsOfUsers } from "../src/auth/sessions/find-user.ts";
import { DefinitionError } from "../src/kit/definition-error.ts";
import { didYouMean } from "../src/kit/nearest.ts";
import { createPools, type PoolUrls } from "../src/postgres/pools.ts";
import { endOrBreak } from "../src/postgres/silence.ts";
import { createRuntime, type ProcessOptions } from "../src/service/runtime.ts";
import type { JobMetrics } from "../src/telemetry/job-metrics.ts";
import type { Tracing } from "../src/telemetry/span.ts";
import { missingReceivers, refuseMissingReceivers } from "../src/webhooks/receivers.ts";
import { createSender, type Sender } from "../src/webhooks/sender.ts";
import { startCrontab } from "./crontab.ts";
import { JobHistory } from "./job-history.ts";
import { inJobSpan, jobName } from "./job-span.ts";
import { OwnConnections } from "./own-connections.ts";
import { createQueuePool } from "./queue-pool.ts";
import { type RescueOptions, startRescue } from "./rescue.ts";
import { runJob } from "./run-job.ts";
import type { Task, TaskServices } from "./task.ts";
import { tasks } from "./tasks.ts";

/** Jobs at a time. */
const defaultConcurrency = 4;
/** In milliseconds: polling interval for jobs that become due. New jobs are announced. */
const pollInterval = 1_000;
/** In milliseconds: maximum wait for the end of a failed pool. Jobs that it still holds are fenced and rescued. */
const endsWithin = 3_000;
/** In milliseconds before a worker that lost the database starts again. */
const restartAfter = 500;

export interface WorkerOptions extends ProcessOptions {
  /** `queue`: the system's login without a pooler, if `system` uses one. (Default: `system`) */
  urls: PoolUrls & { queue?: string };
  /** The service in the same process: `context.baseUrl` without AUTHLIB_URL. (Default: by the configured port) */
  url?: string;
  /** Jobs at a time. (Default: 4) */
  concurrency?: number;
  /** Kinds of jobs that this worker takes. (Default: all) */
  queues?: readonly string[];
  /** In milliseconds between two checks for dead workers. (Default: 2000) */
  rescueEveryMs?: number;
  /** In milliseconds: no worker counts as dead for this time after a restart of PostgreSQL. (Default: 10000) */
  graceAfterRestartMs?: number;
  /** Receives spans; the caller closes it. (Default: no tracing) */
  tracing?: Tracing | undefined;
  /** Counts the jobs that ended. (Default: none) */
  metrics?: JobMetrics | undefined;
}

export interface Worker {
  /** The name under which it holds jobs. It changes after a loss of the database. */
  readonly id: string;
  /** Resolves when it begins to take jobs. */
  ready: Promise<void>;
  /** Takes no more jobs and waits for running ones; after `limits.shutdownMs` they return to the queue. */
  stop(): Promise<void>;
}

/**
 * Starts a worker with its own connections.
 *
 * @throws DefinitionError for an unknown queue, and in production for a webhook without its receiver
 */
export function startWorker(options: WorkerOptions): Worker {
  const { app, config, concurrency = defaultConcurrency } = options;
  const log = options.log.child({ component: "worker" });
  const chosen = choose(options.queues);
  // A worker without procedure jobs leaves crons and webhooks to others.
  const takesCrons = chosen.some(({ kind }) => kind === "procedure");
  if (takesCrons) refuseMissingReceivers(app.api["~svc"].webhooks, config);
  const sizes = { request: concurrency + 1, system: concurrency + 2, auth: 1 };
  const settings = { ...config.pool, ...config.limits, ...sizes, traced: options.tracing !== undefined };
  const pools = createPools(options.urls, settings, log);
  const direct = options.urls.queue ?? options.urls.system;
  const connections = new OwnConnections({ pools, log, onChange: (work) => options.metrics?.setPaused(!work) });
  const queue = createQueuePool(direct, settings, log, () => connections.seemToWork);
  const runtime = createRuntime({ ...options, log }, pools, { url: options.url });
  const history = new JobHistory(queue.pool, config.limits, log);
  const sessionOf = sessionsOfUsers(pools.system, app.auth);
  const { historyDays, webhookDays } = config.limits;
  const kept = { historyDays, webhookDays };
  const services: TaskServices = { app, runtime, sessionOf, history, connections, queue: queue.pool, ...kept };

  const { promise: ready, resolve: nowReady } = Promise.withResolvers<void>();
  const crons = takesCrons ? app.api["~svc"].crons : [];
  const crontab = startCrontab({ crons, pool: pools.system, log });
  const sender = takesCrons ? openSender(options, pools.system, log) : undefined;
  const procedures = takesCrons ? [...app.api["~svc"].procedures.values()] : [];
  const workflows = chosen.some(({ kind }) => kind === "workflow") ? app.api["~svc"].workflows.values() : [];
  const definitions = [
    ...procedures.filter(({ kind }) => kind === "internal").map(({ name }) => `procedure ${name}`),
    ...crons.map(({ name, schedule }) => `cron ${name} ${schedule.text}`),
    ...[...workflows].flat().map(({ name, version }) => `workflow ${name} ${version}`),
  ];

  ready
    .then(() => pools.system.query("select svc_private.keep_sweep_job('1 hour')"))
    .catch((error) => log.warn({ err: error }, "no sweep of stored bytes was enqueued; the next worker will"));

  let abandoned = false;
  /** Since it lost the database it has not looked for jobs: consecutive losses are logged once. */
  let isLost = false;
  let life = begin();
  let again: NodeJS.Timeout | undefined;
  let stopping: Promise<void> | undefined;
  return {
    get id() {
      return life.pool.id;
    },
    ready,
    stop() {
      stopping ??= stop();
      return stopping;
    },
  };

  /** The library's worker pool, with the lock that marks it as alive. */
  function begin(former?: RescueOptions["former"]) {
    const list: TaskList = {};
    const running = new Map<string, string>();
    for (const task of chosen) {
      list[task.kind] = (payload, helpers) => {
        running.set(helpers.job.id, jobName(task.kind, payload));
        const run = () =>
          inJobSpan(options.tracing, task.kind, payload, helpers.job, () =>
            runJob(task, payload, helpers, pool.id, services),
          );
        return (options.metrics?.timing(jobName(task.kind, payload), run) ?? run())
          .catch((error) => {
            // The job was given back. The library must not record the error: its pool is closed.
            if (abandoned) return new Promise<never>(() => {});
            throw error;
          })
          .finally(() => running.delete(helpers.job.id));
      };
    }
    // Takes no job before it holds its lock: without one, other workers cannot see that it died.
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const events: WorkerEvents = new EventEmitter();
    const pool = runTaskList(
      {
        events,
        concurrency,
        pollInterval,
        noHandleSignals: true,
        logger: new QueueLogger(() => toPino(log)),
        gracefulShutdownAbortTimeout: Math.max(1, config.limits.shutdownMs / 2),
        preset: {
          plugins: [beforeFirstJob(() => held)],
          // With a delay the library handles the rejection when the database is away at the end of a job. Finished jobs
          // are already gone (svc.finish_job), so recording their end may be delayed and batched.
          worker: { completeJobBatchDelay: 50, failJobBatchDelay: 0 },
        },
      },
      list,
      queue.forLibrary,
    );
    const rescue = startRescue({
      url: direct,
      worker: pool.id,
      definitions,
      running,
      pool: queue.pool,
      log,
      onDelivery: sender?.wake,
      former,
      ...(options.rescueEveryMs && { lookEveryMs: options.rescueEveryMs }),
      ...(options.graceAfterRestartMs && { graceMs: options.graceAfterRestartMs }),
    });
    rescue.held.then(hold).then(nowReady);
    let over = false;
    const end = (reason: unknown) => {
      if (over || stopping) return;
      over = true;
      replace(reason);
    };
    pool.promise.then(() => end("it ended"), end);
    // The library may wait for ever for a pool that lost the database.
    const endSoon = (reason: unknown) => setTimeout(() => end(reason), endsWithin).unref();
    events.on("worker:fatalError", ({ error }) => endSoon(error));
    events.on("pool:gracefulShutdown", ({ message }) => endSoon(message));
    // The library asks once for the numbers of its kinds of jobs, and would repeat the error of that question for ever.
    let isAsking = true;
    const asked = () => {
      isAsking = false;
    };
    const works = () => {
      asked();
      isLost = false;
    };
    events.on("worker:getJob:empty", works).on("job:start", works);
    events.on("worker:getJob:error", ({ error }) => {
      if (!isAsking) return;
      asked();
      setImmediate(() => Promise.resolve(pool.gracefulShutdown(String(error))).catch(end)); // when all have heard it
    });
    return { pool, rescue, hold, running };
  }

  /** Replaces a pool that could not store how a job ended, for example after a restart. Its jobs are rescued. */
  function replace(reason: unknown): void {
    if (!isLost) log.warn({ reason: String(reason) }, "the worker lost the database; starting again");
    isLost = true;
    again = setTimeout(async () => {
      await Promise.race([life.rescue.close(), after(endsWithin)]);
      if (!stopping) life = begin({ id: life.pool.id, running: life.running });
    }, restartAfter);
  }

  async function stop(): Promise<void> {
    log.info("stopping: finishing jobs that run");
    clearTimeout(again);
    const { pool, rescue, hold, running } = life;
    const graceful = Promise.resolve(pool.gracefulShutdown()).then(
      () => true,
      () => true,
    );
    const noCrons = crontab.close();
    const noSends = Promise.race([sender?.close(), after(config.limits.shutdownMs)]);
    hold(); // in case it was never held
    abandoned = !(await Promise.race([graceful, after(config.limits.shutdownMs)]));
    // A server that has vanished does not answer them; their statements end with their connections.
    await Promise.race([Promise.all([noCrons, rescue.close(), history.close()]), after(endsWithin)]);
    await noSends;
    connections.close();
    runtime.documents.children.close();
    await Promise.all([pools.close(), queue.close()]);
    // Only now: a claim that was in progress would take the jobs again.
    if (abandoned) {
      await giveBack(direct, pool.id, running, log).catch((err) => log.warn({ err }, "jobs are left to the rescue"));
    }
    log.info("stopped");
  }
}

/** A worker that runs the application's jobs also sends what its webhooks deliver. */
function openSender({ app, config }: WorkerOptions, pool: pg.Pool, log: Logger): Sender | undefined {
  const { webhooks } = app.api["~svc"];
  if (webhooks.length === 0) return undefined;
  for (const problem of missingReceivers(webhooks, config.webhooks)) log.warn(problem);
  return createSender({ pool, config: config.webhooks, log });
}

function choose(queues: readonly string[] | undefined): readonly Task[] {
  if (!queues) return tasks;
  const known = tasks.map(({ kind }) => kind);
  const unknown = queues.filter((queue) => !known.includes(queue));
  const [first] = unknown;
  if (first !== undefined)
    throw new DefinitionError(`There is no queue "${first}".`, { hint: didYouMean(first, known) });
  return tasks.filter(({ kind }) => queues.includes(kind));
}

/** The library calls its plugins before a worker first looks for jobs. */
const beforeFirstJob = (wait: () => Promise<void>) => ({
  name: "SvcWorkerLock",
  version: "1.0.0",
  worker: { hooks: { startWorker: wait } },
});

async function giveBack(url: string, worker: string, running: ReadonlyMap<string, string>, log: Logger): Promise<void> {
  const patience = { connectionTimeoutMillis: endsWithin, query_timeout: endsWithin };
  const client = new pg.Client({ connectionString: url, application_name: "svc worker", ...patience });
  client.on("error", () => {}); // the query itself fails
  try {
    await client.connect();
    const { rows } = await client.query("select svc_private.return_jobs($1) as returned", [worker]);
    const jobs = [...running].map(([id, name]) => `${id} ${name}`);
    if (rows[0].returned > 0)
      log.warn({ jobs }, "jobs that did not end within limits.shutdownMs begin again elsewhere");
  } finally {
    await endOrBreak(client);
  }
}

const after = (milliseconds: number) =>
  new Promise<false>((resolve) => setTimeout(() => resolve(false), milliseconds).unref());

/** Lowers the levels of the library's messages: `runJob` logs what matters. */
export const toPino = (log: Logger) => (level: string, message: string) => {
  if (level === "error" && !message.startsWith("Failed task ")) log.warn(message);
  else if (level === "warning") log.debug(message);
  else log.trace(message);
};
