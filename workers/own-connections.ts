/**
 * Checks the connections with which a worker runs jobs. They can fail alone, while the direct connection of the queue works:
 * a pooler is down, a password was changed, the server has no connection left. Every due job would then fail at once, and
 * use up its attempts.
 *
 * After a failure of a job the worker tries its connections. While they do not work it takes no jobs, and the jobs that it
 * runs return to the queue without using up an attempt. It logs one line at the beginning and one at the end.
 * Next hop: `sql/jobs/postpone_job.sql`; `queue-pool.ts` asks before each claim.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { oneAtATime } from "../src/kit/one-at-a-time.ts";
import type { Pools } from "../src/postgres/pools.ts";

/** In milliseconds: the first pause between two attempts to connect; doubled each time. */
const firstRetryAfter = 250;
const longestRetryAfter = 2_000;

export interface OwnConnectionsOptions {
  /** The pools that jobs use. */
  pools: Pick<Pools, "request" | "system">;
  log: Logger;
  /** Called when the worker takes no jobs any more, and when it takes jobs again. */
  onChange?(work: boolean): void;
}

export class OwnConnections {
  readonly #pools: OwnConnectionsOptions["pools"];
  readonly #log: Logger;
  readonly #onChange: OwnConnectionsOptions["onChange"];
  readonly #check = oneAtATime(() => this.#try());
  #failedAt: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor({ pools, log, onChange }: OwnConnectionsOptions) {
    this.#pools = pools;
    this.#log = log;
    this.#onChange = onChange;
  }

  /** Whether the worker may take jobs, as far as it knows. */
  get seemToWork(): boolean {
    return this.#failedAt === undefined;
  }

  /** Tries them, for all that ask meanwhile. While they are known not to work it answers at once. */
  async work(): Promise<boolean> {
    if (this.#closed) return true;
    if (!this.seemToWork) return false;
    return this.#check();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  async #try(retryAfter = firstRetryAfter): Promise<boolean> {
    const failure = await this.#failure();
    if (this.#closed) return true;
    if (failure && this.seemToWork) {
      this.#failedAt = performance.now();
      this.#log.error(failure, "this worker cannot connect to PostgreSQL to run jobs; it takes none until it can");
      this.#onChange?.(false);
    } else if (!failure && this.#failedAt !== undefined) {
      const seconds = Math.round((performance.now() - this.#failedAt) / 1000);
      this.#failedAt = undefined;
      this.#log.info({ seconds }, "this worker can connect to PostgreSQL again; it takes jobs");
      this.#onChange?.(true);
    }
    if (failure) {
      const next = Math.min(2 * retryAfter, longestRetryAfter);
      this.#timer = setTimeout(() => void this.#try(next), retryAfter);
    }
    return !failure;
  }

  /** The first pool that does not work, and the reason. */
  async #failure(): Promise<{ pool: string; reason: string } | undefined> {
    for (const name of ["request", "system"] as const) {
      const pool = this.#pools[name];
      if (isLent(pool)) continue;
      try {
        await pool.query("select");
      } catch (error) {
        return { pool: name, reason: String(error) };
      }
    }
    return undefined;
  }
}

/** Whether all connections are in use. They were opened, and a wait for one of them would tell nothing. */
const isLent = ({ totalCount, idleCount, options }: pg.Pool) => idleCount === 0 && totalCount >= options.max;
