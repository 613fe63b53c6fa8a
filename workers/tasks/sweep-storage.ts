/**
 * Removes bytes that no stored object has, of uploads that were never finished and of calls that rolled back while
 * their process died, and conversions of files that were not used for a month. Every worker that starts sees to it
 * that one waits; each enqueues that of the next day.
 *
 * Retries: 3 attempts; the next day's run does the rest.
 * Idempotency: it looks what is superfluous, and removes that.
 * Next hop: `src/storage/sweep.ts`.
 */
import { z } from "zod";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { defineTask } from "../task.ts";

export const sweepStorageTask = defineTask({
  kind: "sweep-storage",
  payload: z.object({}),
  async run(_payload, job, { runtime }) {
    const removed = await sweepStorage(runtime.storage, undefined, job.signal);
    await runtime.systemPool.query("select svc_private.sweep_conversions('30 days')");
    await runtime.systemPool.query("select svc_private.keep_sweep_job('1 day')");
    job.log.info({ removed }, "storage swept");
  },
});
