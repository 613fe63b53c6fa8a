/**
 * Runs one job: its task, its end in the queue, its line in the log and its place in the history.
 * Next hop: `tasks.ts` for what the kinds of jobs do.
 */
import type { JobHelpers } from "graphile-worker";
import { InputRefused } from "../src/call/run-internal.ts";
import { longestMessage, readableError, storableText, textOf } from "../src/kit/storable-text.ts";
import { SvcError } from "../src/kit/svc-error.ts";
import { WithoutStack } from "../src/telemetry/describe-error.ts";
import { mask } from "../src/telemetry/mask.ts";
import { releaseTakes } from "../src/workflows/execute.ts";
import { jobName } from "./job-span.ts";
import { type ClaimedJob, LeftToOthers, type RunningJob, type Task, type TaskServices } from "./task.ts";

/** Runs a task and ends its job. If the worker has lost the job, `svc.finish_job` refuses that. */
export async function runJob(
  task: Task,
  payload: unknown,
  helpers: JobHelpers,
  worker: string,
  services: TaskServices,
) {
  const { job: row } = helpers;
  const log = services.runtime.log.child({ job: row.id, kind: task.kind });
  let finished = false;
  let gaveUp = false;
  const statement = { name: "svc_finish_job", text: "select svc.finish_job($1, $2)", values: [row.id, worker] };
  const job: RunningJob = {
    id: row.id,
    attempt: row.attempts,
    maxAttempts: row.max_attempts,
    isYoung: (row as ClaimedJob).is_young ?? Date.now() - row.created_at.getTime() < releaseTakes,
    signal: helpers.abortSignal,
    log,
    async giveUp() {
      await services.runtime.systemPool.query("select svc_private.end_attempts($1, $2)", [row.id, worker]);
      gaveUp = true;
    },
    user: (row as ClaimedJob).job_user,
    finish() {
      finished = true;
      return statement;
    },
    async finishWith(send) {
      await send(row.id, worker);
      finished = true;
    },
  };
  const began = performance.now();
  try {
    await task.run(task.payload.parse(payload), job, services);
    if (!finished) await services.runtime.systemPool.query(statement);
    const ms = performance.now() - began;
    services.history?.add(row, "done", ms);
    log.info({ ms: Math.round(ms) }, "job done");
  } catch (thrown) {
    const error = readableError(thrown);
    if (!gaveUp && (await postponed(row.id, worker, error, services))) {
      const why =
        error instanceof LeftToOthers ? "left to a worker of another release" : "the worker cannot connect to run it";
      log.info({ reason: reasonOf(error).message }, `job postponed: ${why}`);
      throw reasonOf(error);
    }
    const last = gaveUp || job.attempt >= job.maxAttempts;
    if (last) services.history?.add(row, "dead", performance.now() - began);
    const told = { name: jobName(task.kind, payload), err: loggedOf(error), attempt: job.attempt, of: job.maxAttempts };
    if (last) log.error(told, "job failed for good; svc jobs show tells more, svc jobs retry runs it again");
    else log.warn(told, "job failed");
    services.runtime.showCause?.(told.err, told.name);
    throw reasonOf(error);
  }
}

/** What the handler has thrown, not the text for callers. Where refused arguments were found says nothing. */
function loggedOf(error: unknown): unknown {
  if (error instanceof InputRefused) return new WithoutStack(error);
  return error instanceof SvcError ? (error.cause ?? error) : error;
}

/**
 * Returns the job to the queue if the worker's code or its connections cannot run it. The library then does not hold the job
 * any more, and records no error. Without the direct connection either, the failure counts.
 */
async function postponed(job: string, worker: string, error: unknown, services: TaskServices): Promise<boolean> {
  const { connections, queue } = services;
  if (!connections || !queue) return false;
  if (!(error instanceof LeftToOthers) && (await connections.work())) return false;
  const text = "select svc_private.postpone_job($1, $2, $3) as postponed";
  return queue.query(text, [job, worker, reasonOf(error).message]).then(
    ({ rows }) => rows[0].postponed,
    () => false,
  );
}

/**
 * The queue stores the message of the cause, not the one for callers. The library ends the worker if it cannot store the message.
 */
function reasonOf(error: unknown): Error {
  const reason = error instanceof Error ? (error.cause ?? error) : error; // handlers may throw any value
  const text = textOf(reason instanceof Error ? reason.message : reason).slice(0, longestMessage);
  const message = storableText(mask(text)); // it stays in the database and its backups
  return reason instanceof Error && reason.message === message ? reason : new Error(message, { cause: reason });
}
