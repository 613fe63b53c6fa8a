/**
 * Keeps what is known of finished jobs, which the queue removes. They are written together, at most once a second, so a
 * job costs no statement more. A process that is killed loses those of the last second.
 * Next hop: `sql/jobs/keep_finished_jobs.sql`, `sweep_job_history.sql`.
 */
import type { Job } from "graphile-worker";
import type pg from "pg";
import type { Logger } from "pino";
import { sweep } from "../src/postgres/sweep.ts";
import { jobName } from "./job-span.ts";

/** Rows that are removed in one transaction. */
const batch = 1_000;
/** In milliseconds between a job's end and the statement that writes it. */
const delay = 1_000;

interface Finished {
  job: string;
  kind: string;
  name: string;
  outcome: "done" | "dead";
  attempts: number;
  run_at: Date;
  started_at: Date | null;
  ms: number;
}

export class JobHistory {
  readonly #pool: pg.Pool;
  readonly #most: number;
  readonly #days: number;
  readonly #log: Logger;
  #finished: Finished[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #closed = false;

  /** @param pool whose commits need not wait for the disk */
  constructor(pool: pg.Pool, limits: { finishedJobs: number | false; finishedJobDays: number }, log: Logger) {
    this.#pool = pool;
    this.#most = limits.finishedJobs || 0;
    this.#days = limits.finishedJobDays;
    this.#log = log;
  }

  /** @param ms how long the last attempt took */
  add(row: Job, outcome: Finished["outcome"], ms: number): void {
    if (this.#most === 0 || this.#closed) return;
    const { id, task_identifier: kind, attempts, run_at, locked_at: started_at } = row;
    this.#finished.push({ job: id, kind, name: jobName(kind, row.payload), outcome, attempts, run_at, started_at, ms });
    this.#timer ??= setTimeout(() => {
      this.#writing = this.#write();
    }, delay);
  }

  /** Removes the jobs that are too old. @param signal stops it; the next day's does the rest */
  async sweep(signal: AbortSignal): Promise<void> {
    await sweep(this.#pool, "svc_private.sweep_job_history($1, $2)", [`${this.#days} days`, batch], signal);
  }

  /** Writes the rest. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#writing;
    await this.#write();
  }

  async #write(): Promise<void> {
    this.#timer = undefined;
    const jobs = this.#finished.splice(0).slice(-this.#most);
    if (jobs.length === 0) return;
    try {
      await this.#pool.query({
        name: "svc_keep_finished_jobs",
        text: "select svc_private.keep_finished_jobs($1, $2)",
        values: [JSON.stringify(jobs), this.#most],
      });
    } catch (error) {
      this.#log.warn({ reason: String(error), jobs: jobs.length }, "some finished jobs are missing in the history");
    }
  }
}
