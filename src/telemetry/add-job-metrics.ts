/** Adds the metrics of jobs to a registry, for which the library is loaded. Next hop: `job-metrics.ts`. */
import type { Registry } from "prom-client";
import { addGauge } from "./add-metric.ts";
import type { JobMetrics } from "./job-metrics.ts";

export function addJobMetrics(registry: Registry, jobs: JobMetrics): void {
  jobs.durations.addTo(registry);
  addGauge(registry, "svc_jobs_running", "Jobs that this process runs.", () => jobs.running);
  const paused = "1 while this process takes no jobs, because it cannot connect to PostgreSQL to run them.";
  addGauge(registry, "svc_worker_paused", paused, () => (jobs.isPaused ? 1 : 0));
}
