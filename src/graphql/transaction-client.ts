/**
 * The database client that PostGraphile gets: it runs the statements that PostGraphile has planned in the request's
 * transaction. It cannot begin or end one, and it limits the time of the statements and the number of prepared names.
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

/**
 * @param timeMs  period after the first statement in which others may start, in milliseconds
 * @param isNamed whether its statements stay prepared
 */
export function clientOf(transaction: RequestTransaction, timeMs: number, isNamed = true): LimitedClient {
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
    async query({ text, values, arrayMode, name }) {
      const config = { text, ...(arrayMode && { rowMode: "array" }), ...(isNamed && nameOf(name)) };
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

/** Names of statements that are prepared. */
const prepared = new Set<string>();

/** Per connection, which keeps a prepared statement until it closes. Clients can send any number of documents. */
const maxPrepared = 200;

/** The first statements get a name; the others are planned each time. @param hash of the statement */
function nameOf(hash: string | undefined): { name?: string } {
  if (hash === undefined || (!prepared.has(hash) && prepared.size >= maxPrepared)) return {};
  prepared.add(hash);
  return { name: `graphql_${hash}`.slice(0, 63) }; // PostgreSQL's names are at most 63 bytes
}
