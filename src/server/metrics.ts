/**
 * Prometheus metrics of this process, served at `/metrics`. Labels have few values: names of operations, pools and
 * states, never an id, a path or a user. docs/reference/metrics.md lists the metrics; a test compares.
 * Next hop: `metrics-registry.ts`, which is loaded when metrics are read first: its library takes a twentieth of a start. In
 * production nobody should wait for it, so it is loaded before anything is answered. `src/telemetry/metrics-access.ts` for
 * access control.
 */
import type pg from "pg";
import { loadedOnce } from "../kit/loaded-once.ts";
import type { Replicas } from "../postgres/replicas.ts";
import type { RealtimeState } from "../realtime/create-realtime.ts";
import { Durations } from "../telemetry/durations.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { InFlight, Metrics } from "../telemetry/metrics.ts";
import type { Measured } from "./metrics-registry.ts";
import { shareMetrics } from "./shared-metrics.ts";

/**
 * @param pools as in `Measured`
 * @param inFlight as in `Metrics`
 * @param realtime read on each request. (Default: no such metrics)
 * @param jobs     of a worker in this process. (Default: none)
 * @param replicas the standbys that queries are sent to. (Default: none)
 */
export function createMetrics(
  pools: Record<string, pg.Pool>,
  inFlight: InFlight,
  realtime?: () => RealtimeState,
  jobs?: JobMetrics,
  replicas?: Replicas,
): Metrics {
  const duration = new Durations(
    "svc_http_request_duration_seconds",
    "Time from the request's first byte to the end of the answer.",
    ["operation", "method", "status"],
  );
  const wait = new Durations(
    "svc_http_wait_seconds",
    "Time from the request's last byte to the answer's first, which clients and networks do not lengthen.",
    ["operation"],
  );
  const errors = new Map<string, number>();
  const measured: Measured = { duration, wait, errors, pools, inFlight, realtime, jobs, replicas };
  const registry = loadedOnce(async () => (await import("./metrics-registry.ts")).createRegistry(measured));
  shareMetrics(registry);
  return {
    registry,
    inFlight,
    observe(operation, method, status, seconds, waited, code) {
      duration.observe(seconds, operation, method, String(status));
      wait.observe(waited, operation);
      if (code !== undefined) errors.set(code, (errors.get(code) ?? 0) + 1);
    },
  };
}
