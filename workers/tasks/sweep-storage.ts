/**
 * Removes bytes without a stored object, left by unfinished uploads and by calls that rolled back while their process
 * died. Also removes conversions that were not used for a month or whose file is gone, counters of the search index that
 * cancel each other out, groups of it without rows, old answers of keyed calls, old messages of durable channels, old rows of the
 * history of jobs, old deliveries of webhooks, old invitations to organizations, and old months of the history of audited tables.
 * Every starting worker ensures that one such job is queued; each enqueues the next day's.
 *
 * Retries: 3 attempts; the next day's run does the rest.
 * Idempotency: it only removes what is unused at the time.
 * Next hop: `src/storage/sweep.ts`.
 */
import { z } from "zod";
import { sweep } from "../../src/postgres/sweep.ts";
import { foldSearch } from "../../src/search/fold-search.ts";
import { claimStorage } from "../../src/storage/claim.ts";
import { sweepStorage } from "../../src/storage/sweep.ts";
import { defineTask } from "../task.ts";

export const sweepStorageTask = defineTask({
  kind: "sweep-storage",
  payload: z.object({}),
  async run(_payload, job, { runtime, history, historyDays, webhookDays }) {
    const { systemPool: pool } = runtime;
    const keepNext = () => pool.query("select svc_private.keep_sweep_job('1 day')");
    // Not before the last attempt: the next day's job takes the key, and then this one is not tried again.
    if (job.attempt >= job.maxAttempts) await keepNext();
    const remove = (call: string, ...values: [...unknown[], number]) => sweep(pool, call, values, job.signal);
    // Each conversion may have megabytes of text.
    await remove("svc_private.sweep_conversions($1, $2)", "30 days", 100);
    await foldSearch(pool, job.signal);
    await history?.sweep(job.signal);
    await remove("svc_private.sweep_answers($1)", 1_000);
    await remove("svc_private.sweep_messages($1)", 1_000);
    await remove("svc_private.sweep_invitations($1, $2)", "30 days", 10_000);
    if (webhookDays) await remove("svc_private.sweep_deliveries($1, $2)", `${webhookDays} days`, 10_000);
    await pool.query("select svc_private.sweep_history($1)", [historyDays ? `${historyDays} days` : null]);
    // At last: files may be away, or another database's. Those without a mark may be that of a database which has not been
    // updated: it has a day to mark them.
    const marked = await claimStorage(runtime.storage);
    const removed = marked ? await sweepStorage(runtime.storage, undefined, job.signal) : 0;
    await keepNext();
    job.log.info({ removed }, "storage swept");
  },
});
