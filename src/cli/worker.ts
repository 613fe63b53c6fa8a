/**
 * `svc worker`: runs jobs until it receives a stop signal. Several workers can run at once; they share the queue.
 * Next hop: `workers/runner.ts`.
 */
import { startWorker, type Worker } from "../../workers/runner.ts";
import { loadApp } from "../app/load-app.ts";
import { createHostCheck } from "../http/allowed-hosts.ts";
import { DefinitionError } from "../kit/definition-error.ts";
import { returnMemory } from "../kit/return-memory.ts";
import { JobMetrics } from "../telemetry/job-metrics.ts";
import type { Tracing } from "../telemetry/span.ts";
import { openTracing } from "../telemetry/tracing.ts";
import { logAsJson, openDatabase, readConfig, say, targetOf } from "./command.ts";
import { defineCommand } from "./define.ts";
import { number, portRange, text } from "./options.ts";
import { during } from "./output.ts";
import { refusePending } from "./pending.ts";
import { processLog } from "./process-log.ts";
import { readSecrets } from "./read-secrets.ts";
import { nextSignal } from "./signal.ts";
import { describeTaken } from "./taken-port.ts";
import { serveWorkerMetrics } from "./worker-metrics.ts";

export const command = defineCommand({
  args: {
    concurrency: number("Jobs at a time.", { default: 4, most: 200 }),
    queues: text("Kinds of jobs to take, joined by commas. (Default: all)"),
    "metrics-port": number("A port for Prometheus metrics of jobs. (Default: none)", portRange),
    json: logAsJson,
  },
  run: async ({ cwd, concurrency, "metrics-port": port, ...args }) => {
    const queues = args.queues?.split(",");
    const metrics = port === undefined ? undefined : new JobMetrics();
    const config = await readConfig(cwd);
    const app = await during("Loading the application", () => loadApp(config));
    const cluster = await openDatabase(config, { logins: "serving" });
    let tracing: Tracing | undefined;
    let told: { url: string; close(): void } | undefined;
    let worker: Worker | undefined;
    try {
      await refusePending(targetOf(config, cluster.urls.system));
      const secrets = await readSecrets(config);
      tracing = await openTracing(config.otel);
      const log = processLog(config, args.json, tracing !== undefined);
      if (metrics && port !== undefined) {
        // Before the first job: a worker that cannot be observed as asked takes none.
        const access = { token: config.metricsToken, open: !config.production };
        const checkHost = createHostCheck({ ...config, origins: [] });
        told = await serveWorkerMetrics(port, metrics, access, config.host, checkHost).catch(explainPort);
      }
      worker = startWorker({
        app,
        config,
        urls: cluster.urls,
        secrets,
        log,
        concurrency,
        tracing,
        metrics,
        ...(queues && { queues }),
      });
      await worker.ready;
      if (told) say(`  Metrics: ${told.url}`);
      returnMemory();
      const stop = nextSignal();
      say(`\n  Taking jobs, ${concurrency} at a time.\n`);
      const ended = await Promise.race([stop, cluster.failed]);
      if (ended instanceof Error) throw ended;
      say(`${ended}: finishing the jobs that run`);
    } finally {
      await Promise.allSettled([worker?.stop()]);
      told?.close();
      await tracing?.close();
      await cluster.stop();
    }
  },
});

async function explainPort(error: NodeJS.ErrnoException & { port?: number }): Promise<never> {
  if (error.code !== "EADDRINUSE" || error.port === undefined) throw error;
  const { text, remedy } = await describeTaken(error.port);
  throw new DefinitionError(text, { hint: `${remedy} Or give --metrics-port another one.` });
}
