/** Prometheus metrics of this process, served at `/metrics`. */
import type pg from "pg";
import { collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

export interface Metrics {
  registry: Registry;
  /** Records one exchange; `seconds` is its whole duration. */
  observe(operation: string, method: string, status: number, seconds: number): void;
}

/** @param pools by name; their connections are counted when somebody asks */
export function createMetrics(pools: Record<string, pg.Pool>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });

  const duration = new Histogram({
    name: "svc_http_request_duration_seconds",
    help: "Time from the request's first byte to the end of the answer.",
    labelNames: ["operation", "method", "status"],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  new Gauge({
    name: "svc_pool_connections",
    help: "Database connections by pool and state; waiting are calls without one.",
    labelNames: ["pool", "state"],
    registers: [registry],
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount }] of Object.entries(pools)) {
        this.set({ pool, state: "total" }, totalCount);
        this.set({ pool, state: "idle" }, idleCount);
        this.set({ pool, state: "waiting" }, waitingCount);
      }
    },
  });
  return {
    registry,
    observe: (operation, method, status, seconds) =>
      duration.labels(operation, method, String(status)).observe(seconds),
  };
}
