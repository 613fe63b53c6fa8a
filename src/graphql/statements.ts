/**
 * How PostGraphile reaches the request's transaction: it can neither begin nor end one, and what it asks is bounded in time
 * and in what it leaves behind.
 * Next hop: `src/postgres/transaction.ts`.
 */
import type { PgClient } from "@dataplan/pg";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

/** Statements of a request that are sent at once: what comes behind them can still be called off. */
const together = 4;

/** @param timeMs for how long statements are begun after the first, in milliseconds */
export function clientOf(transaction: RequestTransaction, timeMs: number): PgClient {
  let deadline: number | undefined;
  const underWay = new Set<Promise<unknown>>();
  return {
    async query({ text, values, arrayMode, name }) {
      while (underWay.size >= together) await Promise.race(underWay).catch(() => {});
      deadline ??= performance.now() + timeMs;
      if (performance.now() > deadline) throw tooLong();
      const config = { text, ...(arrayMode && { rowMode: "array" }), ...preparedNames.of(name) };
      const running = transaction.query(config, values);
      underWay.add(running);
      try {
        const { rows, rowCount } = await running;
        return { rows, rowCount };
      } finally {
        underWay.delete(running);
      }
    },
    withTransaction(run) {
      return run(this);
    },
  };
}

const tooLong = () =>
  new SvcError("TIMEOUT", undefined, { hint: "The statements of one request took too long together. Ask for less." });

/**
 * Which statements are prepared. A connection keeps what it has prepared until it closes, and clients can send any number
 * of documents: only the first statements get a name, the others are planned each time.
 */
class PreparedNames {
  readonly #names = new Set<string>();
  /** Per connection. */
  readonly #most = 200;

  /** @returns what to add to a statement's configuration */
  of(name: string | undefined): { name?: string } {
    if (name === undefined) return {};
    if (!this.#names.has(name)) {
      if (this.#names.size >= this.#most) return {};
      this.#names.add(name);
    }
    return { name: `graphql_${name}`.slice(0, 63) }; // of a hash; PostgreSQL takes no more
  }
}

const preparedNames = new PreparedNames();
