/**
 * Connections through which the library finds jobs, claims them and records how they ended. They do not wait for the
 * disk: if PostgreSQL crashes within half a second it may forget a claim, and another worker then claims the job.
 * Next hop: `sql/jobs/claim_job.sql` finds the next job; `sql/jobs/finish_job.sql` refuses the result of a job whose
 * claim was forgotten; `rescue.ts` finds jobs whose end was forgotten.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { createPool, type OnePool, type PoolSettings } from "../src/postgres/pools.ts";

/** One connection listens for new jobs. The others claim, which is so short that few of them serve many jobs. */
const connections = 4;

/** @param url of the system's login; not through a pooler in transaction mode, which does not deliver notices */
export function createQueuePool(url: string, settings: PoolSettings, log: Logger): OnePool {
  return createPool("system", url, { ...settings, system: connections }, log, async (client) => {
    await client.query("set synchronous_commit = off");
    claimAmongMany(client);
  });
}

/** The name of the library's prepared statement that claims a job; ours replaces it and takes the same values. */
const librarys = "get_job/graphile_worker";
const ours = { name: "svc_claim_job", text: "select * from svc_private.claim_job($1, $2)" };

type Query = (question: string | pg.QueryConfig, ...more: unknown[]) => unknown;

/** The library's own claim reads all jobs that are scheduled for later whenever none is due. */
function claimAmongMany(client: pg.ClientBase): void {
  const query = client.query.bind(client) as Query;
  const instead: Query = (question, ...more) =>
    query(typeof question === "object" && question.name === librarys ? { ...question, ...ours } : question, ...more);
  client.query = instead as typeof client.query;
}
