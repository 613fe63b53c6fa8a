/** The daily care of the search index, by a job of the workers. Next hop: `sql/search/fold_search.sql`, `drop_search_groups.sql`. */
import type pg from "pg";
import { unlimited } from "../postgres/silence.ts";
import { sweep } from "../postgres/sweep.ts";

/** Groups that are removed in one transaction. */
const batch = 1_000;

/** @param signal stops it between two groups of terms; the next day's does the rest. (Default: none) */
export async function foldSearch(pool: pg.Pool, signal?: AbortSignal): Promise<void> {
  const patient = unlimited(pool); // a group may have many words
  for (let group: number | null = 0; group !== null; ) {
    signal?.throwIfAborted();
    const { rows }: pg.QueryResult = await patient.query("select svc_private.fold_search($1) as last", [group]);
    group = rows[0].last;
  }
  await sweep(patient, "svc_private.drop_search_groups($1)", [batch], signal);
}
