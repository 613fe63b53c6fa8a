/** Serves the metrics of a standalone worker, its jobs and its process, on a separate port (`svc worker --metrics-port`). */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { Registry } from "prom-client";
import type { CheckHost } from "../http/allowed-hosts.ts";
import { createServer } from "../kit/node-http.ts";
import { SvcError } from "../kit/svc-error.ts";
import { addJobMetrics } from "../telemetry/add-job-metrics.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import { type MetricsAccess, refuseReader } from "../telemetry/metrics-access.ts";
import { addRuntimeMetrics } from "../telemetry/runtime-metrics.ts";

/**
 * @param port 0 takes any free one
 * @param host (Default: all addresses)
 * @param checkHost which names are answered (Default: any)
 * @throws the system's error when the port is taken
 */
export async function serveWorkerMetrics(
  port: number,
  jobs: JobMetrics,
  access: MetricsAccess,
  host: string | null = null,
  checkHost: CheckHost | null = null,
): Promise<{ url: string; close(): void }> {
  const registry = new Registry();
  addRuntimeMetrics(registry);
  addJobMetrics(registry, jobs);
  const server = createServer(async (request, response) => {
    try {
      checkHost?.(request);
      if (request.url?.split("?", 1)[0] !== "/metrics") throw new SvcError("NOT_FOUND");
      refuseReader(access, request);
      response.writeHead(200, { "content-type": registry.contentType }).end(await registry.metrics());
    } catch (error) {
      const { status, message } = error instanceof SvcError ? error : new SvcError("INTERNAL");
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${message}\n`);
    }
  });
  server.listen(port, host ?? undefined);
  await once(server, "listening");
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/metrics`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
