/**
 * The registry of this process's metrics, whose values are read when it is read.
 * Next hop: `metrics-database.ts`, `src/realtime/metrics.ts`, `src/postgres/metrics.ts`.
 */
import type pg from "pg";
import { Counter, Gauge, Registry } from "prom-client";
import { errorCodes } from "../kit/error-codes.ts";
import { addStandbyMetrics } from "../postgres/metrics.ts";
import type { Replicas } from "../postgres/replicas.ts";
import type { RealtimeState } from "../realtime/create-realtime.ts";
import { addRealtimeMetrics } from "../realtime/metrics.ts";
import { addJobMetrics } from "../telemetry/add-job-metrics.ts";
import { addGauge } from "../telemetry/add-metric.ts";
import type { Durations } from "../telemetry/durations.ts";
import type { JobMetrics } from "../telemetry/job-metrics.ts";
import type { InFlight } from "../telemetry/metrics.ts";
import { addRuntimeMetrics } from "../telemetry/runtime-metrics.ts";
import { addDatabaseMetrics } from "./metrics-database.ts";

/** What the metrics are read from. */
export interface Measured {
  duration: Durations;
  wait: Durations;
  /** Answers with an error of ours, by its code. */
  errors: ReadonlyMap<string, number>;
  /** By name; their connections are counted on each read. */
  pools: Record<string, pg.Pool>;
  inFlight: InFlight;
  realtime: (() => RealtimeState) | undefined;
  jobs: JobMetrics | undefined;
  replicas: Replicas | undefined;
}

export function createRegistry(measured: Measured): Registry {
  const { duration, wait, errors, pools, inFlight, realtime, jobs, replicas } = measured;
  const registry = new Registry();
  const registers = [registry];
  addRuntimeMetrics(registry);
  duration.addTo(registry);
  wait.addTo(registry);
  // A rate sees no increase where a series begins: the first errors of a kind would be missing.
  const none = Object.keys(errorCodes).map((code): [string, number] => [code, 0]);
  new Counter({
    name: "svc_http_errors_total",
    help: "Answers with an error of ours, by its code.",
    labelNames: ["code"],
    registers,
    collect() {
      this.reset();
      for (const [code, count] of new Map([...none, ...errors])) this.inc({ code }, count);
    },
  });
  const begun = "Requests that have begun and not ended.";
  addGauge(registry, "svc_http_requests_in_flight", begun, () => inFlight.size);
  new Counter({
    name: "svc_process_starts_total",
    help: "Processes that have started: 1, or with --processes all so far, those that have ended among them.",
    registers,
  }).inc();
  addPools(registry, pools);
  if (pools.system) addDatabaseMetrics(registry, pools.system);
  if (realtime) addRealtimeMetrics(registry, realtime);
  addStandbyMetrics(registry, replicas);
  if (jobs) addJobMetrics(registry, jobs);
  return registry;
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
