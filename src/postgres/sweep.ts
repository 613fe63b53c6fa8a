/** Removes rows in batches, each in a transaction of its own. Called by `workers/tasks/sweep-storage.ts`. */
import type pg from "pg";

/**
 * @param call of a function whose last argument is the most that it removes, and which returns how many it has removed,
 *   for example "svc_private.sweep_answers($1)"
 * @param values of its arguments
 * @param signal stops it between two batches; the next day's sweep does the rest. (Default: none)
 */
export async function sweep(
  pool: Pick<pg.Pool, "query">,
  call: string,
  values: [...unknown[], number],
  signal?: AbortSignal,
): Promise<void> {
  const most = values.at(-1);
  for (let removed = most; removed === most; ) {
    signal?.throwIfAborted();
    removed = (await pool.query(`select (${call})::integer as removed`, values)).rows[0].removed;
  }
}
