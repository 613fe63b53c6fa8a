/** `svc start`: serves the application until it receives a stop signal. */
import type { Worker } from "../../workers/runner.ts";
import { loadApp } from "../app/load-app.ts";
import type { DatabaseUrls } from "../cluster/types.ts";
import type { EffectiveConfig } from "../config/config.ts";
import type { AuthMail } from "../contract/auth.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { loadAll } from "../kit/on-demand.ts";
import { returnMemory } from "../kit/return-memory.ts";
import { readChecksums } from "../migrate/ledger.ts";
import { type MigrateOptions, migrate } from "../migrate/migrate.ts";
import { sharesPort } from "../server/shared-metrics.ts";
import { type Service, startService } from "../service/service.ts";
import { devTracing } from "../telemetry/dev-tracing.ts";
import { JobMetrics } from "../telemetry/job-metrics.ts";
import { createLog } from "../telemetry/log.ts";
import type { Observed } from "../telemetry/observations.ts";
import type { Tracing } from "../telemetry/span.ts";
import { openTracing } from "../telemetry/tracing.ts";
import { isDeveloping, isPart, logAsJson, openDatabase, platformRoot, readConfig, say } from "./command.ts";
import { defineCommand, type Values } from "./define.ts";
import { flag, text } from "./options.ts";
import { during } from "./output.ts";
import { refusePending } from "./pending.ts";
import { processLog } from "./process-log.ts";
import { readSecrets } from "./read-secrets.ts";
import { showFailure } from "./show-failure.ts";
import { nextSignal } from "./signal.ts";

const startArguments = {
  "allow-drift": flag("Serve although generated SQL differs."),
  processes: text("Serve with this many processes on one port; auto: one for each core. (Default: this process alone)"),
  "with-worker": flag("Run jobs in this process too."),
  json: logAsJson,
};

export const command = defineCommand({
  args: startArguments,
  run: (args) => (args.processes === undefined ? serve(args) : serveTogether(args, args.processes)),
});

type Options = Omit<Values<typeof startArguments>, "processes">;

/** As `serve`, in several processes. On a private cluster the first one runs the jobs. */
async function serveTogether(options: Options, processes: string): Promise<void> {
  const { cwd, "allow-drift": allowDrift, "with-worker": withWorker, json } = options;
  const { numberOfProcesses, runProcesses } = await import("./processes.ts");
  const { ChangeSender } = await import("../realtime/shared-changes.ts");
  const count = numberOfProcesses(processes);
  const config = await readProductionConfig(cwd);
  const cluster = await openDatabase(config, { logins: "serving" });
  const changes = new ChangeSender(cluster.urls.replication, createLog(config.logLevel));
  try {
    const target = { platform: platformRoot, application: config.cwd };
    if (!config.database)
      await migrateOwn({ ...target, adminUrl: cluster.urls.admin, unless: await readChecksums(target) });
    const stopped = Promise.race([nextSignal(), cluster.failed]);
    await runProcesses({
      changes,
      count,
      words: ["start", "--cwd", config.cwd, ...(allowDrift ? ["--allow-drift"] : []), ...(json ? ["--json"] : [])],
      first: withWorker || !config.database ? ["--with-worker"] : [],
      env: config.database ? {} : variablesOf(cluster.urls),
      stopped,
      ready: (address) => say(`\n  Ready: ${config.auth.url ?? address}, ${count} processes\n`),
    });
    const ended = await stopped;
    if (ended instanceof Error) throw ended;
    say("All processes have ended.");
  } finally {
    await changes.stop();
    await cluster.stop();
  }
}

/** For processes that use this one's cluster. */
const variablesOf = (urls: DatabaseUrls) => ({
  DATABASE_URL: urls.request,
  DATABASE_SYSTEM_URL: urls.system,
  DATABASE_QUEUE_URL: urls.queue,
  DATABASE_AUTH_URL: urls.auth,
  DATABASE_ADMIN_URL: urls.admin,
  DATABASE_REPLICATION_URL: urls.replication,
});

/** @throws DefinitionError in production without DATABASE_URL */
async function readProductionConfig(cwd: string): Promise<EffectiveConfig> {
  const config = await readConfig(cwd);
  if (config.production && !config.database) {
    throw new DefinitionError("DATABASE_URL is not set.", {
      hint: "Production uses a server that outlives this process; the embedded one is for development.",
    });
  }
  return config;
}

