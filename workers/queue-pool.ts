/**
 * Connections through which the library finds jobs, claims them and records how they ended. They do not wait for the
 * disk: if PostgreSQL crashes within half a second it may forget a claim, and another worker then claims the job.
 * Next hop: `sql/jobs/claim_jobs.sql` finds the next jobs; `sql/jobs/finish_job.sql` refuses the result of a job whose
 * claim was forgotten; `rescue.ts` finds jobs whose end was forgotten.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { isConnectionLoss, sqlState } from "../src/postgres/errors.ts";
import { createPool, type OnePool, type PoolSettings } from "../src/postgres/pools.ts";
import { releaseTakes } from "../src/workflows/execute.ts";

/** One connection listens for new jobs. The others claim, which is so short that few of them serve many jobs. */
const connections = 4;
/** In milliseconds. The library's own pauses grow to a minute, and until it listens each new job waits for the next poll. */
const listenAgainAfter = 500;

export interface QueuePool extends OnePool {
  /** The same connections, for the library, which finds and claims jobs through them. */
  forLibrary: pg.Pool;
}

/**
 * @param url of the system's login; not through a pooler in transaction mode, which does not deliver notices
 * @param mayClaim asked before each claim: while it says no, the library finds no job. (Default: always)
 */
export function createQueuePool(
  url: string,
  settings: PoolSettings,
  log: Logger,
  mayClaim: () => boolean = () => true,
): QueuePool {
  const queue = createPool("system", url, { ...settings, system: connections }, log, async (client) => {
    await client.query("set synchronous_commit = off");
  });
  return { ...queue, forLibrary: claimTogether(queue.pool, log, mayClaim) };
}

/**
 * The name of the library's prepared statement that claims a job. Ours replaces it: the library's reads all jobs that
 * are scheduled for later whenever none is due. It takes the same values and a number of jobs, and also returns the
 * user of each and whether it is recent, so that the worker need not ask.
 */
const librarys = "get_job/graphile_worker";
const ours = {
  name: "svc_claim_jobs",
  text: `select j.*, svc_private.user_of_job(j.payload) as job_user,
                j.created_at > clock_timestamp() - interval '${releaseTakes} milliseconds' as is_young
           from svc_private.claim_jobs($1, $2, $3, $4) j`,
};
/**
 * The name of the library's statement that takes jobs from their workers after four hours, also from living ones: a long job
 * would run twice at the same time, and after a jump of the clock every job. It is not sent: `rescue.ts` knows who lives.
 */
const takesOld = "clear_stale_locks/graphile_worker";
/** In milliseconds: at least this often the whole queue is searched, also for jobs that were due before the last claimed one. */
const wholeSearchEvery = 1_000;

interface Claim {
  /** The worker, and the kinds of jobs that it takes. */
  values: [string, number[]];
  give(result: Pick<pg.QueryResult, "rows">): void;
  fail(error: unknown): void;
}

/** The library connects with a callback to listen, and with a promise for statements. */
function claimTogether(pool: pg.Pool, log: Logger, mayClaim: () => boolean): pg.Pool {
  const claim = claimsOf(pool, log, mayClaim);
  const listen = listensAgain(pool);
  const connect = (call?: Listening) => (call ? listen(call) : Promise.resolve(lend(pool, claim)));
  return Object.create(pool, { connect: { value: connect } });
}

type ClaimJob = (values: Claim["values"]) => Promise<Pick<pg.QueryResult, "rows">>;

/**
 * Claims jobs in one statement for all that ask while another claim is under way. Nobody waits for others to ask, and no
 * job is claimed that cannot begin at once.
 */
function claimsOf(pool: pg.Pool, log: Logger, mayClaim: () => boolean): ClaimJob {
  let waiting: Claim[] = [];
  let isClaiming = false;
  /** Logged once: the library asks again every second or so, and says nothing. */
  let isRefused = false;
  /** When the job that was claimed last was due, and when the whole queue was searched last. */
  let since: Date | null = null;
  let searched = 0;

  async function claimForAll(): Promise<void> {
    isClaiming = true;
    for (let first = waiting[0]; first; first = waiting[0]) {
      const { values } = first;
      const asked = waiting.filter((one) => one.values[0] === values[0]);
      waiting = waiting.filter((one) => one.values[0] !== values[0]); // of a worker that was started again
      try {
        const rows = await claimJobs(values, asked.length);
        for (const [index, one] of asked.entries()) one.give({ rows: rows.slice(index, index + 1) });
      } catch (error) {
        answerFailure(asked, error);
      }
    }
    isClaiming = false;
  }

  async function claimJobs(values: Claim["values"], jobs: number): Promise<{ run_at: Date; priority: number }[]> {
    if (performance.now() - searched > wholeSearchEvery) {
      since = null;
      searched = performance.now();
    }
    const { rows } = await pool.query({ ...ours, values: [...values, jobs, since] });
    const last = rows.at(-1);
    if (last?.priority === 0) since = last.run_at;
    if (isRefused) log.info("this worker takes jobs again");
    isRefused = false;
    return rows;
  }

  /**
   * Without a connection there is no job, and the library asks again. An error would make it print a stack and start the
   * worker again. `rescue.ts` finds jobs that were claimed although the answer was lost.
   */
  function answerFailure(asked: Claim[], error: unknown): void {
    const isGone = isConnectionLoss(error) || pool.ending;
    if (!isGone && !isRefused)
      log.error({ reason: String(error) }, "this worker cannot take jobs, because PostgreSQL refuses to claim one");
    isRefused ||= !isGone;
    if (isGone || passing.includes(sqlState(error) ?? "")) for (const one of asked) one.give({ rows: [] });
    else for (const one of asked) one.fail(error);
  }

  return (values) =>
    new Promise((give, fail) => {
      if (!mayClaim()) return give({ rows: [] });
      waiting.push({ values, give, fail });
      if (!isClaiming) void claimForAll();
    });
}

/** The server has no room on its disk or in memory, or takes no changes: the worker need not start again. */
const passing: readonly string[] = ["25006", "53100", "53200"];

/** A client for the library's statements. As long as it only claims, it needs no connection of its own. */
function lend(pool: pg.Pool, claim: ClaimJob) {
  let client: Promise<pg.PoolClient> | undefined;
  return {
    query(question: string | pg.QueryConfig, values?: unknown[]) {
      const { name, values: given } = Object(question);
      if (name === librarys) return claim(given);
      if (name === takesOld) return Promise.resolve({ rows: [] });
      client ??= pool.connect();
      return client.then((one) => one.query(question, values));
    },
    release: () => client?.then((one) => one.release()).catch(() => {}), // its statement reported the error
  };
}

type Listening = Parameters<pg.Pool["connect"]>[0];

/** Connects for the library to listen, and tries again until there is a connection. */
function listensAgain(pool: pg.Pool): (call: Listening) => void {
  const open = pool.connect.bind(pool);
  const listen = (call: Listening): void => {
    if (pool.ending) return; // nobody listens any more
    open((error, client, release) => {
      if (error) {
        setTimeout(listen, listenAgainAfter, call).unref();
        return;
      }
      let isReleased = false;
      // The library releases it twice if it breaks while the worker stops.
      const once: typeof release = (destroy) => {
        if (!isReleased) release(destroy);
        isReleased = true;
      };
      call(undefined, client, once);
    });
  };
  return listen;
}
