/**
 * Metrics of the jobs in this process. `svc start` includes them in its `/metrics`; a worker serves them on its own
 * port, `svc worker --metrics-port`.
 * Next hop: `add-job-metrics.ts`.
 */
import { Durations } from "./durations.ts";

export class JobMetrics {
  readonly durations = new Durations(
    "svc_job_duration_seconds",
    "How long jobs ran, by what they call and how it ended: done or failed. A failed one may be tried again.",
    ["name", "outcome"],
    [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 1800],
  );
  running = 0;
  isPaused = false;

  setPaused(isPaused: boolean): void {
    this.isPaused = isPaused;
  }

  /** Runs a job and records its duration and outcome. */
  async timing<T>(name: string, run: () => Promise<T>): Promise<T> {
    const started = performance.now();
    const end = (outcome: "done" | "failed") =>
      this.durations.observe((performance.now() - started) / 1000, name, outcome);
    this.running++;
    try {
      const result = await run();
      end("done");
      return result;
    } catch (error) {
      end("failed");
      throw error;
    } finally {
      this.running--;
    }
  }
}
