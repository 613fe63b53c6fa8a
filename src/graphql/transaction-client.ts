/**
 * The database client that PostGraphile gets: it runs the statements that PostGraphile has planned in the request's
 * transaction. It cannot begin or end one, and it limits the time of the statements.
 * Next hop: `src/postgres/transaction.ts`.
 */
import type { PgClient } from "@dataplan/pg";
import { SvcError } from "../kit/svc-error.ts";
import type { RequestTransaction } from "../postgres/transaction.ts";

interface LimitedClient extends PgClient {
  /** Sends another statement within the same limits. */
  limited<T>(send: () => Promise<T>): Promise<T>;
}

/** Statements of a request sent at once. Later ones can still be cancelled. */
const together = 4;

/** @param timeMs period after the first statement in which others may start, in milliseconds */
export function clientOf(transaction: RequestTransaction, timeMs: number): LimitedClient {
  let deadline: number | undefined;
  const underWay = new Set<Promise<unknown>>();
  async function limited<T>(send: () => Promise<T>): Promise<T> {
    while (underWay.size >= together) await Promise.race(underWay).catch(() => {});
    deadline ??= performance.now() + timeMs;
    if (performance.now() > deadline) throw tooLong();
    const running = send();
    underWay.add(running);
    try {
      return await running;
    } finally {
      underWay.delete(running);
    }
  }
  return {
    limited,
    async query({ text, values, arrayMode }) {
      const config = { text, isKept: true, ...(arrayMode && { rowMode: "array" }) };
      const { rows, rowCount } = await limited(() => transaction.query(config, values));
      return { rows, rowCount };
    },
    withTransaction(run) {
      return run(this);
    },
  };
}

const tooLong = () =>
  new SvcError("TIMEOUT", undefined, { hint: "The statements of one request took too long together. Ask for less." });
