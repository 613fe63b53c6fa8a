/**
 * What became of a transaction whose connection was lost while it committed. The server knows: it is asked on another
 * connection, for as long as a restart or a failover may take.
 * Next hop: `sql/session/transaction_outcome.sql`.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { acquire, type Lease } from "./acquire.ts";
import { leavesDoubt, outcomeUnknown } from "./errors.ts";
import { connectionError } from "./pools.ts";
import { batchWrites } from "./send-together.ts";
import { place } from "./transaction-statements.ts";

/** By what a transaction is found again. */
export interface TransactionMark {
  /** pg_current_xact_id(). */
  transaction: string;
  /** svc.server_incarnation(). */
  server: string;
  /** Place in the write-ahead log just before COMMIT; null when the server did not get to say it. */
  place: string | null;
}

export type Outcome = "committed" | "rolled back" | "unknown";

/** In milliseconds: for how long a server that is away, or that still commits, is asked. docs/reference/limits.md. */
export const asksFor = 10_000;
/** In milliseconds: between two tries, at first and at most. */
const pauses = { first: 20, longest: 500 };

const question = { name: "svc_transaction_outcome", text: "select svc.transaction_outcome($1, $2, $3) as it" };

/** @param pool of the login that ran the transaction. Never throws: where nobody can be asked, the outcome is unknown */
async function askOutcome(pool: pg.Pool, mark: TransactionMark): Promise<Outcome> {
  const deadline = performance.now() + asksFor;
  for (let pause = pauses.first; ; pause = Math.min(2 * pause, pauses.longest)) {
    const answer = await askOnce(pool, mark);
    if (answer === "committed") return "committed";
    if (answer === "aborted") return "rolled back";
    // What is neither is in progress still, a server that is starting, or none.
    if (answer === null || pool.ending || performance.now() > deadline) return "unknown";
    await sleep(pause);
  }
}

/** @returns the server's answer; undefined when none was to be had */
async function askOnce(pool: pg.Pool, { transaction, server, place }: TransactionMark) {
  let lease: Lease | undefined;
  try {
    lease = await acquire(pool);
    const { rows } = await lease.client.query<{ it: string | null }>(question, [transaction, server, place]);
    lease.release();
    return rows[0]?.it;
  } catch {
    lease?.release(true);
    return undefined;
  }
}

/**
 * Commits. When the connection is lost meanwhile, the server is asked by another one what became of it.
 *
 * @param mark  of the transaction, if the server has told it
 * @param leave sends COMMIT and gives the connection back
 * @returns the command tag of COMMIT, also when it was found out afterwards
 * @throws the server's reason; SvcError OUTCOME_UNKNOWN when nobody can say whether the writes last
 */
export async function commitWrites(
  client: pg.ClientBase,
  pool: pg.Pool,
  mark: Omit<TransactionMark, "place"> | undefined,
  leave: () => Promise<string>,
): Promise<string> {
  let lastPlace: string | null = null;
  let reason: unknown;
  if (mark) {
    batchWrites(client);
    client.query<{ place: string }>(place).then(
      ({ rows }) => {
        lastPlace = rows[0]?.place ?? null;
      },
      (error) => {
        reason = error; // the server ended the connection here, and COMMIT only found it closed
      },
    );
  }
  try {
    return await leave();
  } catch (error) {
    reason = connectionError(client) ?? reason ?? error;
    if (!leavesDoubt(error) || !leavesDoubt(reason)) throw reason;
  }
  const outcome = mark ? await askOutcome(pool, { ...mark, place: lastPlace }) : "unknown";
  if (outcome === "committed") return "COMMIT";
  throw outcome === "unknown" ? outcomeUnknown(reason) : reason;
}
