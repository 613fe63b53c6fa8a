/**
 * Stretches of workflow runs: what sql/workflows/wake_run.sql enqueues, one job per run.
 *
 * Retries: errors of steps are the run's own affair (`retries` of its definition); this job is tried again when the database
 * was out of reach, or its worker died.
 * Idempotency: a stretch goes on from the last checkpoint; two of one run at a time cannot both write (a fence).
 * Next hop: `src/workflows/execute.ts`.
 */
import { z } from "zod";
import { executeRun } from "../../src/workflows/execute.ts";
import { defineTask } from "../task.ts";

export const workflow = defineTask({
  kind: "workflow",
  payload: z.object({ runId: z.uuid() }),
  run: ({ runId }, job, { runtime, app }) =>
    executeRun(runId, {
      runtime,
      workflows: app.api["~svc"].workflows,
      log: job.log,
      signal: job.signal,
      finishWith: (call) => job.finishWith(call),
    }),
});
