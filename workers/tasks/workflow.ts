/**
 * Runs the handler of a workflow; sql/workflows/wake_run.sql enqueues one job per run.
 *
 * Retries: the run handles errors of its steps (`retries` of its definition). This job is retried when the database was
 * unreachable or its worker died.
 * Idempotency: the handler continues from the last checkpoint. Of two workers with the same run, a fence lets only one
 * write.
 * Next hop: `src/workflows/execute.ts`.
 */
import { z } from "zod";
import { executeRun } from "../../src/workflows/execute.ts";
import { defineTask } from "../task.ts";

export const workflow = defineTask({
  kind: "workflow",
  payload: z.object({ runId: z.uuid() }),
  run: ({ runId }, job, { runtime, app, connections }) =>
    executeRun(runId, {
      runtime,
      workflows: app.api["~svc"].workflows,
      log: job.log,
      signal: job.signal,
      finishWith: (send) => job.finishWith(send),
      isConnected: async () => (await connections?.work()) ?? true,
    }),
});
