/** Prometheus metrics of this process, served at `/metrics`. */
import type pg from "pg";
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";
import type { RealtimeState } from "../realtime/create-realtime.ts";

export interface Metrics {
  registry: Registry;
  /** Records one exchange; `seconds` is its whole duration. */
  observe(operation: string, method: string, status: number, seconds: number): void;
}

/**
 * @param pools    by name; their connections are counted when somebody asks
 * @param realtime likewise. (Default: no such metrics)
 */
export function createMetrics(pools: Record<string, pg.Pool>, realtime?: () => RealtimeState): Metrics {
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
  if (pools.system) addQueue(registry, pools.system);
  if (realtime) addRealtime(registry, realtime);
  return {
    registry,
    observe: (operation, method, status, seconds) =>
      duration.labels(operation, method, String(status)).observe(seconds),
  };
}

/** Asked of the database, once for both; when it does not answer, the last numbers stand. */
function addQueue(registry: Registry, pool: pg.Pool): void {
  const registers = [registry];
  const oldest = new Gauge({
    name: "svc_jobs_oldest_due_seconds",
    help: "For how long the oldest job has been due; 0 when none is.",
    registers,
  });
  new Gauge({
    name: "svc_jobs",
    help: "Jobs in the queue by state; dead ones have used up their attempts.",
    labelNames: ["state"],
    registers,
    async collect() {
      const result = await pool.query("select * from svc_private.queue_state()").catch(() => undefined);
      if (!result) return;
      const { oldest_due_seconds: seconds, ...states } = result.rows[0];
      for (const [state, count] of Object.entries(states)) this.set({ state }, Number(count));
      oldest.set(seconds);
    },
  });
}

function addRealtime(registry: Registry, realtime: () => RealtimeState): void {
  const registers = [registry];
  new Gauge({
    name: "svc_realtime_connections",
    help: "Open sockets.",
    registers,
    collect() {
      this.set(realtime().connections);
    },
  });
  new Gauge({
    name: "svc_realtime_subscriptions",
    help: "Queries that are watched, over all sockets.",
    registers,
    collect() {
      this.set(realtime().subscriptions);
    },
  });
  new Gauge({
    name: "svc_realtime_flow",
    help: "1 for how changes arrive: live, degraded (clients poll), or idle (nobody has connected yet).",
    labelNames: ["flow"],
    registers,
    collect() {
      const { flow } = realtime();
      for (const one of ["live", "degraded", "idle"]) this.set({ flow: one }, one === flow ? 1 : 0);
    },
  });
  new Gauge({
    name: "svc_realtime_lag_seconds",
    help: "How long after its commit the last transaction was told, by the clocks of server and process.",
    registers,
    collect() {
      this.set(realtime().lag / 1000);
    },
  });
  for (const [name, help, count] of [
    ["svc_realtime_deliveries_total", "Frames with events, sent to sockets.", () => realtime().deliveries],
    ["svc_realtime_dropped_total", "Sockets closed because they did not read.", () => realtime().dropped],
  ] as const) {
    new Counter({
      name,
      help,
      registers,
      collect() {
        this.reset();
        this.inc(count());
      },
    });
  }
}
