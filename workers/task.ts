/**
 * The words that workers use. A *job* is a row of the queue; its *kind* says which code runs it; a *task* is that code.
 * Next hop: `tasks.ts` lists the tasks, `runner.ts` runs them.
 */
import type { Logger } from "pino";
import type { z } from "zod";
import type { SessionOfUser } from "../src/auth/sessions/find-user.ts";
import type { Runtime } from "../src/call/invoke.ts";
import type { LoadedApp } from "../src/contract/loaded-app.ts";
import type { RequestTransaction } from "../src/postgres/transaction.ts";

/** What all jobs of a worker share. */
export interface TaskServices {
  app: LoadedApp;
  runtime: Runtime;
  sessionOf: SessionOfUser;
}

/** A job that is running. */
export interface RunningJob {
  id: string;
  /** 1 for the first. */
  attempt: number;
  /** After this many a job that still fails is left for a person to look at. */
  maxAttempts: number;
  createdAt: Date;
  /** The id under which this worker holds the job, as `svc.finish_job` wants it. */
  worker: string;
  /** Aborted when the worker has to end and the job should come to its end soon. */
  signal: AbortSignal;
  /** Uses up the attempts that are left, where trying again is of no use: what the task throws then is the end. */
  giveUp(): Promise<void>;
  /** With the job's id and kind on every line. */
  log: Logger;
  /**
   * Ends the job as a part of a transaction: what it wrote and the end of the job commit together. A task that does not
   * call this has its job ended after it returns: then it may run again although it was done.
   *
   * @throws the database's error SV409 when the job was given to another worker in the meantime
   */
  finish(transaction: RequestTransaction): Promise<void>;
  /** As `finish`, together with one function of the system's: a single statement, which is its own transaction. */
  finishWith(call: { name: string; text: string; values: unknown[] }): Promise<void>;
}

/** One kind of job. What a task throws is kept as the job's last error, and the job is tried again later. */
export interface Task<Payload = unknown> {
  /** As in the queue. */
  kind: string;
  /** What a job of this kind carries. One that does not match fails. */
  payload: z.ZodType<Payload>;
  run(payload: Payload, job: RunningJob, services: TaskServices): Promise<void>;
}

/** Keeps the payload's type between `payload` and `run`. */
export const defineTask = <Payload>(task: Task<Payload>): Task => task as Task;