async function serve(options: Options): Promise<void> {
  // The channel would keep a process running after its last request, and one that could not start.
  if (sharesPort) process.channel?.unref();
  const { cwd, "allow-drift": allowDrift, "with-worker": withWorker, json } = options;
  const config = await readProductionConfig(cwd);
  const open = () => openDatabase(config, { logins: "serving" });
  const starting = config.database ? undefined : open(); // a server of our own starts while the application is loaded
  starting?.catch(() => {}); // awaited below
  let tracing: Tracing | undefined;
  let service: Service | undefined;
  let worker: Worker | undefined;
  try {
    const app = await during("Loading the application", () => loadApp(config));
    // On a private cluster no other process runs the jobs. An API process needs no queue library.
    const runsJobs = withWorker || !config.database;
    if (config.production) loadAll(); // nothing is answered while this loads
    if (runsJobs && config.production) await loadRunner();
    const target = { platform: platformRoot, application: config.cwd };
    const unless = starting && !isDeveloping ? await readChecksums(target) : undefined; // while the server starts
    const cluster = await (starting ?? open());
    const isOlder = config.database ? await refusePending({ ...target, adminUrl: cluster.urls.system }) : false;
    // `svc dev` has migrated.
    if (!config.database && !isDeveloping) await migrateOwn({ ...target, adminUrl: cluster.urls.admin, unless });

    const secrets = await readSecrets(config);
    // An endpoint that the author has configured gets the spans instead.
    tracing =
      (await openTracing(config.otel)) ?? (isWatched(config) ? devTracing((span) => tell({ span })) : undefined);
    const log = processLog(config, json, tracing !== undefined);
    const jobMetrics = runsJobs ? new JobMetrics() : undefined;
    const showCause = isWatched(config)
      ? (cause: unknown, operation: string) => showFailure(cause, config.cwd, operation)
      : undefined;
    const shared = { app, config, urls: cluster.urls, secrets, log, tracing, showCause };
    service = await startService({ ...shared, allowDrift: allowDrift || isOlder, jobMetrics, ...underDev(config) });
    const work = { ...shared, url: service.url, metrics: jobMetrics };
    if (runsJobs && config.production) worker = (await loadRunner()).startWorker(work);
    if (config.production) returnMemory();
    const stop = nextSignal(); // before "Ready" is printed, since a stop may follow at once
    sayReady(config, cwd, service.url);
    tell("ready");
    // A developer waits for the service, and the jobs may wait: loading the queue library is a tenth of a start.
    if (runsJobs && !config.production) worker = (await loadRunner()).startWorker(work);
    // It takes 100 ms, in which nothing is answered. In production that is before the service is ready.
    if (!config.production && !isDeveloping) setTimeout(returnMemory, 1_000).unref();

    const ended = await Promise.race([stop, cluster.failed]);
    if (ended instanceof Error) throw ended;
    if (!isPart) say(`${ended}: finishing requests in flight`);
  } finally {
    await Promise.allSettled([service?.stop(), worker?.stop()]);
    await tracing?.close();
    const own = await starting?.catch(() => undefined);
    await own?.stop();
  }
}

const loadRunner = () => import("../../workers/runner.ts");

function sayReady(config: EffectiveConfig, cwd: string, url: string): void {
  if (!sharesPort) say(`\n  Ready: ${config.auth.url ?? url}\n`);
  if (config.production || isPart) return;
  if (config.host === "127.0.0.1") say("  Only this machine can reach it; SVC_HOST=:: opens it to others.\n");
  const studio = `npx svc studio${cwd === "." ? "" : ` --cwd ${cwd}`}`;
  if (!config.database) say(`  Data, policies and jobs: \`${studio}\` in another terminal.\n`);
}

/** Whether `svc dev` shows requests, mails and the causes of errors. */
const isWatched = (config: EffectiveConfig) => isDeveloping && !config.production;

/** What a service under `svc dev` does besides. */
const underDev = (config: EffectiveConfig) => ({
  ...(isDeveloping && { mayListen: takeTurn, hasLeft: () => tell("left") }),
  ...(isWatched(config) && {
    showMail: (kind: string, { email, url }: AuthMail) =>
      tell({ mail: { kind, email, url, at: new Date().toISOString() } }),
  }),
});

/** Tells `svc dev` that this version is ready. Resolves when the version before it has released the port. */
async function takeTurn(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const lost = () => reject(new Error("svc dev has ended."));
    process.once("disconnect", lost);
    process.once("message", () => {
      process.off("disconnect", lost); // it would keep the process running at the end
      resolve();
    });
    tell("waiting");
  });
}

/** To the process that started this one; after that has ended nobody listens. */
function tell(message: "waiting" | "left" | "ready" | Observed): void {
  if (process.connected) process.send?.(message, undefined, undefined, () => {});
}

async function migrateOwn(options: MigrateOptions): Promise<void> {
  const applied = await migrate(options);
  if (applied.length > 0) say(`Brought the database up to date: ${applied.length} files of migrations/ and sql/.`);
}
