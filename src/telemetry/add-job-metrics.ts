/** Adds the metrics of jobs to a registry, for which the library is loaded. Next hop: `job-metrics.ts`. */
import { Gauge, type Registry } from "prom-client";
import type { JobMetrics } from "./job-metrics.ts";

export function addJobMetrics(registry: Registry, jobs: JobMetrics): void {
  const registers = [registry];
  jobs.durations.addTo(registry);
  new Gauge({
    name: "svc_jobs_running",
    help: "Jobs that this process runs.",
    registers,
    collect() {
      this.set(jobs.running);
    },
  });
  new Gauge({
    name: "svc_worker_paused",
    help: "1 while this process takes no jobs, because it cannot connect to PostgreSQL to run them.",
    registers,
    collect() {
      this.set(jobs.isPaused ? 1 : 0);
    },
  });
}
