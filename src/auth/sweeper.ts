/**
 * Removes expired sessions and one-time values about once an hour. Every process tries; the database lets one at a time
 * do the work.
 * Next hop: `sql/auth/sweep.sql`.
 */
import type pg from "pg";
import type { Logger } from "pino";
import { askAuth } from "./ask-auth.ts";

/** Rows of each kind in one transaction. */
const batch = 1_000;
/** In milliseconds. */
const minute = 60_000;

export class Sweeper {
  readonly #pool: pg.Pool;
  readonly #log: Logger;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #closed = false;
  /** Removes what a plugin leaves. (Default: nothing) */
  also: (() => Promise<unknown>) | undefined;

  constructor(pool: pg.Pool, log: Logger) {
    this.#pool = pool;
    this.#log = log;
  }

  /** Starts at a random time within a minute, so that processes that start together do not all sweep at once. */
  start(): void {
    this.#next(Math.random() * minute);
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#sweeping;
  }

  /** Removes everything that has expired. */
  async sweep(): Promise<void> {
    for (let removed = batch; removed === batch && !this.#closed; ) {
      const [row] = await askAuth<{ removed: number }>(this.#pool, "auth.sweep($1) as removed", [batch]);
      removed = row?.removed ?? 0;
    }
    await this.also?.();
  }

  #next(wait: number): void {
    this.#timer = setTimeout(() => {
      this.#sweeping = this.sweep()
        .catch((err: unknown) => this.#log.warn({ err }, "expired sessions could not be removed; trying again later"))
        .finally(() => this.#closed || this.#next((45 + 30 * Math.random()) * minute));
    }, wait);
    this.#timer.unref();
  }
}
