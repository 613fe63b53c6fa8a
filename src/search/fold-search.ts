/** The daily care of the search index, by a job of the workers. Next hop: `sql/search/fold_search.sql`. */
import type pg from "pg";

/** @param signal stops it between two groups of terms; the next day's does the rest. (Default: none) */
export async function foldSearch(pool: Pick<pg.Pool, "query">, signal?: AbortSignal): Promise<void> {
  for (let group: number | null = 0; group !== null; ) {
    signal?.throwIfAborted();
    const { rows }: pg.QueryResult = await pool.query("select svc_private.fold_search($1) as last", [group]);
    group = rows[0].last;
  }
}
