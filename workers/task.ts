/**
 * The terms of workers. A *job* is a row of the queue; its *kind* decides which code runs it; a *task* is that code.
 * Next hop: `tasks.ts` lists the tasks, `runner.ts` runs them.
 */
import type { Job } from "graphile-worker";
import type pg from "pg";
import type { Logger } from "pino";
import type { z } from "zod";
import type { SessionOfUser } from "../src/auth/sessions/find-user.ts";
import type { UserRow } from "../src/auth/user-fields.ts";
import type { Runtime } from "../src/call/invoke.ts";
import type { LoadedApp } from "../src/contract/loaded-app.ts";
import type { JobHistory } from "./job-history.ts";
import type { OwnConnections } from "./own-connections.ts";

/** Shared by all jobs of a worker. */
export interface TaskServices {
  app: LoadedApp;
  runtime: Runtime;
  sessionOf: SessionOfUser;
  /** Keeps finished jobs. (Default: they are forgotten) */
  history?: JobHistory;
  /** Days that changes of audited tables are kept. (Default: for ever) */
  historyDays?: number | false;
  /** How long ended deliveries of webhooks are kept. (Default: for ever) */
  webhookDays?: number;
  /** The connections that jobs use, and the one of the queue. (Default: each failure is the job's own) */
  connections?: OwnConnections;
  queue?: pg.Pool;
}

/** A row of the queue, as `queue-pool.ts` claims it. */
export interface ClaimedJob extends Job {
  job_user?: UserRow | null;
  is_young?: boolean;
}

export interface RunningJob {
  id: string;
  /** 1 for the first. */
  attempt: number;
  /** After this many attempts a failing job is dead, and left to a person. */
  maxAttempts: number;
  /** Whether it is so recent that newer code than this worker's may have scheduled it. By PostgreSQL's clock. */
  isYoung: boolean;
  /** The user who scheduled it, as it was claimed. */
  user: UserRow | null | undefined;
  /** Aborted when the worker stops, so that the job ends soon. */
  signal: AbortSignal;
  /** Uses up the remaining attempts when a retry is useless: the task's next error is final. */
  giveUp(): Promise<void>;
  /** Adds the job's id and kind to every line. */
  log: Logger;
  /**
   * Ends the job as the last statement of a transaction: its writes and the end of the job commit together. Without it
   * the job ends after the task returns, so it may run twice. The database's error SV409 means that another worker has
   * got the job meanwhile.
   *
   * @returns the statement; the job counts as ended as soon as it was asked for
   */
  finish(): pg.QueryConfig;
  /** As `finish`, by a statement that `send` sends by itself: with svc.finish_job, which takes the job and the worker. */
  finishWith(send: (job: string, worker: string) => Promise<unknown>): Promise<void>;
}

/** A worker of another release has the code for the job. It returns to the queue, and no attempt counts. */
export class LeftToOthers extends Error {}

/** One kind of job. The error of a task is stored as the job's last error, and the job is retried later. */
export interface Task<Payload = unknown> {
  /** The kind in the queue. */
  kind: string;
  /** The payload of this kind. A job with another payload fails. */
  payload: z.ZodType<Payload>;
  run(payload: Payload, job: RunningJob, services: TaskServices): Promise<void>;
}

/** Infers the payload's type from `payload` for `run`. */
export const defineTask = <Payload>(task: Task<Payload>): Task => task as Task;
