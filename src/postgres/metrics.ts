/** Metrics of the standbys that this process queries. Next hop: `src/postgres/replicas.ts`. */
import { Counter, Gauge, type Registry } from "prom-client";
import { addCounter } from "../telemetry/add-metric.ts";
import type { Replicas } from "./replicas.ts";

/** @param replicas undefined without DATABASE_REPLICA_URLS: then there are no such metrics */
export function addStandbyMetrics(registry: Registry, replicas: Replicas | undefined): void {
  const registers = [registry];
  const standbys = replicas?.standbys ?? [];
  new Gauge({
    name: "svc_standby_up",
    aggregator: "min",
    help: "1 while a standby answers, 0 while it does not; numbered as in DATABASE_REPLICA_URLS.",
    labelNames: ["standby"],
    registers,
    collect() {
      for (const { number, lost } of standbys) this.set({ standby: number }, lost ? 0 : 1);
    },
  });
  new Gauge({
    name: "svc_standby_lag_seconds",
    aggregator: "max",
    help: "How long ago the primary was where a standby is known to be; some tenths of a second when it keeps up.",
    labelNames: ["standby"],
    registers,
    collect() {
      for (const { number, caughtUpAt } of standbys) {
        // Only once it is known.
        if (Number.isFinite(caughtUpAt)) this.set({ standby: number }, (performance.now() - caughtUpAt) / 1000);
      }
    },
  });
  new Counter({
    name: "svc_standby_reads_total",
    help: "Queries sent to a standby: answered by it, or failed there and answered by the primary.",
    labelNames: ["standby", "outcome"],
    registers,
    collect() {
      this.reset();
      for (const { number, reads } of standbys) {
        this.inc({ standby: number, outcome: "answered" }, reads.answered);
        this.inc({ standby: number, outcome: "failed" }, reads.failed);
      }
    },
  });
  const behind =
    "Queries that the primary answered because no standby had what the caller has seen, or all were too old.";
  addCounter(registry, "svc_standby_reads_behind_total", behind, () => replicas?.behind ?? 0);
}
