/**
 * Prometheus metrics of this process, served at `/metrics`. Labels have few values: names of operations, pools and
 * states, never an id, a path or a user. docs/reference/metrics.md lists the metrics; a test compares.
 * Next hop: `metrics-database.ts`, `src/realtime/metrics.ts`, `src/postgres/metrics.ts`;
 * `src/telemetry/metrics-access.ts` for access control.
 */
import type pg from "pg";
import { Counter, Gauge, Registry } from "prom-client";
import { errorCodes } from "../kit/error-codes.ts";
import { addStandbyMetrics } from "../postgres/metrics.ts";
import type { Replicas } from "../postgres/replicas.ts";
import type { RealtimeState } from "../realtime/create-realtime.ts";
import { addRealtimeMetrics } from "../realtime/metrics.ts";
import { Durations } from "../telemetry/durations.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { InFlight, Metrics } from "../telemetry/metrics.ts";
import { addRuntimeMetrics } from "../telemetry/runtime-metrics.ts";
import { addDatabaseMetrics } from "./metrics-database.ts";
import { shareMetrics } from "./shared-metrics.ts";

/**
 * @param pools by name; their connections are counted on each read
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
  const registry = new Registry();
  const registers = [registry];
  addRuntimeMetrics(registry);

  const duration = new Durations(
    registry,
    "svc_http_request_duration_seconds",
    "Time from the request's first byte to the end of the answer.",
    ["operation", "method", "status"],
  );
  const wait = new Durations(
    registry,
    "svc_http_wait_seconds",
    "Time from the request's last byte to the answer's first, which clients and networks do not lengthen.",
    ["operation"],
  );
  const errors = new Counter({
    name: "svc_http_errors_total",
    help: "Answers with an error of ours, by its code.",
    labelNames: ["code"],
    registers,
  });
  // A rate sees no increase where a series begins: the first errors of a kind would be missing.
  for (const code of Object.keys(errorCodes)) errors.inc({ code }, 0);
  new Gauge({
    name: "svc_http_requests_in_flight",
    help: "Requests that have begun and not ended.",
    registers,
    collect() {
      this.set(inFlight.size);
    },
  });
  new Counter({
    name: "svc_process_starts_total",
    help: "Processes that have started: 1, or with --processes all so far, those that have ended among them.",
    registers,
  }).inc();
  addPools(registry, pools);
  if (pools.system) addDatabaseMetrics(registry, pools.system);
  if (realtime) addRealtimeMetrics(registry, realtime);
  addStandbyMetrics(registry, replicas);
  jobs?.addTo(registry);
  shareMetrics(registry);
  return {
    registry,
    inFlight,
    observe(operation, method, status, seconds, waited, code) {
      duration.observe(seconds, operation, method, String(status));
      wait.observe(waited, operation);
      if (code !== undefined) errors.labels(code).inc();
    },
  };
}

function addPools(registry: Registry, pools: Record<string, pg.Pool>): void {
  const registers = [registry];
  new Gauge({
    name: "svc_pool_connections",
    help: "Database connections by pool and state; waiting are calls without one.",
    labelNames: ["pool", "state"],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: "total" }, totalCount);
        this.set({ pool, state: "idle" }, idleCount);
        this.set({ pool, state: "waiting" }, waitingCount);
      }
    },
  });
  const size = new Gauge({
    name: "svc_pool_size",
    help: "The most connections that a pool may have.",
    labelNames: ["pool"],
    registers,
  });
  for (const [pool, { options }] of Object.entries(pools)) size.set({ pool }, options.max);
}
