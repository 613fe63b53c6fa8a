/**
 * The connections through which the library looks for jobs, claims them and says how they ended. They do not wait for the
 * disk: if PostgreSQL dies within the next half second it may forget a claim, and then somebody else makes it.
 * Next hop: `sql/jobs/finish_job.sql` refuses what was done under a claim that is forgotten; `rescue.ts` finds jobs whose
 * end is.
 */
import type { Logger } from "pino";
import { createPools, type PoolSettings, type Pools, type PoolUrls } from "../src/postgres/pools.ts";

/** One listens for new jobs; the others claim, which takes so short that few serve many jobs at a time. */
const connections = 4;

/** @returns pools of which `system` alone is for use; the others never connect */
export function createQueuePools(urls: PoolUrls, settings: PoolSettings, log: Logger): Pools {
  return createPools({ ...urls, system: withoutWaiting(urls.system) }, { ...settings, system: connections }, log);
}

function withoutWaiting(url: string): string {
  const changed = new URL(url);
  const others = changed.searchParams.get("options") ?? "";
  changed.searchParams.set("options", `${others} -c synchronous_commit=off`.trim());
  return changed.href;
}
