/** Metrics of the Node process: memory, processor time, the event loop and garbage collection. */
import { collectDefaultMetrics, Registry } from "prom-client";

let measured: Registry | undefined;

/**
 * Adds them to a registry. They are measured once for all services and workers of a process: nothing ends the timers and
 * observers that prom-client starts, a hundred calls a second.
 */
export function addRuntimeMetrics(registry: Registry): void {
  if (!measured) {
    measured = new Registry();
    collectDefaultMetrics({ register: measured });
    // Between two readings that follow at once nothing is measured, and the least of nothing is 292 years.
    measured.removeSingleMetric("nodejs_eventloop_lag_min_seconds");
    // Of several processes the worst counts: an average hides the one that is blocked.
    for (const name of ["", "_p50", "_p90", "_p99"]) {
      const lag = measured.getSingleMetric(`nodejs_eventloop_lag${name}_seconds`);
      if (lag) Object.assign(lag, { aggregator: "max" });
    }
  }
  for (const { name } of measured.getMetricsAsArray()) {
    const metric = measured.getSingleMetric(name);
    if (metric) registry.registerMetric(metric);
  }
}
