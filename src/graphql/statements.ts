/**
 * PostGraphile's client for the request's transaction: it cannot begin or end one, and its statements are limited in
 * time and in number of prepared names.
 * Next hop: `src/postgres/transaction.ts`.
 */
import type { PgClient } from "@dataplan/pg";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

/** Statements of a request sent at once. Later ones can still be cancelled. */
const together = 4;

/** @param timeMs period after the first statement in which others may start, in milliseconds */
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
 * Decides which statements are prepared. A connection keeps prepared statements until it closes, and clients can send
 * any number of documents. So only the first ones get a name; the others are planned each time.
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
    return { name: `graphql_${name}`.slice(0, 63) }; // from a hash; PostgreSQL's names are at most 63 bytes
  }
}

const preparedNames = new PreparedNames();
