/**
 * Metrics of the jobs in this process. `svc start` includes them in its `/metrics`; a worker serves them on its own
 * port, `svc worker --metrics-port`.
 */
import { Gauge, Histogram, type Registry } from "prom-client";

export class JobMetrics {
  readonly #duration = new Histogram({
    name: "svc_job_duration_seconds",
    help: "How long jobs ran, by what they call and how it ended: done or failed. A failed one may be tried again.",
    labelNames: ["name", "outcome"],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1800],
    registers: [],
  });
  readonly #running = new Gauge({ name: "svc_jobs_running", help: "Jobs that this process runs.", registers: [] });
  readonly #paused = new Gauge({
    name: "svc_worker_paused",
    help: "1 while this process takes no jobs, because it cannot connect to PostgreSQL to run them.",
    registers: [],
  });

  addTo(registry: Registry): void {
    registry.registerMetric(this.#duration);
    registry.registerMetric(this.#running);
    registry.registerMetric(this.#paused);
  }

  setPaused(isPaused: boolean): void {
    this.#paused.set(isPaused ? 1 : 0);
  }

  /** Runs a job and records its duration and outcome. */
  async timing<T>(name: string, run: () => Promise<T>): Promise<T> {
    const end = this.#duration.startTimer({ name });
    this.#running.inc();
    try {
      const result = await run();
      end({ outcome: "done" });
      return result;
    } catch (error) {
      end({ outcome: "failed" });
      throw error;
    } finally {
      this.#running.dec();
    }
  }
}
